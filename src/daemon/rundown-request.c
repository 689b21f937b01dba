/* SPDX-License-Identifier: MIT */
#include "daemon/rundown-request.h"

#include "util/fd.h"
#include "util/proc-ns.h"
#include "util/proc.h"
#include "util/unix-socket.h"
#include "wire/hold-request.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>

/* Guesses; untuned. */
#define MAX_PENDING 16
#define MAX_ANSWER  (64u << 10)
#define ANSWER_S    60
/* Bytes of the holder's message in the log. */
#define MAX_MESSAGE 200
/* us from a change of the tracker to the check. */
#define SETTLE_US G_TIME_SPAN_SECOND

/* The requests about one process, by its serial. */
typedef struct RequestHistory {
        gint64 time;      /* us: the last request; 0: none yet */
        gint64 waits;     /* us: since when it waits for all streams to continue; 0: it does not */
        uint64_t gap_end; /* end of the newest gap after which a holder answered */
        bool is_pending;
        unsigned round; /* the last check that found the process */
} RequestHistory;

/* A request in progress. */
typedef struct RundownRequest {
        RundownRequester *requester; /* borrowed */
        uint64_t serial, gap_end;
        int fd;
        guint source, timer;
        GString *input; /* owned */
} RundownRequest;

struct RundownRequester {
        const Tracker *tracker; /* borrowed */
        QueryStats *stats;      /* borrowed */
        gint64 interval;        /* us; 0: off */
        char *path;             /* owned or NULL */
        GHashTable *histories;  /* owned serial -> owned RequestHistory */
        GPtrArray *pending;     /* owned RundownRequests */
        guint timer;
        gint64 timer_time; /* us: time at which it is due */
        unsigned round;
        bool has_failed; /* and the failure was logged */
};

static void rundown_request_free(gpointer data)
{
        RundownRequest *request = data;

        g_clear_handle_id(&request->source, g_source_remove);
        g_clear_handle_id(&request->timer, g_source_remove);
        fd_clear(&request->fd);
        g_string_free(request->input, TRUE);
        g_free(request);
}

static void requester_note_failure(RundownRequester *requester, const char *why)
{
        requester->stats->again_failed++;
        if (!requester->has_failed)
                g_warning("the holder at %s gave no rundown of a process: %s", requester->path,
                          why);
        requester->has_failed = true;
}

/* Frees the request. WHY, if not NULL: the request failed, and is retried after the interval. */
static void rundown_request_end(RundownRequest *request, const char *why)
{
        RundownRequester *requester = request->requester;
        RequestHistory *history = g_hash_table_lookup(requester->histories, &request->serial);

        if (history)
                history->is_pending = false;
        if (why)
                requester_note_failure(requester, why);
        else if (history)
                history->gap_end = MAX(history->gap_end, request->gap_end);
        g_ptr_array_remove_fast(requester->pending, request);
        rundown_requester_wake(requester);
}

static void rundown_request_take_answer(RundownRequest *request, size_t n)
{
        g_autofree char *message = NULL, *shown = NULL;

        switch (request_outcome(request->input->str, n, &message)) {
        case REQUEST_DONE:
                request->requester->stats->again_listed++;
                break;
        case REQUEST_NOT_HELD:
                request->requester->stats->again_not_held++;
                break;
        case REQUEST_FAILED:
                /* The message may contain anything; the log gets one short line. */
                shown = g_strescape(message, NULL);
                shown[MIN(strlen(shown), MAX_MESSAGE)] = 0;
                rundown_request_end(request, shown);
                return;
        case REQUEST_INVALID:
        default:
                rundown_request_end(request, "the answer is not from a clrsym-holder");
                return;
        }
        request->requester->has_failed = false;
        rundown_request_end(request, NULL);
}

/* Reads once per call, so that other sources have their turn, however much there is to read. */
static gboolean rundown_request_on_input(gint fd, GIOCondition condition, gpointer data)
{
        RundownRequest *request = data;
        char bytes[4096];
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        const char *end = n > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n > 0 && !end && request->input->len + (size_t)n <= MAX_ANSWER) {
                g_string_append_len(request->input, bytes, n);
                return G_SOURCE_CONTINUE;
        }
        request->source = 0;
        if (end) {
                g_string_append_len(request->input, bytes, end - bytes);
                rundown_request_take_answer(request, request->input->len);
        } else {
                rundown_request_end(request, n > 0   ? "its answer is too long"
                                             : n < 0 ? g_strerror(errno)
                                                     : "it disconnected");
        }
        return G_SOURCE_REMOVE;
}

