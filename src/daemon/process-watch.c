/* SPDX-License-Identifier: MIT */
#include "daemon/process-watch.h"

#include "util/clock.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc-ns.h"
#include "util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <sys/epoll.h>
#include <time.h>

/* Guesses; untuned. Most descriptors for pidfds; further processes are polled each second. */
#define MAX_PIDFDS 2048
#define SETTLE_MS  200
#define POLL_MS    1000
/* us of lookups in one turn. */
#define TURN_US 5000
/* Lookups of a missing process, which may be in a namespace that the daemon may not read. */
#define MAX_TRIES 3

/* A process that runs, or that was not found yet. */
typedef struct Watched {
        uint64_t serial;
        pid_t pid;      /* in our namespace; 0: not found yet */
        uint64_t start; /* as of proc_start_time() */
        int pidfd;      /* -1: it is polled */
        unsigned n_tries;
        unsigned round; /* the last round in which the tracker knew it */
} Watched;

struct ProcessWatch {
        const Tracker *tracker; /* borrowed */
        ProcessWatchCalls calls;
        GHashTable *watched;  /* serial in the Watched -> owned Watched */
        uint64_t last_serial; /* the newest process handled so far */
        uint64_t own_pid_ns;
        int epoll; /* of the pidfds; -1: all are polled */
        guint source, settle_timer, poll_timer;
        unsigned n_pidfds, round;
        guint next; /* index of the process where the next poll begins */
};

static void watched_free(gpointer data)
{
        Watched *watched = data;

        fd_clear(&watched->pidfd);
        g_free(watched);
}

static void watch_remove(ProcessWatch *watch, Watched *watched)
{
        watch->n_pidfds -= watched->pidfd >= 0;
        g_hash_table_remove(watch->watched, &watched->serial);
}

static void watch_end(ProcessWatch *watch, Watched *watched)
{
        uint64_t serial = watched->serial;

        watch_remove(watch, watched);
        watch->calls.ended(watch->calls.data, serial, (uint64_t)clock_ns(CLOCK_MONOTONIC));
}

static void watch_open_pidfd(ProcessWatch *watch, Watched *watched)
{
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = watched->serial};
        FD_AUTO int pidfd = -1;

        if (watch->n_pidfds >= MAX_PIDFDS || watch->epoll < 0)
                return;
        pidfd = pidfd_open(watched->pid, 0);
        /* The descriptor must not be of a later process with the same pid. */
        if (pidfd < 0 || !proc_is_same_start(proc_start_time(watched->pid), watched->start) ||
            epoll_ctl(watch->epoll, EPOLL_CTL_ADD, pidfd, &event) < 0)
                return;
        watched->pidfd = fd_steal(&pidfd);
        watch->n_pidfds++;
}

static void watch_report_command(const ProcessWatch *watch, const Watched *watched)
{
        g_autofree char *command = proc_command(watched->pid);

        if (command && proc_is_same_start(proc_start_time(watched->pid), watched->start))
                watch->calls.found(watch->calls.data, watched->serial, command);
}

/* True if no process has the pid in the daemon's own namespace. */
static bool pid_is_unused(int32_t pid)
{
        FD_AUTO int pidfd = pidfd_open(pid, 0);

        return pidfd < 0 && errno == ESRCH;
}

/* Looks up a process that was not found yet. */
static void watch_find(ProcessWatch *watch, Watched *watched, const Process *process)
{
        bool is_own_ns = process->key.pid_ns == watch->own_pid_ns;
        pid_t pid;

        if (is_own_ns && pid_is_unused(process->key.pid)) {
                watch_end(watch, watched);
                return;
        }
        watched->n_tries++;
        if (!proc_host_pid(process->key.pid_ns, process->key.pid, &pid)) {
                if (!is_own_ns && process->was_found &&
                    proc_is_gone(process->key.pid_ns, process->key.pid))
                        watch_end(watch, watched);
                return;
        }
        watched->start = proc_start_time(pid);
        if (!watched->start)
                return;
        if (watched->start > process->last) { /* another program */
                watch_end(watch, watched);
                return;
        }
        watched->pid = pid;
        watch_open_pidfd(watch, watched);
        watch_report_command(watch, watched);
}

static void watch_look_at(ProcessWatch *watch, Watched *watched, const Process *process)
{
        if (!watched->pid && watched->n_tries < MAX_TRIES)
                watch_find(watch, watched, process);
        else if (watched->pid && watched->pidfd < 0 &&
                 !proc_is_same_start(proc_start_time(watched->pid), watched->start))
                watch_end(watch, watched);
}

