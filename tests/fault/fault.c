/* SPDX-License-Identifier: MIT */

/*
 * Makes one call of a program fail: LD_PRELOAD this library with FAULT=KIND:N in the environment
 *
 * The N-th call of KIND (see KINDS) fails, as if memory, disk space, descriptors or processes had
 * run out; calls within libc do not count. With N = 0 no call fails. Children that run another
 * program are not affected; forked children continue their own count. At its end, each of these
 * processes writes its number of calls to the file FAULT_REPORT, unless the file has a larger
 * number.
 */

/* This file defines both forms of functions with file offsets. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef enum Kind {
        KIND_MALLOC,
        KIND_WRITE,
        KIND_FSYNC,
        KIND_RENAME, /* or ftruncate() */
        KIND_OPEN,   /* or socket() */
        KIND_ACCEPT,
        KIND_FORK,
        KIND_MMAP,
        KIND_CONNECT,
        KIND_READ, /* or recv() */
        KIND_NONE,
} Kind;

static const struct {
        const char *name;
        int error;
} KINDS[] = {
        [KIND_MALLOC] = {"malloc", ENOMEM},   [KIND_WRITE] = {"write", ENOSPC},
        [KIND_FSYNC] = {"fsync", EIO},        [KIND_RENAME] = {"rename", ENOSPC},
        [KIND_OPEN] = {"open", EMFILE},       [KIND_ACCEPT] = {"accept", EMFILE},
        [KIND_FORK] = {"fork", EAGAIN},       [KIND_MMAP] = {"mmap", ENOMEM},
        [KIND_CONNECT] = {"connect", EAGAIN}, [KIND_READ] = {"read", EIO},
};

static Kind wanted = KIND_NONE;
/* True within a function of libc that crashes without memory: no call fails there. */
static _Thread_local bool is_spared;
static long n_wanted;
static atomic_long n_calls;
static char report[4096];

/* The allocation functions of libc, because dlsym() allocates. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t n);

__attribute__((constructor)) static void fault_begin(void)
{
        const char *fault = getenv("FAULT"), *path = getenv("FAULT_REPORT");
        const char *colon = fault ? strchr(fault, ':') : NULL;
        unsigned i;

        if (!colon)
                return;
        n_wanted = atol(colon + 1);
        if (path)
                snprintf(report, sizeof(report), "%s", path);
        for (i = 0; i < KIND_NONE; i++)
                if (!strncmp(fault, KINDS[i].name, (size_t)(colon - fault)))
                        wanted = (Kind)i;
        unsetenv("LD_PRELOAD");
        unsetenv("FAULT");
        unsetenv("FAULT_REPORT");
}

__attribute__((destructor)) static void fault_end(void)
{
        long n = n_calls, n_before = 0;
        FILE *file;

        wanted = KIND_NONE;
        file = *report ? fopen(report, "a+e") : NULL;
        if (!file)
                return;
        if (fscanf(file, "%ld", &n_before) != 1 || n_before < n) {
                if (ftruncate(fileno(file), 0) == 0)
                        fprintf(file, "%ld\n", n);
        }
        fclose(file);
}

/* Forked children end with this function. */
void _exit(int status)
{
        fault_end();
        syscall(SYS_exit_group, status);
        __builtin_unreachable();
}

static bool fails(Kind kind)
{
        if (kind != wanted || is_spared || ++n_calls != n_wanted)
                return false;
        errno = KINDS[kind].error;
        return true;
}

/* Reads and writes of an eventfd, by which GLib wakes its main loop, cannot fail. */
static bool io_fails(Kind kind, int fd)
{
        struct stat status;

        return wanted == kind && fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) != 0 &&
               fails(kind);
}

static bool write_fails(int fd)
{
        return io_fails(KIND_WRITE, fd);
}

static bool read_fails(int fd)
{
        return io_fails(KIND_READ, fd);
}

