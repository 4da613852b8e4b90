/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before a program (LD_PRELOAD): flips a bit in one of the messages of bytes that it sends.
 *
 *   EFFIO_MESSAGE_FAULT=RANK,NTH,BYTE   the NTH message (from 1) of this rank of MPI_COMM_WORLD;
 * the byte is BYTE modulo the length. NTH 0: only count them EFFIO_FAULT_LOG=FILE gets a line for
 * the message that was changed, or at the end their number.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world_rank.h"

static int fault_rank = -1;
static long nth, byte, sent;

__attribute__((constructor)) static void read_fault(void) {
    const char* text = getenv("EFFIO_MESSAGE_FAULT");
    if (text && sscanf(text, "%d,%ld,%ld", &fault_rank, &nth, &byte) != 3) _exit(127);
}

__attribute__((format(printf, 1, 2))) static void note(const char* format, ...) {
    const char* log = getenv("EFFIO_FAULT_LOG");
    if (!log) return;
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    va_list values;
    va_start(values, format);
    vdprintf(fd, format, values);
    va_end(values);
    close(fd);
}

/* The message to send in its place: `data`, or a copy with a wrong bit, which stays forever
 * because the call may only begin to send it. */
static const void* message(const void* data, size_t bytes, MPI_Datatype type, int to) {
    if (type != MPI_BYTE || bytes == 0 || to == MPI_PROC_NULL || my_rank() != fault_rank)
        return data;
    if (++sent != nth) return data;
    note("message rank %d: %zu bytes at 0 of message\n", fault_rank, bytes);
    unsigned char* copy = malloc(bytes);
    memcpy(copy, data, bytes);
    copy[(size_t)byte % bytes] ^= 0x10;
    return copy;
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* into,
                 int most, MPI_Datatype other, int from, int other_tag, MPI_Comm comm,
                 MPI_Status* status) {
    return PMPI_Sendrecv(message(data, (size_t)count, type, to), count, type, to, tag, into, most,
                         other, from, other_tag, comm, status);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    return PMPI_Send(message(data, (size_t)count, type, to), count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    return PMPI_Isend(message(data, (size_t)count, type, to), count, type, to, tag, comm, request);
}

/* The message to the first rank that gets one. */
int MPI_Alltoallv(const void* data, const int* counts, const int* starts, MPI_Datatype type,
                  void* into, const int* most, const int* places, MPI_Datatype other,
                  MPI_Comm comm) {
    int ranks, end = 0, to = -1;
    MPI_Comm_size(comm, &ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        if (counts[rank] > 0 && to < 0) to = rank;
        if (counts[rank] > 0 && starts[rank] + counts[rank] > end)
            end = starts[rank] + counts[rank];
    }
    if (to < 0) return PMPI_Alltoallv(data, counts, starts, type, into, most, places, other, comm);
    const unsigned char* first = (const unsigned char*)data + starts[to];
    const unsigned char* changed = message(first, (size_t)counts[to], type, to);
    unsigned char* all = NULL;
    if (changed != first) {
        all = malloc((size_t)end);
        memcpy(all, data, (size_t)end);
        memcpy(all + starts[to], changed, (size_t)counts[to]);
    }
    const int code =
        PMPI_Alltoallv(all ? all : data, counts, starts, type, into, most, places, other, comm);
    free(all);
    return code;
}

int MPI_Finalize(void) {
    if (nth == 0 && my_rank() == fault_rank) note("%ld messages\n", sent);
    return PMPI_Finalize();
}
