// SPDX-License-Identifier: BSD-3-Clause
// Loaded before a program: the time of day jumps by EFFIO_STEP seconds, EFFIO_STEP_AFTER seconds
// after the program's first look at it, or from when the file EFFIO_STEP_FILE exists. Other clocks
// continue.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int read_clock(clockid_t clock, struct timespec* t) {
    static int (*real)(clockid_t, struct timespec*);
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, t);
}

static double number(const char* name) {
    const char* text = getenv(name);
    return text == NULL ? 0 : atof(text);
}

static time_t step(void) {
    static double first = -1;
    struct timespec t;
    read_clock(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (first < 0) first = now;
    const char* file = getenv("EFFIO_STEP_FILE");
    if (file != NULL) return access(file, F_OK) == 0 ? (time_t)number("EFFIO_STEP") : 0;
    return now - first < number("EFFIO_STEP_AFTER") ? 0 : (time_t)number("EFFIO_STEP");
}

int clock_gettime(clockid_t clock, struct timespec* t) {
    const int code = read_clock(clock, t);
    const int of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (code == 0 && of_day) t->tv_sec += step();
    return code;
}

int gettimeofday(struct timeval* restrict t, void* restrict zone) {
    (void)zone;
    struct timespec now;
    const int code = clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return code;
}

time_t time(time_t* t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t != NULL) *t = now.tv_sec;
    return now.tv_sec;
}