#define REAL(name)                                                                                 \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void *malloc(size_t n)
{
        return fails(KIND_MALLOC) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
        return fails(KIND_MALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *at, size_t n)
{
        return fails(KIND_MALLOC) ? NULL : __libc_realloc(at, n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
        REAL(write);
        return write_fails(fd) ? -1 : real(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
        REAL(pwrite);
        return write_fails(fd) ? -1 : real(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
        REAL(pwrite64);
        return write_fails(fd) ? -1 : real(fd, bytes, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
        REAL(writev);
        return write_fails(fd) ? -1 : real(fd, parts, n);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
        REAL(pwritev);
        return write_fails(fd) ? -1 : real(fd, parts, n, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at)
{
        REAL(pwritev64);
        return write_fails(fd) ? -1 : real(fd, parts, n, at);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
        REAL(send);
        if (!write_fails(fd))
                return real(fd, bytes, n, flags);
        errno = ENOBUFS;
        return -1;
}

ssize_t read(int fd, void *bytes, size_t n)
{
        REAL(read);
        return read_fails(fd) ? -1 : real(fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
        REAL(pread);
        return read_fails(fd) ? -1 : real(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
        REAL(pread64);
        return read_fails(fd) ? -1 : real(fd, bytes, n, at);
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
        REAL(recv);
        if (!read_fails(fd))
                return real(fd, bytes, n, flags);
        errno = ENOBUFS;
        return -1;
}

struct group *getgrnam(const char *name)
{
        struct group *group;
        REAL(getgrnam);

        is_spared = true;
        group = real(name);
        is_spared = false;
        return group;
}

int rename(const char *from, const char *to)
{
        REAL(rename);
        return fails(KIND_RENAME) ? -1 : real(from, to);
}

int renameat(int one, const char *from, int other, const char *to)
{
        REAL(renameat);
        return fails(KIND_RENAME) ? -1 : real(one, from, other, to);
}

int ftruncate64(int fd, off64_t n)
{
        REAL(ftruncate64);
        return fails(KIND_RENAME) ? -1 : real(fd, n);
}

int fsync(int fd)
{
        REAL(fsync);
        return fails(KIND_FSYNC) ? -1 : real(fd);
}

int fdatasync(int fd)
{
        REAL(fdatasync);
        return fails(KIND_FSYNC) ? -1 : real(fd);
}

/* Reads the mode even if the caller gave none; in this case nothing uses the mode. */
#define OPEN(name, ...)                                                                            \
        {                                                                                          \
                va_list arguments;                                                                 \
                mode_t mode;                                                                       \
                REAL(name);                                                                        \
                va_start(arguments, flags);                                                        \
                mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;            \
                va_end(arguments);                                                                 \
                return fails(KIND_OPEN) ? -1 : real(__VA_ARGS__, flags, mode);                     \
        }

int open(const char *path, int flags, ...)
        OPEN(open, path) int open64(const char *path, int flags, ...)
                OPEN(open64, path) int openat(int directory, const char *path, int flags, ...)
                        OPEN(openat, directory, path) int openat64(int directory, const char *path,
                                                                   int flags, ...)
                                OPEN(openat64, directory, path)

                                        int accept(int fd, struct sockaddr *address, socklen_t *n)
{
        REAL(accept);
        return fails(KIND_ACCEPT) ? -1 : real(fd, address, n);
}

int accept4(int fd, struct sockaddr *address, socklen_t *n, int flags)
{
        REAL(accept4);
        return fails(KIND_ACCEPT) ? -1 : real(fd, address, n, flags);
}

int socket(int family, int type, int protocol)
{
        REAL(socket);
        return fails(KIND_OPEN) ? -1 : real(family, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t n)
{
        REAL(connect);
        return fails(KIND_CONNECT) ? -1 : real(fd, address, n);
}

pid_t fork(void)
{
        REAL(fork);
        return fails(KIND_FORK) ? -1 : real();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[])
{
        REAL(posix_spawn);
        return fails(KIND_FORK) ? KINDS[KIND_FORK].error
                                : real(pid, path, actions, attributes, arguments, environment);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
        REAL(mmap);
        return fails(KIND_MMAP) ? MAP_FAILED : real(at, n, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
        REAL(mmap64);
        return fails(KIND_MMAP) ? MAP_FAILED : real(at, n, protection, flags, fd, offset);
}
