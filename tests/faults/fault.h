/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which calls of a program go wrong, and how (EFFIO_FAULT; faulty_calls.c describes it). For the
 * libraries that are loaded before a program. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A program of the same names keeps its own. */
#pragma GCC visibility push(hidden)

enum kind { NONE, ERROR, SHORT, LOST, STALE, SWAP, FLIP, BIT, COUNT, HANG, LATE, STEP, INTERRUPT, HELD };

struct fault {
    char call[16];
    enum kind kind;
    int error;
    off_t offset;
    double seconds;
    char file[256], in[1024], until[1024];
    int rank;
    long nths[64], from;
    size_t nth_count;
};

extern struct fault fault;

/* Whether this call goes wrong. `begin` and `bytes` say what it moves; only a flip asks for it. */
int strikes(const char* call, int fd, off_t begin, size_t bytes);

/* The same of a call with a path, which begins at `directory` if it is not absolute. */
int strikes_name(const char* call, int directory, const char* path);

/* Whether `call` on this rank is one that may go wrong, on any file. */
int is_meant(const char* call);

/* Whether the fault is for this file. */
int is_such_a_file(const char* path, size_t length);

/* The path behind a descriptor; its length. */
size_t path_of(int fd, char* path, size_t size);

/* A line of the log: what a call moved, where, and of which file. */
void note(const char* what, off_t begin, size_t bytes, const char* path);

#pragma GCC visibility pop