static gboolean rundown_request_on_timeout(gpointer data)
{
        RundownRequest *request = data;

        request->timer = 0;
        rundown_request_end(request, "it does not answer");
        return G_SOURCE_REMOVE;
}

static void requester_begin(RundownRequester *requester, const Process *process,
                            RequestHistory *history, uint64_t gap_end, pid_t pid)
{
        const Request rundown = {.verb = REQUEST_RUNDOWN, .pid = pid, .is_held_only = true};
        /* A full socket is an error at once. */
        int fd = request_send(&rundown, requester->path, SOCK_NONBLOCK, /* wait_ms= */ 0);
        RundownRequest *request;

        if (fd < 0) {
                requester_note_failure(requester, unix_socket_reason(fd));
                return;
        }
        request = g_new(RundownRequest, 1);
        *request = (RundownRequest){.requester = requester,
                                    .serial = process->serial,
                                    .gap_end = gap_end,
                                    .fd = fd,
                                    .input = g_string_new(NULL)};
        request->source =
                g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, rundown_request_on_input, request);
        request->timer = g_timeout_add_seconds(ANSWER_S, rundown_request_on_timeout, request);
        history->is_pending = true;
        g_ptr_array_add(requester->pending, request);
}

static uint64_t gaps_last_end(const GArray *gaps)
{
        return gaps->len ? g_array_index(gaps, Gap, gaps->len - 1).end : 0;
}

/* True if a feeder feeds every stopped stream of the process again. */
static bool process_goes_on(const Process *process)
{
        guint i;

        for (i = 0; i < process->traces->len; i++)
                if (!trace_goes_on(process->traces->pdata[i]))
                        return false;
        return true;
}

/* The end of the process's newest gap, if no rundown began since; else 0. */
static uint64_t process_gap_to_ask_about(const Process *process)
{
        const GArray *rundowns = process->rundowns;
        uint64_t end = gaps_last_end(process->gaps.reported);
        guint i;

        /* While no session of the process is held, no holder can be asked. */
        if (process->exit != BODY_FOREVER || process->gaps.open_since != BODY_FOREVER)
                return 0;
        for (i = 0; i < process->traces->len; i++) {
                const Trace *trace = process->traces->pdata[i];

                end = MAX(end, gaps_last_end(trace->gaps));
        }
        /* No rundown can follow a gap without an end. */
        if (end < process->begin || end == UINT64_MAX || process->rundown_begin > end)
                return 0;
        if (rundowns->len && g_array_index(rundowns, Rundown, rundowns->len - 1).begin > end)
                return 0;
        return end;
}

/* The process's pid here, if that program still runs under it. */
static bool requester_find_running(const RundownRequester *requester, const Process *process,
                                   pid_t *ret_pid)
{
        uint64_t start;

        if (!tracker_is_newest(requester->tracker, process) ||
            !tracker_may_be_running(requester->tracker, process) ||
            !proc_host_pid(process->key.pid_ns, process->key.pid, ret_pid))
                return false;
        start = proc_start_time(*ret_pid);
        return start && start <= process->last;
}

static RequestHistory *requester_history(RundownRequester *requester, uint64_t serial)
{
        RequestHistory *history = g_hash_table_lookup(requester->histories, &serial);

        if (!history) {
                history = g_new0(RequestHistory, 1);
                g_hash_table_insert(requester->histories, g_memdup2(&serial, sizeof(serial)),
                                    history);
        }
        return history;
}

static void requester_schedule(RundownRequester *requester, gint64 time);

