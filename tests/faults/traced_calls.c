/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before the MPI library (LD_PRELOAD): writes down which calls of MPI-IO a program makes, and
 * with what. EFFIO_TRACE=FILE: rank R of MPI_COMM_WORLD writes FILE.R, a line for each call:
 *
 *   NAME open RDWR|CREATE ranks=2 info=KEY=VALUE;…
 *   NAME view disp=D etype=8 size=S extent=E first=F native info=…   (bytes; of the file type)
 *   NAME info KEY=VALUE;…
 *   NAME write_all COUNT 8                                           (bytes of the datatype)
 *   NAME sync, NAME close
 *
 * NAME is the last part of the file's path; info is "-" for MPI_INFO_NULL.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, LONGEST = 4096 };

static struct {
    MPI_File file;
    char name[256];
    int open;
} files[MOST_FILES];
static FILE *trace;

static void say(const char *name, const char *format, ...) {
    if (!trace) {
        const char *path = getenv("EFFIO_TRACE");
        if (!path) return;
        int rank = 0;
        char own[LONGEST];
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(own, sizeof own, "%s.%d", path, rank);
        trace = fopen(own, "w");
        if (!trace) return;
        setvbuf(trace, NULL, _IOLBF, 0);
    }
    va_list values;
    va_start(values, format);
    fprintf(trace, "%s ", name);
    vfprintf(trace, format, values);
    fputc('\n', trace);
    va_end(values);
}

static const char *name_of(MPI_File file) {
    for (int i = 0; i < MOST_FILES; ++i) {
        if (files[i].open && files[i].file == file) return files[i].name;
    }
    return "?";
}

static const char *text_of(MPI_Info info, char *out) {
    int keys = 0;
    strcpy(out, "-");
    if (info == MPI_INFO_NULL) return out;
    out[0] = 0;
    PMPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; ++i) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get_nthkey(info, i, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        size_t used = strlen(out);
        snprintf(out + used, LONGEST - used, "%s%s=%s", i ? ";" : "", key, found ? value : "");
    }
    return out;
}

int MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file) {
    static const struct {
        int bit;
        const char *name;
    } bits[] = {{MPI_MODE_RDONLY, "RDONLY"}, {MPI_MODE_WRONLY, "WRONLY"},
                {MPI_MODE_RDWR, "RDWR"},     {MPI_MODE_CREATE, "CREATE"},
                {MPI_MODE_EXCL, "EXCL"},     {MPI_MODE_DELETE_ON_CLOSE, "DELETE_ON_CLOSE"},
                {MPI_MODE_UNIQUE_OPEN, "UNIQUE_OPEN"}};
    char mode[256] = "", hints[LONGEST];
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i) {
        if (!(amode & bits[i].bit)) continue;
        if (mode[0]) strcat(mode, "|");
        strcat(mode, bits[i].name);
    }
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    say(name, "open %s ranks=%d info=%s", mode, ranks, text_of(info, hints));
    const int code = PMPI_File_open(comm, path, amode, info, file);
    for (int i = 0; code == MPI_SUCCESS && i < MOST_FILES; ++i) {
        if (files[i].open) continue;
        files[i].open = 1;
        files[i].file = *file;
        snprintf(files[i].name, sizeof files[i].name, "%s", name);
        break;
    }
    return code;
}

int MPI_File_close(MPI_File *file) {
    say(name_of(*file), "close");
    for (int i = 0; i < MOST_FILES; ++i) {
        if (files[i].open && files[i].file == *file) files[i].open = 0;
    }
    return PMPI_File_close(file);
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, const char *representation, MPI_Info info) {
    int etype_size = 0, size = 0;
    MPI_Aint lower = 0, extent = 0, first = 0, true_extent = 0;
    char hints[LONGEST];
    PMPI_Type_size(etype, &etype_size);
    PMPI_Type_size(filetype, &size);
    PMPI_Type_get_extent(filetype, &lower, &extent);
    PMPI_Type_get_true_extent(filetype, &first, &true_extent);
    say(name_of(file), "view disp=%lld etype=%d size=%d extent=%lld first=%lld %s info=%s",
        (long long)displacement, etype_size, size, (long long)extent, (long long)first,
        representation, text_of(info, hints));
    return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}

int MPI_File_set_info(MPI_File file, MPI_Info info) {
    char hints[LONGEST];
    say(name_of(file), "info %s", text_of(info, hints));
    return PMPI_File_set_info(file, info);
}

int MPI_File_sync(MPI_File file) {
    say(name_of(file), "sync");
    return PMPI_File_sync(file);
}

static void say_transfer(const char *call, MPI_File file, int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    say(name_of(file), "%s %d %d", call, count, size);
}

#define TRANSFER(call, buffer_type)                                                       \
    int MPI_File_##call(MPI_File file, buffer_type buffer, int count, MPI_Datatype type,  \
                        MPI_Status *status) {                                             \
        say_transfer(#call, file, count, type);                                           \
        return PMPI_File_##call(file, buffer, count, type, status);                       \
    }
TRANSFER(write, const void *)
TRANSFER(write_all, const void *)
TRANSFER(write_shared, const void *)
TRANSFER(write_ordered, const void *)
TRANSFER(read, void *)
TRANSFER(read_all, void *)
TRANSFER(read_shared, void *)
TRANSFER(read_ordered, void *)

#define TRANSFER_AT(call, buffer_type)                                                    \
    int MPI_File_##call(MPI_File file, MPI_Offset offset, buffer_type buffer, int count,  \
                        MPI_Datatype type, MPI_Status *status) {                          \
        say_transfer(#call, file, count, type);                                           \
        return PMPI_File_##call(file, offset, buffer, count, type, status);               \
    }
TRANSFER_AT(write_at, const void *)
TRANSFER_AT(write_at_all, const void *)
TRANSFER_AT(read_at, void *)
TRANSFER_AT(read_at_all, void *)

/* The first halves of collective calls. */
#define BEGIN(call, buffer_type)                                                          \
    int MPI_File_##call(MPI_File file, buffer_type buffer, int count, MPI_Datatype type) { \
        say_transfer(#call, file, count, type);                                           \
        return PMPI_File_##call(file, buffer, count, type);                               \
    }
BEGIN(write_all_begin, const void *)
BEGIN(write_ordered_begin, const void *)
BEGIN(read_all_begin, void *)
BEGIN(read_ordered_begin, void *)

int MPI_File_set_atomicity(MPI_File file, int flag) {
    say(name_of(file), "atomicity %d", flag);
    return PMPI_File_set_atomicity(file, flag);
}
