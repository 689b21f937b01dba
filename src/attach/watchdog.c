/* SPDX-License-Identifier: MIT */
#include "attach/watchdog.h"

#include "util/fd.h"

#include <glib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Untuned: the turns of a worker on a busy machine are closer together. */
#define MAX_LATE 3

struct Watchdog {
        _Atomic uint64_t *counter; /* memory shared with the worker */
        int stream;                /* -1: none yet */
        uint64_t n_taken;          /* at the last check */
        unsigned n_late;           /* checks since the worker read something, or since no bytes
                                    * waited */
};

Watchdog *watchdog_new(void)
{
        void *counter = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        Watchdog *watchdog;

        if (counter == MAP_FAILED)
                return NULL;
        watchdog = g_new0(Watchdog, 1);
        watchdog->counter = counter;
        watchdog->stream = -1;
        return watchdog;
}

void watchdog_free(Watchdog *watchdog)
{
        if (!watchdog)
                return;
        fd_clear(&watchdog->stream);
        munmap((void *)watchdog->counter, sizeof(uint64_t));
        g_free(watchdog);
}

_Atomic uint64_t *watchdog_counter(const Watchdog *watchdog)
{
        return watchdog->counter;
}

void watchdog_watch(Watchdog *watchdog, int stream)
{
        fd_clear(&watchdog->stream);
        watchdog->stream = stream;
        watchdog->n_late = 0;
}

bool watchdog_check(Watchdog *watchdog)
{
        const uint64_t n_taken = atomic_load(watchdog->counter);
        int n_waiting = 0;

        if (watchdog->stream < 0 || ioctl(watchdog->stream, FIONREAD, &n_waiting) < 0)
                return false;
        if (!n_waiting || n_taken != watchdog->n_taken)
                watchdog->n_late = 0;
        else
                watchdog->n_late++;
        watchdog->n_taken = n_taken;
        return watchdog->n_late >= MAX_LATE;
}

void watchdog_shut(const Watchdog *watchdog)
{
        if (watchdog->stream >= 0)
                shutdown(watchdog->stream, SHUT_RDWR);
}