/* Returns the time of the next check, in us; INT64_MAX: after the next change. */
static gint64 requester_look_at(RundownRequester *requester, const Process *process, gint64 now)
{
        uint64_t end = process_gap_to_ask_about(process);
        RequestHistory *history = g_hash_table_lookup(requester->histories, &process->serial);
        pid_t pid;

        if (history) {
                history->round = requester->round;
                history->waits = end ? history->waits : 0;
        }
        if (!end || (history && (history->is_pending || history->gap_end >= end)))
                return INT64_MAX;
        if (history && history->time && now - history->time < requester->interval)
                return history->time + requester->interval;
        if (requester->pending->len >= MAX_PENDING)
                return INT64_MAX; /* the end of a pending request wakes the requester */
        history = requester_history(requester, process->serial);
        history->round = requester->round;
        /*
         * The stream of an idle processor continues late, and its gap ends then: an earlier rundown
         * would be useless. But the processor may be idle for long.
         */
        if (!process_goes_on(process)) {
                history->waits = history->waits ? history->waits : now;
                if (now - history->waits < requester->interval)
                        return history->waits + requester->interval;
        }
        history->waits = 0;
        history->time = now;
        if (requester_find_running(requester, process, &pid))
                requester_begin(requester, process, history, end, pid);
        return history->is_pending ? INT64_MAX : now + requester->interval;
}

static gboolean history_is_old(gpointer key, gpointer value, gpointer data)
{
        return ((const RequestHistory *)value)->round != ((const RundownRequester *)data)->round;
}

static gboolean requester_on_look(gpointer data)
{
        RundownRequester *requester = data;
        const GPtrArray *processes = tracker_processes(requester->tracker);
        gint64 now = g_get_monotonic_time(), next = INT64_MAX;
        guint i;

        requester->timer = 0;
        requester->round++;
        for (i = 0; i < processes->len; i++)
                next = MIN(next, requester_look_at(requester, processes->pdata[i], now));
        g_hash_table_foreach_remove(requester->histories, history_is_old, requester);
        if (next != INT64_MAX)
                requester_schedule(requester, next);
        return G_SOURCE_REMOVE;
}

/* Schedules a check at TIME, in us, at the latest. */
static void requester_schedule(RundownRequester *requester, gint64 time)
{
        gint64 wait = MAX(time - g_get_monotonic_time(), 0) / G_TIME_SPAN_MILLISECOND + 1;

        if (requester->timer && requester->timer_time <= time)
                return;
        g_clear_handle_id(&requester->timer, g_source_remove);
        requester->timer_time = time;
        requester->timer = g_timeout_add((guint)MIN(wait, G_MAXINT), requester_on_look, requester);
}

RundownRequester *rundown_requester_new(const Tracker *tracker, QueryStats *stats)
{
        RundownRequester *requester = g_new(RundownRequester, 1);

        *requester = (RundownRequester){
                .tracker = tracker,
                .stats = stats,
                .histories = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
                .pending = g_ptr_array_new_with_free_func(rundown_request_free)};
        return requester;
}

void rundown_requester_free(RundownRequester *requester)
{
        if (!requester)
                return;
        g_clear_handle_id(&requester->timer, g_source_remove);
        g_ptr_array_unref(requester->pending);
        g_hash_table_unref(requester->histories);
        g_free(requester->path);
        g_free(requester);
}

static void requester_drop_pending(RundownRequester *requester)
{
        guint i;

        for (i = 0; i < requester->pending->len; i++) {
                const RundownRequest *request = requester->pending->pdata[i];
                RequestHistory *history =
                        g_hash_table_lookup(requester->histories, &request->serial);

                if (history)
                        history->is_pending = false;
        }
        g_ptr_array_set_size(requester->pending, 0);
}

void rundown_requester_configure(RundownRequester *requester, uint64_t interval, const char *path)
{
        bool is_other = g_strcmp0(path, requester->path) != 0;

        if (!path)
                interval = 0;
        requester->interval = (gint64)interval * G_TIME_SPAN_SECOND;
        if (is_other || !interval) {
                g_clear_handle_id(&requester->timer, g_source_remove);
                requester_drop_pending(requester);
                requester->has_failed = false;
        }
        if (is_other) {
                g_free(requester->path);
                requester->path = g_strdup(path);
        }
        requester->stats->has_again |= interval > 0;
        rundown_requester_wake(requester);
}

void rundown_requester_wake(RundownRequester *requester)
{
        if (requester->interval)
                requester_schedule(requester, g_get_monotonic_time() + SETTLE_US);
}