/* The host knows nothing about processes of other machines or boots. */
static bool process_is_here(const Process *process)
{
        guint i;

        for (i = 0; i < process->traces->len; i++)
                if (!*((const Trace *)process->traces->pdata[i])->boot_id)
                        return false;
        return process->traces->len > 0;
}

static Watched *watch_add(ProcessWatch *watch, const Process *process)
{
        Watched *watched = g_new(Watched, 1);

        *watched = (Watched){.serial = process->serial, .pidfd = -1};
        g_hash_table_insert(watch->watched, &watched->serial, watched);
        return watched;
}

/* Looks up the new processes. */
static gboolean watch_on_settled(gpointer data)
{
        ProcessWatch *watch = data;
        const GPtrArray *processes = tracker_processes(watch->tracker);
        uint64_t last = watch->last_serial;
        guint i;

        watch->settle_timer = 0;
        for (i = processes->len; i-- > 0;) {
                const Process *process = processes->pdata[i];

                if (process->serial <= watch->last_serial)
                        continue;
                last = MAX(last, process->serial);
                if (process->exit == BODY_FOREVER && process_is_here(process))
                        watch_look_at(watch, watch_add(watch, process), process);
        }
        watch->last_serial = last;
        return G_SOURCE_REMOVE;
}

static gboolean watched_is_gone(gpointer key, gpointer value, gpointer data)
{
        const Watched *watched = value;
        ProcessWatch *watch = data;

        if (watched->round == watch->round)
                return FALSE;
        watch->n_pidfds -= watched->pidfd >= 0;
        return TRUE;
}

/* Polls processes without a pidfd, and drops processes that the tracker has dropped. */
static gboolean watch_on_poll(gpointer data)
{
        ProcessWatch *watch = data;
        const GPtrArray *processes = tracker_processes(watch->tracker);
        gint64 end = g_get_monotonic_time() + TURN_US;
        guint i, n = processes->len, begin = n ? watch->next % n : 0;

        if (!g_hash_table_size(watch->watched))
                return G_SOURCE_CONTINUE;
        watch->round++;
        for (i = 0; i < n; i++) {
                guint at = (begin + i) % n;
                const Process *process = processes->pdata[at];
                Watched *watched = g_hash_table_lookup(watch->watched, &process->serial);

                if (!watched || process->exit != BODY_FOREVER)
                        continue;
                watched->round = watch->round;
                if (g_get_monotonic_time() >= end)
                        continue;
                watch->next = at + 1;
                watch_look_at(watch, watched, process);
        }
        g_hash_table_foreach_remove(watch->watched, watched_is_gone, watch);
        return G_SOURCE_CONTINUE;
}

static gboolean watch_on_epoll(gint fd, GIOCondition condition, gpointer data)
{
        ProcessWatch *watch = data;
        struct epoll_event events[64];
        int i, n = epoll_wait(fd, events, G_N_ELEMENTS(events), 0);

        for (i = 0; i < n; i++) {
                uint64_t serial = events[i].data.u64;
                Watched *watched = g_hash_table_lookup(watch->watched, &serial);

                if (watched)
                        watch_end(watch, watched);
        }
        return G_SOURCE_CONTINUE;
}

ProcessWatch *process_watch_new(const Tracker *tracker, const ProcessWatchCalls *calls)
{
        ProcessWatch *watch = g_new0(ProcessWatch, 1);

        watch->tracker = tracker;
        watch->calls = *calls;
        watch->watched = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, watched_free);
        watch->own_pid_ns = proc_own_pid_ns();
        watch->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (watch->epoll >= 0)
                watch->source = g_unix_fd_add(watch->epoll, G_IO_IN, watch_on_epoll, watch);
        watch->poll_timer = g_timeout_add(POLL_MS, watch_on_poll, watch);
        process_watch_wake(watch);
        return watch;
}

void process_watch_free(ProcessWatch *watch)
{
        if (!watch)
                return;
        g_clear_handle_id(&watch->source, g_source_remove);
        g_clear_handle_id(&watch->settle_timer, g_source_remove);
        g_clear_handle_id(&watch->poll_timer, g_source_remove);
        g_hash_table_unref(watch->watched);
        fd_clear(&watch->epoll);
        g_free(watch);
}

void process_watch_wake(ProcessWatch *watch)
{
        if (!watch->settle_timer)
                watch->settle_timer = g_timeout_add(SETTLE_MS, watch_on_settled, watch);
}
