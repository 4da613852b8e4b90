/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before a program (LD_PRELOAD): counts the steps that ranks take together, and the memory
 * that the program itself asks for. EFFIO_COUNTS=FILE: at the end rank R of MPI_COMM_WORLD writes
 * FILE.R, a line for each number:
 *
 *   call NAME N     collective calls of MPI that this rank made, by their name
 *   sent N          messages that it sent
 *   gathered N      the most numbers that one call of MPI_Gather(v) or MPI_Allgather(v) brought it
 *   heap N          the most bytes that it held at a time through operator new, which is what C++
 *                   uses and MPI libraries, written in C, do not
 *   lists N         the same of pieces below 64 KiB: what grows with the ranks is not lost next to
 *                   buffers for data, which come and go
 *   resident N      the most bytes of memory that it had in all (VmHWM)
 *
 * What MPI calls inside itself is not counted: those calls begin with PMPI.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operator new and delete, as the compilers of this platform name them. */
enum { LARGE = 64 * 1024 };
struct account {
    atomic_long held, most;
};
static struct account heap, lists;

static void hold(struct account* account, long bytes) {
    const long now = atomic_fetch_add(&account->held, bytes) + bytes;
    long old = atomic_load(&account->most);
    while (now > old && !atomic_compare_exchange_weak(&account->most, &old, now)) {
    }
}

static void* noted(void* p) {
    if (!p) abort();
    const long bytes = (long)malloc_usable_size(p);
    hold(&heap, bytes);
    if (bytes < LARGE) hold(&lists, bytes);
    return p;
}

static void let_go(void* p) {
    if (!p) return;
    const long bytes = (long)malloc_usable_size(p);
    atomic_fetch_sub(&heap.held, bytes);
    if (bytes < LARGE) atomic_fetch_sub(&lists.held, bytes);
    free(p);
}

#define NEW(name)                                \
    void* name(size_t bytes) {                   \
        return noted(malloc(bytes ? bytes : 1)); \
    }
#define NEW_OR_NULL(name)                                        \
    void* name(size_t bytes, const void* no_throw) {             \
        return (void)no_throw, noted(malloc(bytes ? bytes : 1)); \
    }
#define NEW_ALIGNED(name)                                                                    \
    void* name(size_t bytes, size_t alignment) {                                             \
        return noted(aligned_alloc(alignment, (bytes + alignment) / alignment * alignment)); \
    }
#define DELETE(name)     \
    void name(void* p) { \
        let_go(p);       \
    }
#define DELETE_2(name)             \
    void name(void* p, size_t a) { \
        (void)a, let_go(p);        \
    }
#define DELETE_3(name)                       \
    void name(void* p, size_t a, size_t b) { \
        (void)a, (void)b, let_go(p);         \
    }
NEW(_Znwm)
NEW(_Znam)
NEW_OR_NULL(_ZnwmRKSt9nothrow_t)
NEW_OR_NULL(_ZnamRKSt9nothrow_t)
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE_2(_ZdlPvm)
DELETE_2(_ZdaPvm)
DELETE_2(_ZdlPvSt11align_val_t)
DELETE_2(_ZdaPvSt11align_val_t)
DELETE_3(_ZdlPvmSt11align_val_t)
DELETE_3(_ZdaPvmSt11align_val_t)

/* Collective calls. */
enum { MOST_NAMES = 64 };
static struct {
    const char* name;
    atomic_long calls;
} counts[MOST_NAMES];
static atomic_long sent, gathered;

static void count(const char* name) {
    for (int i = 0; i < MOST_NAMES; ++i) {
        if (!counts[i].name) counts[i].name = name;
        if (strcmp(counts[i].name, name) != 0) continue;
        atomic_fetch_add(&counts[i].calls, 1);
        return;
    }
    abort();
}

static void brought(MPI_Comm comm, int each) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    const long all = (long)size * each;
    if (all > atomic_load(&gathered)) atomic_store(&gathered, all);
}

