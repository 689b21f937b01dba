/* SPDX-License-Identifier: MIT */
#include "util/kept-roots.h"

#include "util/fd.h"
#include "util/rootfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static struct {
        pthread_mutex_t lock;
        unsigned n;
        struct {
                pid_t pid;
                int fd;
        } rows[KEPT_ROOTS_MAX];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The row of process PID; KEPT.N: none. The caller holds the lock. */
static unsigned kept_find(pid_t pid)
{
        unsigned i;

        for (i = 0; i < kept.n && kept.rows[i].pid != pid; i++)
                ;
        return i;
}

int kept_roots_open(pid_t pid)
{
        unsigned i;
        int fd;

        pthread_mutex_lock(&kept.lock);
        i = kept_find(pid);
        fd = i < kept.n ? fcntl(kept.rows[i].fd, F_DUPFD_CLOEXEC, 0) : -1;
        pthread_mutex_unlock(&kept.lock);
        return fd;
}

static bool root_is_own(int fd)
{
        struct stat own, other;

        return stat("/", &own) == 0 && fstat(fd, &other) == 0 && own.st_dev == other.st_dev &&
               own.st_ino == other.st_ino;
}

void kept_roots_keep(pid_t pid)
{
        FD_AUTO int fd = rootfs_open_root(pid);
        unsigned i;

        if (fd < 0 || root_is_own(fd))
                return;
        pthread_mutex_lock(&kept.lock);
        i = kept_find(pid);
        /* The number may have belonged to another process, or the process has changed its root. */
        if (i < kept.n)
                fd_clear(&kept.rows[i].fd);
        else if (kept.n < KEPT_ROOTS_MAX)
                kept.rows[kept.n++].pid = pid;
        if (i < kept.n)
                kept.rows[i].fd = fd_steal(&fd);
        pthread_mutex_unlock(&kept.lock);
}
