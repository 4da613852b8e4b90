/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before the MPI library (LD_PRELOAD): ranks that wait yield the processor, and sleep once they
 * have waited for long. MPI libraries wait by polling. Three ranks of MPICH on two busy processors took
 * 47 s of processor time for a run that takes 2 s this way, and a run whose ranks wait for one that hangs
 * takes as much processor time as it lasts: many tests are about nothing else, and run side by side.
 *
 * A wait of up to a millisecond is as before, so messages are as quick; a longer one ends at most a
 * millisecond late. Where neither Open MPI nor MPICH over UCX is found, nothing changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE = 100,    /* polls that found nothing before the first yield: a message takes fewer */
    WAITS = 1000,      /* polls that found nothing before the first sleep */
    SHORTEST = 100000, /* of a sleep, in ns; each that follows is longer by a hundredth */
    LONGEST = 1000000
};

static _Thread_local unsigned idle; /* polls that found nothing, one after the other */

/* RESTING_WAITS=off: they only yield, for what measures how long messages take. */
static bool rests(void) {
    static _Thread_local int known = -1;
    if (known < 0) {
        const char *said = getenv("RESTING_WAITS");
        known = !said || strcmp(said, "off") != 0;
    }
    return known;
}

static void rest(void) {
    if (idle <= WAITS || !rests()) return;
    const unsigned sleeps = idle - WAITS;
    const long length = SHORTEST + (long)sleeps * (SHORTEST / 100);
    const struct timespec time = {0, length < LONGEST ? length : LONGEST};
    nanosleep(&time, NULL);
}

/* As POSIX has it: ISO C knows no way from an object's address to a function's. */
static void find(void *call, const char *library, const char *name) {
    *(void **)call = dlsym(RTLD_NEXT, name);
    if (*(void **)call) return;
    /* Where a program loads MPI by itself, or MPI loads UCX, it is not among what comes next. */
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded) *(void **)call = dlsym(loaded, name);
    if (!*(void **)call) abort();
}

/* MPICH over UCX never yields. */
unsigned ucp_worker_progress(void *worker) {
    static _Thread_local unsigned (*real)(void *);
    if (!real) find(&real, "libucp.so.0", "ucp_worker_progress");
    const unsigned events = real(worker);
    if (events) {
        idle = 0;
    } else if (++idle > PATIENCE) {
        sched_yield();
        rest();
    }
    return events;
}

/* Open MPI does not say whether it found something, but yields if it did not, and was asked to. */
static _Thread_local bool yielded;

int sched_yield(void) {
    yielded = true;
    return (int)syscall(SYS_sched_yield);
}

void opal_progress(void) {
    static _Thread_local void (*real)(void);
    static _Thread_local bool (*yield_when_idle)(bool);
    if (!real) {
        find(&real, "libopen-pal.so.40", "opal_progress");
        find(&yield_when_idle, "libopen-pal.so.40", "opal_progress_set_yield_when_idle");
    }
    yield_when_idle(true);
    yielded = false;
    real();
    if (!yielded) {
        idle = 0;
        return;
    }
    ++idle;
    rest();
}
