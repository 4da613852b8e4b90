/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads EFFIO_FAULT and decides for each call whether it goes wrong; writes the log of those that
 * do. */
#define _GNU_SOURCE
#include "fault.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "world_rank.h"

struct fault fault = {.rank = -1};
static long calls;

static const char* const plain_words[] = {
    [SHORT] = "short", [LOST] = "lost", [STALE] = "stale",         [SWAP] = "swap",
    [COUNT] = "count", [HANG] = "hang", [INTERRUPT] = "interrupt",
};

static enum kind kind_of(const char* word) {
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; ++i)
        if (plain_words[i] && !strcmp(word, plain_words[i])) return (enum kind)i;
    return NONE;
}

/* "3+8+11" */
static int read_nths(const char* list) {
    char* end;
    while (fault.nth_count < sizeof fault.nths / sizeof *fault.nths) {
        fault.nths[fault.nth_count++] = strtol(list, &end, 10);
        if (end == list) return 0;
        if (*end != '+') return *end == 0;
        list = end + 1;
    }
    return 0;
}

__attribute__((constructor)) static void read_fault(void) {
    const char* text = getenv("EFFIO_FAULT");
    if (!text) return;
    char *words = strdup(text), *rest = words, *word;
    while ((word = strsep(&rest, ","))) {
        if (!fault.call[0]) {
            snprintf(fault.call, sizeof fault.call, "%s", word);
        } else if (sscanf(word, "error=%d", &fault.error) == 1) {
            fault.kind = ERROR;
        } else if (kind_of(word) != NONE) {
            fault.kind = kind_of(word);
        } else if (sscanf(word, "flip=%ld", &fault.offset) == 1) {
            fault.kind = FLIP;
        } else if (sscanf(word, "bit=%ld", &fault.offset) == 1) {
            fault.kind = BIT;
        } else if (sscanf(word, "late=%lf", &fault.seconds) == 1) {
            fault.kind = LATE;
        } else if (sscanf(word, "step=%lf", &fault.seconds) == 1) {
            fault.kind = STEP;
        } else if (sscanf(word, "until=%1023s", fault.until) == 1) {
            fault.kind = HELD;
        } else if (sscanf(word, "file=%255s", fault.file) == 1 ||
                   sscanf(word, "in=%1023s", fault.in) == 1 ||
                   sscanf(word, "rank=%d", &fault.rank) == 1 ||
                   (!strncmp(word, "nth=", 4) && read_nths(word + 4)) ||
                   sscanf(word, "from=%ld", &fault.from) == 1) {
            continue;
        } else {
            fprintf(stderr, "EFFIO_FAULT: what is %s?\n", word);
            _exit(127);
        }
    }
    free(words);
}

void note(const char* what, off_t begin, size_t bytes, const char* path) {
    const char* log = getenv("EFFIO_FAULT_LOG");
    if (!log) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    dprintf(fd, "%s rank %d: %zu bytes at %lld of %s\n", what, my_rank(), bytes, (long long)begin,
            path);
    close(fd);
}

int is_such_a_file(const char* path, size_t length) {
    const size_t tail = strlen(fault.file), head = strlen(fault.in);
    return length >= tail && memcmp(path + length - tail, fault.file, tail) == 0 &&
           length >= head && memcmp(path, fault.in, head) == 0;
}

size_t path_of(int fd, char* path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, size - 1);
    path[n < 0 ? 0 : n] = 0;
    return n < 0 ? 0 : (size_t)n;
}

/* Returns some time after a thread of the program took the signal. */
static int interrupt(void) {
    sigset_t waiting;
    kill(getpid(), SIGINT);
    do usleep(300000);
    while (sigpending(&waiting) == 0 && sigismember(&waiting, SIGINT) == 1);
    return 0;
}

/* Whether this call, one of those that are meant, is the one that goes wrong. */
static int is_its_turn(const char* call, off_t begin, size_t bytes, const char* path) {
    long n = __sync_add_and_fetch(&calls, 1);
    size_t i = 0;
    while (i < fault.nth_count && n != fault.nths[i]) ++i;
    if (fault.nth_count > 0 && i == fault.nth_count) return 0;
    if (n < fault.from) return 0;
    note(call, begin, bytes, path);
    if (fault.kind == COUNT) return 0;
    while (fault.kind == HANG) sleep(1);
    if (fault.kind == INTERRUPT) return interrupt();
    if (fault.kind == HELD) {
        while (access(fault.until, F_OK)) usleep(5000);
        return 0;
    }
    return 1;
}

int is_meant(const char* call) {
    return fault.kind != NONE && !strcmp(call, fault.call) &&
           (fault.rank < 0 || fault.rank == my_rank());
}

/* Without data there is no fault: an empty call, or a read behind the end of the file. */
static int moves_nothing(const char* call, int fd, off_t begin, size_t bytes) {
    struct stat info;
    if (!strcmp(call, "write")) return bytes == 0;
    if (strcmp(call, "read") != 0) return 0;
    return bytes == 0 ||
           (syscall(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= begin);
}

int strikes(const char* call, int fd, off_t begin, size_t bytes) {
    if (!is_meant(call)) return 0;
    char path[4096] = "";
    if (fd >= 0) {
        const size_t length = path_of(fd, path, sizeof path);
        if ((fault.file[0] || fault.in[0]) && !is_such_a_file(path, length)) return 0;
        if (moves_nothing(call, fd, begin, bytes)) return 0;
    }
    if (fault.kind == FLIP && (fault.offset < begin || fault.offset >= begin + (off_t)bytes))
        return 0;
    return is_its_turn(call, begin, bytes, path);
}

int strikes_name(const char* call, int directory, const char* path) {
    if (!path || !is_meant(call)) return 0;
    char whole[4096];
    size_t length = 0;
    if (path[0] != '/' && directory != AT_FDCWD) length = path_of(directory, whole, sizeof whole);
    snprintf(whole + length, sizeof whole - length, "%s%s", length ? "/" : "", path);
    return is_such_a_file(whole, strlen(whole)) && is_its_turn(call, 0, 0, whole);
}