#define COLLECTIVE(name, parameters, arguments) \
    int MPI_##name parameters {                 \
        count(#name);                           \
        return PMPI_##name arguments;           \
    }
COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COLLECTIVE(Reduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
           (s, r, n, t, op, root, c))
COLLECTIVE(Allreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
           (s, r, n, t, op, c))
COLLECTIVE(Scan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
           (s, r, n, t, op, c))
COLLECTIVE(Exscan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
           (s, r, n, t, op, c))
COLLECTIVE(Alltoallv,
           (const void* s, const int* sn, const int* sd, MPI_Datatype st, void* r, const int* rn,
            const int* rd, MPI_Datatype rt, MPI_Comm c),
           (s, sn, sd, st, r, rn, rd, rt, c))
COLLECTIVE(Iallreduce,
           (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* q),
           (s, r, n, t, op, c, q))
COLLECTIVE(Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q),
           (b, n, t, root, c, q))
COLLECTIVE(Ibarrier, (MPI_Comm c, MPI_Request* q), (c, q))
COLLECTIVE(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* n), (c, color, key, n))
COLLECTIVE(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* n),
           (c, type, key, i, n))
COLLECTIVE(Comm_dup, (MPI_Comm c, MPI_Comm* n), (c, n))
COLLECTIVE(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* n), (c, g, n))
COLLECTIVE(Comm_free, (MPI_Comm * c), (c))
COLLECTIVE(Cart_create,
           (MPI_Comm c, int n, const int d[], const int p[], int reorder, MPI_Comm* out),
           (c, n, d, p, reorder, out))

int MPI_Gather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
               MPI_Comm c) {
    int rank = 0;
    count("Gather");
    PMPI_Comm_rank(c, &rank);
    if (rank == root) brought(c, rn);
    return PMPI_Gather(s, sn, st, r, rn, rt, root, c);
}
int MPI_Gatherv(const void* s, int sn, MPI_Datatype st, void* r, const int rn[], const int d[],
                MPI_Datatype rt, int root, MPI_Comm c) {
    int rank = 0;
    count("Gatherv");
    PMPI_Comm_rank(c, &rank);
    if (rank == root) brought(c, 1);
    return PMPI_Gatherv(s, sn, st, r, rn, d, rt, root, c);
}
int MPI_Allgather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                  MPI_Comm c) {
    count("Allgather");
    brought(c, rn);
    return PMPI_Allgather(s, sn, st, r, rn, rt, c);
}

#define MESSAGE(name, parameters, arguments) \
    int MPI_##name parameters {              \
        atomic_fetch_add(&sent, 1);          \
        return PMPI_##name arguments;        \
    }
MESSAGE(Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
        (b, n, t, to, tag, c))
MESSAGE(Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q),
        (b, n, t, to, tag, c, q))
MESSAGE(Sendrecv,
        (const void* s, int sn, MPI_Datatype st, int to, int stag, void* r, int rn, MPI_Datatype rt,
         int from, int rtag, MPI_Comm c, MPI_Status* status),
        (s, sn, st, to, stag, r, rn, rt, from, rtag, c, status))

static long resident(void) {
    FILE* file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    }
    if (file) fclose(file);
    return kib * 1024;
}

static void write_counts(void) {
    const char* path = getenv("EFFIO_COUNTS");
    if (!path) return;
    int rank = 0;
    char own[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(own, sizeof own, "%s.%d", path, rank);
    FILE* out = fopen(own, "w");
    if (!out) return;
    for (int i = 0; i < MOST_NAMES && counts[i].name; ++i) {
        fprintf(out, "call %s %ld\n", counts[i].name, atomic_load(&counts[i].calls));
    }
    fprintf(out, "sent %ld\ngathered %ld\nheap %ld\nlists %ld\nresident %ld\n", atomic_load(&sent),
            atomic_load(&gathered), atomic_load(&heap.most), atomic_load(&lists.most), resident());
    fclose(out);
}

int MPI_Finalize(void) {
    write_counts();
    return PMPI_Finalize();
}
