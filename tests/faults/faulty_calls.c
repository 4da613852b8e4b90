/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loaded before libc (LD_PRELOAD): makes the calls of a program on its data files go wrong. MPI
 * libraries do their file I/O through these calls.
 *
 *   EFFIO_FAULT=CALL,FAULT[,file=TEXT][,in=DIR][,rank=R][,nth=N+N…|,from=N]
 *     CALL   write, read, sync, awrite or aread (POSIX asynchronous I/O; error only, reported at the
 *            completion), create (open with O_CREAT), stat, ordered (MPI_File_write_ordered),
 *            barrier (MPI_Barrier), finalize (MPI_Finalize) or clock (the time of day)
 *     FAULT  error=ERRNO   the call fails
 *            short         half of the bytes are moved, as the count says
 *            lost          half of the bytes are moved, the count claims all
 *            stale         none are moved, the count claims all: a file, or a buffer, keeps what it
 *                          had
 *            swap          two writes, this one and the process's next, each land in the other's
 *                          place
 *            flip=OFFSET   the byte there in the file is inverted on its way
 *            bit=N         of the N-th byte of the call, modulo its length, one bit is inverted
 *            count         nothing goes wrong; the calls are logged
 *            hang          the call does not return
 *            interrupt     the process gets SIGINT before the call, which continues
 *            until=FILE    the call begins when there is such a file
 *            late=SECONDS  a barrier is left so much after the others were free to go
 *            step=SECONDS  the time of day jumps by so much (clock)
 *     file   only files whose path ends like this (MPI libraries have files of like names)
 *     in     only files below this directory
 *     rank   only this rank of MPI_COMM_WORLD
 *     nth    only the N-th such call of a process (from 1), or a few of them
 *     from   all from the N-th on
 *   EFFIO_FAULT_LOG=FILE gets a line for each call that went wrong: what it moved, where, and of
 *   which file.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static off_t here(int fd) {
    return lseek(fd, 0, SEEK_CUR);
}

/* A write that waits for the next one, to change places with it. */
static struct {
    unsigned char* data;
    size_t bytes;
    off_t begin;
} waiting;

/* What the next write of the same length would put at `begin` goes to the other one's place. */
static ssize_t change_places(int fd, const void* data, size_t bytes, off_t begin) {
    REAL(pwrite);
    char path[4096];
    path_of(fd, path, sizeof path);
    note("with", begin, bytes, path);
    const ssize_t first = real(fd, waiting.data, bytes, begin);
    const ssize_t second = real(fd, data, bytes, waiting.begin);
    free(waiting.data);
    waiting.data = NULL;
    return first < 0 ? first : second;
}

static int changes_places(int fd, size_t bytes) {
    if (!waiting.data || waiting.bytes != bytes || !is_meant("write")) return 0;
    char path[4096];
    return is_such_a_file(path, path_of(fd, path, sizeof path));
}

/* One transfer that goes wrong. `at` < 0: at the file's own position. */
static ssize_t bad_transfer(int writing, int fd, void* data, size_t bytes, off_t at) {
    ssize_t n;
    off_t begin = at < 0 ? here(fd) : at;
    unsigned char* copy = NULL;
    if (fault.kind == ERROR) {
        errno = fault.error;
        return -1;
    }
    if (fault.kind == STALE) {
        if (at < 0) lseek(fd, begin + (off_t)bytes, SEEK_SET);
        return (ssize_t)bytes;
    }
    if (fault.kind == SWAP) {
        waiting.data = malloc(bytes + 1);
        memcpy(waiting.data, data, bytes);
        waiting.bytes = bytes;
        waiting.begin = begin;
        if (at < 0) lseek(fd, begin + (off_t)bytes, SEEK_SET);
        return (ssize_t)bytes;
    }
    /* A call that goes wrong as a whole but for one byte; where that byte is in the call. */
    const int whole = fault.kind == FLIP || fault.kind == BIT;
    const size_t spot = fault.kind == FLIP ? (size_t)(fault.offset - begin)
                        : bytes > 0        ? (size_t)fault.offset % bytes
                                           : 0;
    const unsigned char mask = fault.kind == FLIP ? 0xff : 0x10;
    size_t part = whole ? bytes : bytes / 2;
    if (writing) {
        copy = malloc(bytes + 1);
        memcpy(copy, data, bytes);
        if (whole && bytes > 0) copy[spot] ^= mask;
        REAL(pwrite);
        n = real(fd, copy, part, begin);
    } else {
        REAL(pread);
        n = real(fd, data, part, begin);
        const size_t hit = fault.kind == BIT && n > 0 ? spot % (size_t)n : spot;
        if (whole && n > 0 && hit < (size_t)n) ((unsigned char*)data)[hit] ^= mask;
    }
    free(copy);
    if (n >= 0 && fault.kind == LOST) n = (ssize_t)bytes;
    if (n > 0 && at < 0) lseek(fd, begin + n, SEEK_SET);
    return n;
}

