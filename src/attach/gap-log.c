/* SPDX-License-Identifier: MIT */
#include "attach/gap-log.h"

#include "util/backoff.h"
#include "util/proc-stat.h"
#include "util/unix-socket.h"
#include "wire/ingest-uplink.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define PREFIX     "gap-"
#define OLD_PREFIX "silent-"

/* A guess: more than the maximum number of attachments. */
#define MAX_GAPS    4096
#define PRUNE_EVERY 256
/* Seconds for the daemon to acknowledge the gaps: it may be replaying its journal. */
#define ACK_S 60
/* us for which a holder without attachments waits for a daemon to return. */
#define STAY (3600 * G_TIME_SPAN_SECOND)
/* us for which a holder that exits waits for the daemon. */
#define END_WAIT (G_TIME_SPAN_SECOND / 2)

typedef struct LoggedGap {
        GapTarget target;
        uint64_t begin, end; /* end UINT64_MAX: the gap is open */
        bool is_reported;    /* the daemon has the current values */
        bool is_sent;        /* the current values were sent, and are not acknowledged yet */
        bool has_file;
} LoggedGap;

struct GapLog {
        char *directory, *ingest; /* owned */
        GPtrArray *gaps;          /* owned LoggedGaps, the oldest first */
        IngestUplink *uplink;     /* owned */
        bool has_answered;        /* a daemon has acknowledged gaps */
        bool has_warned;
        gint64 failed_since; /* in us of g_get_monotonic_time(); 0: the last report was acknowledged
                              */
        Backoff backoff;
        guint timer; /* timer of the next report, or of the pending acknowledgement */
        void (*changed)(void *data);
        void *data;
};

static char *gap_path(const GapLog *log, const LoggedGap *gap)
{
        return g_strdup_printf("%s/" PREFIX "%d-%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
                               log->directory, (int)gap->target.pid,
                               (guint64)gap->target.start_ticks, (guint64)gap->begin);
}

static void gap_log_save(const GapLog *log, LoggedGap *gap)
{
        g_autofree char *path = gap_path(log, gap);
        g_autofree char *text = g_strdup_printf(
                "%d %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %d %s\n", gap->target.vpid,
                (guint64)gap->target.pid_ns, (guint64)gap->end, gap->is_reported, log->ingest);
        g_autoptr(GError) error = NULL;

        gap->has_file = true;
        if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
                g_warning("%s", error->message);
}

static void gap_log_forget(GapLog *log, guint i)
{
        const LoggedGap *gap = log->gaps->pdata[i];
        g_autofree char *path = gap_path(log, gap);

        if (gap->has_file)
                g_unlink(path);
        g_ptr_array_remove_index(log->gaps, i);
}

static bool gap_target_is_gone(const GapTarget *target)
{
        ProcStat stat;

        return !proc_stat_read(target->pid, &stat) || stat.start_ticks != target->start_ticks;
}

/* Removes reported gaps of targets that have ended. */
static void gap_log_prune(GapLog *log)
{
        guint i;

        for (i = log->gaps->len; i-- > 0;) {
                const LoggedGap *gap = log->gaps->pdata[i];

                if (gap->is_reported && gap_target_is_gone(&gap->target))
                        gap_log_forget(log, i);
        }
        while (log->gaps->len >= MAX_GAPS)
                gap_log_forget(log, 0);
}

char *gap_log_file_ingest(const char *name, const char *text)
{
        const char *path = strchr(text, '/');

        return path && g_str_has_prefix(name, PREFIX) ? g_strchomp(g_strdup(path)) : NULL;
}

/* Loads a file of an earlier holder; removes a damaged one. */
static void gap_log_load(GapLog *log, const char *name)
{
        g_autofree char *path = g_build_filename(log->directory, name, NULL), *text = NULL;
        const bool is_old = g_str_has_prefix(name, OLD_PREFIX);
        const char *prefix = is_old ? OLD_PREFIX : PREFIX;
        unsigned long long ticks, begin, pid_ns, end;
        int pid, vpid, is_reported, n = 0;
        LoggedGap *gap;

        if (!g_str_has_prefix(name, prefix) ||
            sscanf(name + strlen(prefix), "%d-%llu-%llu%n", &pid, &ticks, &begin, &n) != 3 ||
            name[strlen(prefix) + (size_t)n] || !g_file_get_contents(path, &text, NULL, NULL))
                return;
        if (sscanf(text, "%d %llu %llu %d", &vpid, &pid_ns, &end, &is_reported) != 4 ||
            begin > end) {
                g_unlink(path);
                return;
        }
        gap = g_new0(LoggedGap, 1);
        *gap = (LoggedGap){.target = {pid, ticks, vpid, pid_ns},
                           .begin = begin,
                           .end = end,
                           .is_reported = is_reported,
                           .has_file = true};
        if (is_old) {
                g_autofree char *new_path = gap_path(log, gap);

                g_rename(path, new_path);
        }
        g_ptr_array_add(log->gaps, gap);
}

