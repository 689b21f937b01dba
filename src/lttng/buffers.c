/* SPDX-License-Identifier: MIT */
#include "lttng/buffers.h"

#include "lttng/errors.h"
#include "util/size-text.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * The part of the free bytes that one user's buffers may take, because other users are traced, too.
 */
#define SHM_SHARE 2
/* Files in a processor's ring: one of them is overwritten at a time. */
#define N_FILES 8

/* Bytes of a compiled method in a trace, with its load, IL map and unload (measured: 43 MB for
 * 100,000 methods). */
#define BYTES_PER_METHOD 430
/* Methods a second, of a program that compiles little, and of one that compiles much. */
#define RATE_SERVER  10
#define RATE_COMPILE 10000

Buffers buffers_new(uint64_t size)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

        return (Buffers){
                .size = size ? size : BUFFERS_DEFAULT_SIZE,
                .n = BUFFERS_DEFAULT_N,
                .n_cpus = n_cpus > 0 ? (unsigned)n_cpus : 1,
        };
}

uint64_t buffers_per_user(const Buffers *buffers)
{
        return buffers->size * buffers->n * buffers->n_cpus;
}

bool buffers_check(const Buffers *buffers, const char *path, char **ret_text, GError **error)
{
        uint64_t bytes = buffers_per_user(buffers), n_free;
        g_autofree char *one = size_to_text(buffers->size), *all = size_to_text(bytes);
        g_autofree char *room = NULL;
        struct statvfs st;

        if (statvfs(path, &st) < 0) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "LTTng needs %s for its buffers, and there is none (%s): mount -t "
                            "tmpfs tmpfs %s",
                            path, g_strerror(errno), path);
                return false;
        }
        n_free = (uint64_t)st.f_bavail * st.f_frsize;
        room = size_to_text(n_free);
        *ret_text = g_strdup_printf("%" G_GUINT64_FORMAT " sub-buffers of %s x %u processors = %s "
                                    "of %s (%s free) for each user whose programs are traced",
                                    buffers->n, one, buffers->n_cpus, all, path, room);
        if (bytes <= n_free / SHM_SHARE)
                return true;
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                    "the buffers would take %s of the %s that are free in %s, for each user: give "
                    "a smaller --buffer-size, or --force",
                    all, room, path);
        g_clear_pointer(ret_text, g_free);
        return false;
}

bool file_ring(const Buffers *buffers, uint64_t disk, FileRing *ret_ring, GError **error)
{
        uint64_t file_size = disk / buffers->n_cpus / N_FILES;
        uint64_t least = buffers->size * buffers->n_cpus * N_FILES;
        g_autofree char *least_text = size_to_text(least);

        /* Whole sub-buffers, because a packet is not cut. */
        file_size -= file_size % buffers->size;
        if (file_size == 0) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "--disk is less than the %s that %u files with one sub-buffer for each "
                            "of %u processors take: give more, or a smaller --buffer-size",
                            least_text, N_FILES, buffers->n_cpus);
                return false;
        }
        *ret_ring = (FileRing){.file_size = file_size, .n_files = N_FILES};
        return true;
}

static char *duration_to_text(uint64_t seconds)
{
        static const struct {
                uint64_t seconds;
                const char *name;
        } UNITS[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
        size_t i = 0;

        while (i + 1 < G_N_ELEMENTS(UNITS) && seconds < 2 * UNITS[i].seconds)
                i++;
        return g_strdup_printf("%" G_GUINT64_FORMAT " %s", seconds / UNITS[i].seconds,
                               UNITS[i].name);
}

char *disk_estimate(uint64_t disk)
{
        uint64_t n = disk / BYTES_PER_METHOD;
        g_autofree char *size = size_to_text(disk), *slow = duration_to_text(n / RATE_SERVER);
        g_autofree char *fast = duration_to_text(n / RATE_COMPILE);

        return g_strdup_printf("%s hold about %" G_GUINT64_FORMAT " compiled methods: %s of a "
                               "program that compiles %d a second, %s of one that does nothing "
                               "else; then the oldest are overwritten",
                               size, n, slow, RATE_SERVER, fast);
}
