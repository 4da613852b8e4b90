/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before MPICH (LD_PRELOAD): ranks that wait yield the processor. MPICH over UCX polls without
 * yielding, so where there are more ranks than processors each of them spends its turns on waiting
 * for one that has none: three ranks on two busy processors took 47 s of processor time for a run
 * that takes 2 s this way. Open MPI has a setting for it (mpi_yield_when_idle).
 *
 * Without UCX nothing changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

/* Polls that found nothing before the first yield: a message within a node takes fewer. */
enum { PATIENCE = 100 };

typedef unsigned progress_call(void *);

static progress_call *found(void) {
    progress_call *call = NULL;
    /* As POSIX has it: ISO C knows no way from an object's address to a function's. */
    *(void **)&call = dlsym(RTLD_NEXT, "ucp_worker_progress");
    /* Where the MPI library loads UCX by itself, UCX is not among what comes next. */
    void *ucx = call ? NULL : dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (ucx) *(void **)&call = dlsym(ucx, "ucp_worker_progress");
    if (!call) abort();
    return call;
}

unsigned ucp_worker_progress(void *worker) {
    static _Thread_local progress_call *real;
    static _Thread_local unsigned idle;
    if (!real) real = found();
    const unsigned events = real(worker);
    if (events) {
        idle = 0;
    } else if (++idle > PATIENCE) {
        sched_yield();
    }
    return events;
}