static gint gap_compare(gconstpointer a, gconstpointer b)
{
        const LoggedGap *x = *(LoggedGap *const *)a, *y = *(LoggedGap *const *)b;

        return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static unsigned gap_log_n_unreported(const GapLog *log)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < log->gaps->len; i++)
                n += !((const LoggedGap *)log->gaps->pdata[i])->is_reported;
        return n;
}

bool gap_log_is_empty(const GapLog *log)
{
        return !log->gaps->len;
}

bool gap_log_is_pending(const GapLog *log)
{
        /* Without the directory, no client finds this holder, and no later holder its gaps. */
        return log->has_answered && gap_log_n_unreported(log) > 0 &&
               g_file_test(log->directory, G_FILE_TEST_IS_DIR) &&
               (!log->failed_since || g_get_monotonic_time() - log->failed_since < STAY);
}

static void gap_log_report(GapLog *log);

static gboolean on_report_timer(gpointer data)
{
        GapLog *log = data;

        log->timer = 0;
        gap_log_report(log);
        log->changed(log->data);
        return G_SOURCE_REMOVE;
}

static void gap_log_hang_up(GapLog *log)
{
        guint i;

        ingest_uplink_disconnect(log->uplink);
        g_clear_handle_id(&log->timer, g_source_remove);
        for (i = 0; i < log->gaps->len; i++)
                ((LoggedGap *)log->gaps->pdata[i])->is_sent = false;
}

static void gap_log_retry_later(GapLog *log, const char *why)
{
        if (!log->failed_since)
                log->failed_since = g_get_monotonic_time();
        if (!log->has_warned)
                g_message("cannot report a process gap to the daemon at %s: %s; trying again",
                          log->ingest, why);
        log->has_warned = true;
        gap_log_hang_up(log);
        log->timer = g_timeout_add(backoff_fail(&log->backoff, 0), on_report_timer, log);
}

static gboolean on_no_answer(gpointer data)
{
        GapLog *log = data;

        log->timer = 0;
        gap_log_retry_later(log, "it does not answer");
        return G_SOURCE_REMOVE;
}

/* The daemon has acknowledged all gaps that were sent and did not change since. */
static void gap_log_take_committed(GapLog *log)
{
        guint i;

        for (i = log->gaps->len; i-- > 0;) {
                LoggedGap *gap = log->gaps->pdata[i];

                if (!gap->is_sent)
                        continue;
                gap->is_sent = false;
                gap->is_reported = true;
                if (gap->end == UINT64_MAX)
                        gap_log_save(log, gap);
                else
                        gap_log_forget(log, i);
        }
        log->has_answered = true;
        log->has_warned = false;
        log->failed_since = 0;
        backoff_reset(&log->backoff);
        gap_log_hang_up(log);
        gap_log_report(log);
        log->changed(log->data);
}

static void gap_log_on_received(void *data)
{
        GapLog *log = data;
        IngestClient *client = ingest_uplink_client(log->uplink);
        IngestClientEvent event;

        do
                event = ingest_client_next(client, NULL);
        while (event != INGEST_CLIENT_NOTHING && event != INGEST_CLIENT_BROKEN &&
               event != INGEST_CLIENT_COMMITTED);
        if (event == INGEST_CLIENT_COMMITTED)
                gap_log_take_committed(log);
        else if (event == INGEST_CLIENT_BROKEN)
                gap_log_retry_later(log, ingest_client_reason(client));
}

static void gap_log_on_gone(void *data)
{
        gap_log_retry_later(data, "it disconnected");
}

/* Sends all gaps as one batch, on a connection of their own. */
static void gap_log_send(GapLog *log)
{
        IngestClient *client = ingest_uplink_client(log->uplink);
        GByteArray *batch = ingest_client_batch(client);
        guint i;

        for (i = 0; i < log->gaps->len; i++) {
                LoggedGap *gap = log->gaps->pdata[i];
                const ProcessGap process_gap = {
                        {gap->target.pid_ns, gap->target.vpid}, gap->begin, gap->end};

                if (gap->is_reported)
                        continue;
                gap->is_sent = true;
                ingest_put_process_gap(batch, &process_gap);
        }
        ingest_client_commit(client, batch->len, /* last= */ NULL);
        log->timer = g_timeout_add_seconds(ACK_S, on_no_answer, log);
        ingest_uplink_send(log->uplink);
}