static ssize_t bad_vector(int writing, int fd, const struct iovec* v, int count, off_t at) {
    size_t bytes = 0, done = 0;
    for (int i = 0; i < count; ++i) bytes += v[i].iov_len;
    unsigned char* flat = calloc(1, bytes + 1);
    for (int i = 0; writing && i < count; done += v[i++].iov_len)
        memcpy(flat + done, v[i].iov_base, v[i].iov_len);
    ssize_t n = bad_transfer(writing, fd, flat, bytes, at);
    int code = errno;
    done = 0;
    for (int i = 0; !writing && i < count && (ssize_t)done < n; done += v[i++].iov_len)
        memcpy(v[i].iov_base, flat + done, v[i].iov_len);
    free(flat);
    errno = code;
    return n;
}

static size_t bytes_of(const struct iovec* v, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += v[i].iov_len;
    return bytes;
}

ssize_t write(int fd, const void* data, size_t bytes) {
    REAL(write);
    if (fd >= 3 && changes_places(fd, bytes)) {
        const off_t begin = here(fd);
        const ssize_t n = change_places(fd, data, bytes, begin);
        if (n > 0) lseek(fd, begin + n, SEEK_SET);
        return n;
    }
    if (fault.kind == NONE || fd < 3 || !strikes("write", fd, here(fd), bytes))
        return real(fd, data, bytes);
    return bad_transfer(1, fd, (void*)data, bytes, -1);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
    REAL(pwrite);
    if (changes_places(fd, bytes)) return change_places(fd, data, bytes, at);
    if (!strikes("write", fd, at, bytes)) return real(fd, data, bytes, at);
    return bad_transfer(1, fd, (void*)data, bytes, at);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t at) {
    return pwrite(fd, data, bytes, at);
}
ssize_t writev(int fd, const struct iovec* v, int count) {
    REAL(writev);
    if (fault.kind == NONE || fd < 3 || !strikes("write", fd, here(fd), bytes_of(v, count)))
        return real(fd, v, count);
    return bad_vector(1, fd, v, count, -1);
}
ssize_t pwritev(int fd, const struct iovec* v, int count, off_t at) {
    REAL(pwritev);
    if (!strikes("write", fd, at, bytes_of(v, count))) return real(fd, v, count, at);
    return bad_vector(1, fd, v, count, at);
}
ssize_t pwritev64(int fd, const struct iovec* v, int count, off_t at) {
    return pwritev(fd, v, count, at);
}
ssize_t read(int fd, void* data, size_t bytes) {
    REAL(read);
    if (fault.kind == NONE || fd < 3 || !strikes("read", fd, here(fd), bytes))
        return real(fd, data, bytes);
    return bad_transfer(0, fd, data, bytes, -1);
}
ssize_t pread(int fd, void* data, size_t bytes, off_t at) {
    REAL(pread);
    if (!strikes("read", fd, at, bytes)) return real(fd, data, bytes, at);
    return bad_transfer(0, fd, data, bytes, at);
}
ssize_t pread64(int fd, void* data, size_t bytes, off_t at) {
    return pread(fd, data, bytes, at);
}
ssize_t readv(int fd, const struct iovec* v, int count) {
    REAL(readv);
    if (fault.kind == NONE || fd < 3 || !strikes("read", fd, here(fd), bytes_of(v, count)))
        return real(fd, v, count);
    return bad_vector(0, fd, v, count, -1);
}
ssize_t preadv(int fd, const struct iovec* v, int count, off_t at) {
    REAL(preadv);
    if (!strikes("read", fd, at, bytes_of(v, count))) return real(fd, v, count, at);
    return bad_vector(0, fd, v, count, at);
}
ssize_t preadv64(int fd, const struct iovec* v, int count, off_t at) {
    return preadv(fd, v, count, at);
}
int fsync(int fd) {
    REAL(fsync);
    if (!strikes("sync", fd, 0, 0)) return real(fd);
    errno = fault.error;
    return -1;
}
int fdatasync(int fd) {
    REAL(fdatasync);
    if (!strikes("sync", fd, 0, 0)) return real(fd);
    errno = fault.error;
    return -1;
}
/* One that went wrong is under way nowhere; its control block says so until it is used again. */
static int is_bad(const struct aiocb* block) {
    return block->aio_sigevent.sigev_signo == -4711;
}
static int begin_asynchronous(const char* call, struct aiocb* block, int (*real)(struct aiocb*)) {
    if (is_bad(block)) block->aio_sigevent.sigev_signo = 0;
    if (!strikes(call, block->aio_fildes, block->aio_offset, block->aio_nbytes)) return real(block);
    block->aio_sigevent.sigev_signo = -4711;
    return 0;
}
int aio_write(struct aiocb* block) {
    REAL(aio_write);
    return begin_asynchronous("awrite", block, real);
}
int aio_read(struct aiocb* block) {
    REAL(aio_read);
    return begin_asynchronous("aread", block, real);
}
int aio_error(const struct aiocb* block) {
    REAL(aio_error);
    return is_bad(block) ? fault.error : real(block);
}
ssize_t aio_return(struct aiocb* block) {
    REAL(aio_return);
    if (!is_bad(block)) return real(block);
    errno = fault.error;
    return -1;
}
int aio_suspend(const struct aiocb* const list[], int count, const struct timespec* limit) {
    REAL(aio_suspend);
    for (int i = 0; i < count; ++i)
        if (list[i] && is_bad(list[i])) return 0;
    return real(list, count, limit);
}
/* Programs compiled for large files call these; here they are the same. */
int aio_write64(struct aiocb64* block) {
    return aio_write((struct aiocb*)block);
}
int aio_read64(struct aiocb64* block) {
    return aio_read((struct aiocb*)block);
}
int aio_error64(const struct aiocb64* block) {
    return aio_error((const struct aiocb*)block);
}
ssize_t aio_return64(struct aiocb64* block) {
    return aio_return((struct aiocb*)block);
}
int aio_suspend64(const struct aiocb64* const list[], int count, const struct timespec* limit) {
    return aio_suspend((const struct aiocb* const*)list, count, limit);
}