/* Sends pending reports, if a daemon listens. */
static void gap_log_report(GapLog *log)
{
        static const IngestUplinkCalls CALLS = {gap_log_on_received, gap_log_on_gone};
        int r;

        if (ingest_uplink_is_connected(log->uplink) || !gap_log_n_unreported(log))
                return;
        r = ingest_uplink_connect(log->uplink, log->ingest, /* wait_ms= */ 0);
        if (r < 0) {
                gap_log_retry_later(log, unix_socket_reason(r));
                return;
        }
        ingest_uplink_watch(log->uplink, &CALLS, log);
        gap_log_send(log);
}

/* Schedules a report, outside of the current call. */
static void gap_log_schedule(GapLog *log)
{
        if (!ingest_uplink_is_connected(log->uplink) && !log->timer)
                log->timer = g_idle_add(on_report_timer, log);
}

GapLog *gap_log_new(const char *directory, const char *ingest, void (*changed)(void *data),
                    void *data)
{
        GapLog *log = g_new0(GapLog, 1);
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        const char *name;

        log->directory = g_strdup(directory);
        log->ingest = g_strdup(ingest);
        log->gaps = g_ptr_array_new_with_free_func(g_free);
        log->uplink =
                ingest_uplink_new("clrsym-holder " CLRSYM_VERSION, /* keeps_batches= */ false);
        log->changed = changed;
        log->data = data;
        while (files && (name = g_dir_read_name(files)))
                gap_log_load(log, name);
        g_ptr_array_sort(log->gaps, gap_compare);
        gap_log_prune(log);
        if (gap_log_n_unreported(log))
                gap_log_schedule(log);
        return log;
}

static void gap_log_ignore_change(void *data)
{
}

bool gap_log_free(GapLog *log)
{
        gint64 deadline = g_get_monotonic_time() + END_WAIT;
        bool is_empty;

        if (!log)
                return true;
        log->changed = gap_log_ignore_change;
        gap_log_report(log);
        while (ingest_uplink_is_connected(log->uplink) && g_get_monotonic_time() < deadline) {
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(1000);
        }
        is_empty = gap_log_is_empty(log);
        gap_log_hang_up(log);
        ingest_uplink_free(log->uplink);
        g_ptr_array_unref(log->gaps);
        g_free(log->directory);
        g_free(log->ingest);
        g_free(log);
        return is_empty;
}

const char *gap_log_ingest(const GapLog *log)
{
        return log->ingest;
}

/* The open gap of TARGET; or its empty gap, which only reports that the target is held. */
static LoggedGap *gap_log_find(const GapLog *log, const GapTarget *target, bool is_open)
{
        guint i;

        for (i = 0; i < log->gaps->len; i++) {
                LoggedGap *gap = log->gaps->pdata[i];

                if ((is_open ? gap->end == UINT64_MAX : gap->end == gap->begin) &&
                    gap->target.pid == target->pid &&
                    gap->target.start_ticks == target->start_ticks)
                        return gap;
        }
        return NULL;
}

static LoggedGap *gap_log_add(GapLog *log, const GapTarget *target, uint64_t begin, uint64_t end)
{
        LoggedGap *gap = g_new0(LoggedGap, 1);

        if (log->gaps->len % PRUNE_EVERY == PRUNE_EVERY - 1)
                gap_log_prune(log);
        *gap = (LoggedGap){.target = *target, .begin = begin, .end = end};
        g_ptr_array_add(log->gaps, gap);
        return gap;
}

void gap_log_begin(GapLog *log, const GapTarget *target, uint64_t begin)
{
        if (gap_log_find(log, target, /* is_open= */ true))
                return;
        gap_log_save(log, gap_log_add(log, target, begin, UINT64_MAX));
        gap_log_schedule(log);
}

void gap_log_end(GapLog *log, const GapTarget *target, uint64_t end)
{
        LoggedGap *open = gap_log_find(log, target, /* is_open= */ true);
        LoggedGap *empty = gap_log_find(log, target, /* is_open= */ false);

        if (open) {
                open->end = MAX(end, open->begin);
                open->is_reported = false;
                open->is_sent = false;
                gap_log_save(log, open);
        } else if (empty) {
                empty->begin = empty->end = end;
                empty->is_sent = false;
        } else {
                /* For the daemon, a gap that another holder reported may still be open. */
                gap_log_add(log, target, end, end);
        }
        gap_log_schedule(log);
}