#define OPENS(name)                                                        \
    int name(const char* path, int flags, ...) {                           \
        REAL(name);                                                        \
        va_list more;                                                      \
        va_start(more, flags);                                             \
        const int mode = flags & O_CREAT ? va_arg(more, int) : 0;          \
        va_end(more);                                                      \
        if ((flags & O_CREAT) && strikes_name("create", AT_FDCWD, path)) { \
            errno = fault.error;                                           \
            return -1;                                                     \
        }                                                                  \
        return real(path, flags, mode);                                    \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                      \
    int name(int directory, const char* path, int flags, ...) {             \
        REAL(name);                                                         \
        va_list more;                                                       \
        va_start(more, flags);                                              \
        const int mode = flags & O_CREAT ? va_arg(more, int) : 0;           \
        va_end(more);                                                       \
        if ((flags & O_CREAT) && strikes_name("create", directory, path)) { \
            errno = fault.error;                                            \
            return -1;                                                      \
        }                                                                   \
        return real(directory, path, flags, mode);                          \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

#define STATS(name, directory, parameters, arguments) \
    int name parameters {                             \
        REAL(name);                                   \
        if (strikes_name("stat", directory, path)) {  \
            errno = fault.error;                      \
            return -1;                                \
        }                                             \
        return real arguments;                        \
    }
STATS(stat, AT_FDCWD, (const char* path, struct stat* out), (path, out))
STATS(lstat, AT_FDCWD, (const char* path, struct stat* out), (path, out))
STATS(fstatat, d, (int d, const char* path, struct stat* out, int flags), (d, path, out, flags))
STATS(stat64, AT_FDCWD, (const char* path, struct stat64* out), (path, out))
STATS(lstat64, AT_FDCWD, (const char* path, struct stat64* out), (path, out))
STATS(fstatat64, d, (int d, const char* path, struct stat64* out, int flags), (d, path, out, flags))

/* How far the time of day is off by now. */
static double step(void) {
    return strikes("clock", -1, 0, 0) ? fault.seconds : 0;
}

time_t time(time_t* out) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    const time_t seconds = now.tv_sec + (time_t)step();
    if (out) *out = seconds;
    return seconds;
}
int gettimeofday(struct timeval* restrict out, void* restrict zone) {
    struct timespec now;
    (void)zone;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec + (time_t)step();
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
int clock_gettime(clockid_t clock, struct timespec* out) {
    REAL(clock_gettime);
    const int code = real(clock, out);
    if (code == 0 && clock == CLOCK_REALTIME) out->tv_sec += (time_t)step();
    return code;
}

int MPI_Barrier(MPI_Comm comm) {
    int code = PMPI_Barrier(comm);
    if (strikes("barrier", -1, 0, 0)) usleep((useconds_t)(fault.seconds * 1e6));
    return code;
}
int MPI_File_write_ordered(MPI_File file, const void* data, int count, MPI_Datatype type,
                           MPI_Status* status) {
    if (!strikes("ordered", -1, 0, 0))
        return PMPI_File_write_ordered(file, data, count, type, status);
    return MPI_ERR_OTHER;
}

int MPI_Finalize(void) {
    strikes("finalize", -1, 0, 0);
    return PMPI_Finalize();
}
