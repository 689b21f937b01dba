/* SPDX-License-Identifier: MIT */
#include "cli/record-stream.h"

#include "cli/activity.h"
#include "cli/perf-naming.h"
#include "cli/output-form.h"
#include "cli/perf-run.h"
#include "profile/data.h"
#include "profile/summary.h"
#include "push/pusher.h"
#include "push/series-index.h"
#include "util/message.h"
#include "util/runtime-path.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* us. The last events of a part reach the daemon after its last samples. */
#define SETTLE (1500 * G_TIME_SPAN_MILLISECOND)
/* In us: between two looks at the events, when no part is to be named. */
#define UPDATE_INTERVAL (10 * G_TIME_SPAN_SECOND)
/* Parts that wait to be named: with more, the machine is too slow for it, and the oldest go. */
#define MAX_PARTS 8

#define TOKEN_VARIABLE "CLRSYM_PUSH_TOKEN"
#define NS             UINT64_C(1000000000)

typedef struct WaitingPart {
        char *path;          /* owned */
        JitMemory *memory;   /* owned */
        gint64 due;          /* us of g_get_monotonic_time(): when it can be named */
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC: its last sample is before END */
} WaitingPart;

struct RecordStream {
        Options naming;  /* borrowed contents */
        Pusher *pusher;  /* owned; NULL: write files */
        char *directory; /* owned: directory for temporary files */
        GThread *thread; /* NULL: not started */
        GMutex mutex;
        GCond changed;
        GQueue *parts; /* owned WaitingPart, the oldest first */
        bool is_over;
        uint64_t last; /* the end of the newest part, as in WaitingPart */
        uint64_t n_parts, n_profiles, n_failed, n_lost_parts;
        SeriesIndex *index; /* owned */
        /* The thread's: */
        Activity *activity; /* owned; NULL: not begun */
};

/* The processes of one series. */
typedef struct SeriesShare {
        ProcessSeries series; /* owned */
        GHashTable *pids;     /* owned: of its processes */
} SeriesShare;

static void share_free(void *data)
{
        SeriesShare *share = data;

        process_series_clear(&share->series);
        g_hash_table_unref(share->pids);
        g_free(share);
}

static bool share_wants(void *data, int32_t pid)
{
        return g_hash_table_contains(((const SeriesShare *)data)->pids, GINT_TO_POINTER(pid));
}

static void part_free(WaitingPart *part)
{
        unlink(part->path);
        g_free(part->path);
        jit_memory_free(part->memory);
        g_free(part);
}

static void stream_note(const char *message, void *data)
{
        message_print("clrsym", "%s", message);
}

/* Dividing by series */

/* Maps each pid to the last row of its main thread, or else to its first thread. */
static GHashTable *profile_processes(const Profile *profile)
{
        GHashTable *newest = g_hash_table_new(NULL, NULL);
        guint i;

        for (i = 0; i < profile->threads->len; i++) {
                Thread *thread = &g_array_index(profile->threads, Thread, i);
                const Thread *known = g_hash_table_lookup(newest, GINT_TO_POINTER(thread->pid));

                if (!known || thread->tid == thread->pid)
                        g_hash_table_insert(newest, GINT_TO_POINTER(thread->pid), thread);
        }
        return newest;
}

/* Owned SeriesShare by "PROCESS CONTAINER". */
static GHashTable *stream_shares(RecordStream *stream, const Profile *profile)
{
        GHashTable *shares = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, share_free);
        g_autoptr(GHashTable) processes = profile_processes(profile);
        GHashTableIter iter;
        gpointer pid, thread;

        g_hash_table_iter_init(&iter, processes);
        while (g_hash_table_iter_next(&iter, &pid, &thread)) {
                const Thread *one = thread;
                const ProcessSeries *series =
                        series_index_find(stream->index, one->pid, one->newest,
                                          g_array_index(profile->frames, Frame, one->comm).name);
                g_autofree char *key = g_strdup_printf("%s %s", series->process,
                                                       series->container ? series->container : "");
                SeriesShare *share = g_hash_table_lookup(shares, key);

                if (!share) {
                        share = g_new0(SeriesShare, 1);
                        share->series = (ProcessSeries){g_strdup(series->process),
                                                        g_strdup(series->container)};
                        share->pids = g_hash_table_new(NULL, NULL);
                        g_hash_table_insert(shares, g_steal_pointer(&key), share);
                }
                g_hash_table_add(share->pids, pid);
        }
        series_index_end_part(stream->index);
        return shares;
}

/* The bytes of the profile's file; NULL with ERROR set. */
static GBytes *stream_profile_bytes(const RecordStream *stream, const Profile *profile,
                                    const ProfileOptions *options, GError **error)
{
        const bool is_otlp = push_url_kind(stream->naming.push) == PUSH_OTLP;
        g_autofree char *path =
                g_build_filename(stream->directory, is_otlp ? "push.otlp.gz" : "push.pb.gz", NULL);
        char *bytes = NULL;
        gsize n;

        if (!profile_write(profile, path, options, error))
                return NULL;
        if (!g_file_get_contents(path, &bytes, &n, error))
                bytes = NULL;
        unlink(path);
        return bytes ? g_bytes_new_take(bytes, n) : NULL;
}

static void stream_push_share(RecordStream *stream, SeriesShare *share, const Profile *all,
                              const ProfileOptions *options)
{
        g_autoptr(Profile) profile = profile_part(all, share_wants, share);
        const ProfileResource resource = {.process = share->series.process,
                                          .host = g_get_host_name(),
                                          .container = share->series.container};
        g_autoptr(GError) error = NULL;
        ProfileOptions of_series = *options;
        GBytes *bytes;
        Summary summary;
        PushItem *item;
        uint64_t begin;

        of_series.resource = &resource;
        bytes = stream_profile_bytes(stream, profile, &of_series, &error);
        if (!bytes) {
                stream_note(error->message, NULL);
                return;
        }
        summary_init(&summary, profile);
        begin = summary.first + (uint64_t)options->clock_offset;
        item = g_new0(PushItem, 1);
        *item = (PushItem){.series = share->series,
                           .profile = bytes,
                           .from = (int64_t)(begin / NS),
                           .until = (int64_t)((begin + summary.duration) / NS) + 1};
        share->series = (ProcessSeries){NULL, NULL};
        pusher_add(stream->pusher, item);
        stream->n_profiles++;
}

/* A PerfNaming's take(). */
static void stream_push(const Profile *profile, const ProfileOptions *options, void *data)
{
        g_autoptr(GHashTable) shares = stream_shares(data, profile);
        ProfileOptions series = *options;
        GHashTableIter iter;
        gpointer share;

        series.is_series = true;
        g_hash_table_iter_init(&iter, shares);
        while (g_hash_table_iter_next(&iter, NULL, &share))
                stream_push_share(data, share, profile, &series);
}

/* Naming */

/* "DIR/20261123T024100.123Z.pb.gz"; the time is now, the end of the part. */
static char *stream_output(const RecordStream *stream)
{
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        g_autofree char *time = g_date_time_format(now, "%Y%m%dT%H%M%S");
        const char *format = stream->naming.format ? stream->naming.format : "pprof";
        g_autofree char *name =
                g_strdup_printf("%s.%03dZ%s", time, g_date_time_get_microsecond(now) / 1000,
                                output_form_ending(output_form("", format)));

        return g_build_filename(stream->naming.output, name, NULL);
}

/* Makes the directory before each part, because somebody may remove it. */
static bool stream_make_directory(const Options *options, GError **error)
{
        const char *path = options->output;

        if (options->push)
                return true;
        if (g_mkdir_with_parents(path, 0755) < 0)
                g_set_error(error, PERF_ERROR, 0, "cannot make the directory %s: %s", path,
                            g_strerror(errno));
        else if (access(path, W_OK | X_OK) < 0)
                g_set_error(error, PERF_ERROR, 0, "cannot write to the directory %s: %s", path,
                            g_strerror(errno));
        else
                return true;
        return false;
}

static void stream_name(RecordStream *stream, const WaitingPart *part)
{
        g_autofree char *path = stream->pusher ? NULL : stream_output(stream);
        const char *const outputs[] = {path};
        const PerfNaming job = {
                .options = &stream->naming,
                .input = part->path,
                .outputs = outputs,
                .n_outputs = path != NULL,
                .format = stream->naming.format,
                .take = stream->pusher ? stream_push : NULL,
                .data = stream,
                .activity = activity_frames(stream->activity),
                .memory = part->memory,
                .is_own = true,
                .is_quiet = true,
        };
        g_autoptr(GError) error = NULL;

        activity_begin_part(stream->activity, part->memory, part->begin, part->end);
        if (stream_make_directory(&stream->naming, &error) && perf_naming_run(&job, &error)) {
                stream->n_profiles += path != NULL;
        } else if (error && !g_error_matches(error, PERF_ERROR, PERF_NO_SAMPLES)) {
                stream->n_failed++;
                stream_note(error->message, NULL);
        }
        activity_end_part(stream->activity);
}

/* With the mutex, which it gives back meanwhile. */
static void stream_update(RecordStream *stream)
{
        g_mutex_unlock(&stream->mutex);
        activity_update(stream->activity);
        g_mutex_lock(&stream->mutex);
}

/* Call with the mutex locked. The next part that is due; NULL: the recording is over. */
static WaitingPart *stream_await(RecordStream *stream)
{
        for (;;) {
                const WaitingPart *next = g_queue_peek_head(stream->parts);

                if (next && (stream->is_over || next->due <= g_get_monotonic_time()))
                        return g_queue_pop_head(stream->parts);
                if (next)
                        g_cond_wait_until(&stream->changed, &stream->mutex, next->due);
                else if (stream->is_over)
                        return NULL;
                else if (!g_cond_wait_until(&stream->changed, &stream->mutex,
                                            g_get_monotonic_time() + UPDATE_INTERVAL))
                        stream_update(stream);
        }
}

static gpointer stream_run(gpointer data)
{
        RecordStream *stream = data;
        WaitingPart *part;

        g_mutex_lock(&stream->mutex);
        while ((part = stream_await(stream))) {
                g_mutex_unlock(&stream->mutex);
                stream_name(stream, part);
                part_free(part);
                g_mutex_lock(&stream->mutex);
        }
        g_mutex_unlock(&stream->mutex);
        return NULL;
}

/* The token becomes part of a header, where a control character would begin another header. */
static bool stream_check_token(GError **error)
{
        const char *at = runtime_variable(TOKEN_VARIABLE);

        while (at && *at > ' ' && *at < 0x7f)
                at++;
        if (!at || !*at)
                return true;
        g_set_error_literal(error, PERF_ERROR, 0,
                            TOKEN_VARIABLE " has a character that a token cannot have, such as a "
                                           "space or the end of a line: set it to the token alone");
        return false;
}

RecordStream *record_stream_new(const Options *options, GError **error)
{
        RecordStream *stream;

        if (!stream_make_directory(options, error) ||
            (options->push && (!pusher_is_possible(error) || !stream_check_token(error))))
                return NULL;
        stream = g_new0(RecordStream, 1);
        stream->naming = *options;
        /* The names are from this recording's own daemon. */
        stream->naming.given |= OPTION_BIT(OPTION_FORCE);
        stream->parts = g_queue_new();
        stream->index = series_index_new();
        g_mutex_init(&stream->mutex);
        g_cond_init(&stream->changed);
        return stream;
}

void record_stream_begin(RecordStream *stream, const Recorder *recorder)
{
        const char *socket = recorder_socket(recorder);
        const PusherSettings settings = {.url = stream->naming.push,
                                         .token = runtime_variable(TOKEN_VARIABLE),
                                         .max_bytes = PUSHER_MAX_BYTES,
                                         .note = stream_note};

        /* Threads inherit the blocked signals, which the recorder takes. */
        stream->naming.socket = socket;
        stream->directory = g_path_get_dirname(socket);
        stream->activity = activity_new(recorder, stream->naming.style);
        if (stream->naming.push)
                stream->pusher = pusher_new(&settings);
        stream->last = (uint64_t)g_get_monotonic_time() * 1000;
        stream->thread = g_thread_new("name", stream_run, stream);
}

void record_stream_take(const char *path, JitMemory *memory, uint64_t time, void *data)
{
        RecordStream *stream = data;
        WaitingPart *part = g_new0(WaitingPart, 1);

        *part = (WaitingPart){.path = g_strdup(path),
                              .memory = memory,
                              .due = g_get_monotonic_time() + SETTLE,
                              .begin = stream->last,
                              .end = time};
        stream->last = time;
        g_mutex_lock(&stream->mutex);
        stream->n_parts++;
        g_queue_push_tail(stream->parts, part);
        while (g_queue_get_length(stream->parts) > MAX_PARTS) {
                part_free(g_queue_pop_head(stream->parts));
                if (!stream->n_lost_parts++)
                        stream_note("naming is slower than the recording: some intervals are "
                                    "lost; sample less often (--freq)",
                                    NULL);
        }
        g_cond_signal(&stream->changed);
        g_mutex_unlock(&stream->mutex);
}

static void stream_print_end(const RecordStream *stream, const PusherCounts *counts)
{
        const PerfActivity *activity = stream->activity ? activity_frames(stream->activity) : NULL;

        fprintf(stderr, "clrsym: %" G_GUINT64_FORMAT " profiles %s", stream->n_profiles,
                stream->pusher ? "for the store" : "written");
        if (stream->pusher)
                fprintf(stderr,
                        ": %" G_GUINT64_FORMAT " sent, %" G_GUINT64_FORMAT
                        " refused, %" G_GUINT64_FORMAT " without an answer, %" G_GUINT64_FORMAT
                        " not sent",
                        counts->n_sent, counts->n_refused, counts->n_unclear, counts->n_dropped);
        else if (stream->n_failed)
                fprintf(stderr, ", %" G_GUINT64_FORMAT " could not be", stream->n_failed);
        fprintf(stderr, "; %" G_GUINT64_FORMAT " intervals lost\n", stream->n_lost_parts);
        if (!activity)
                return;
        if (activity->n_joined + activity->n_apart)
                fprintf(stderr,
                        "clrsym: %" G_GUINT64_FORMAT
                        " samples are of methods that continue after an await, %" G_GUINT64_FORMAT
                        " of them with the methods that await them\n",
                        activity->n_joined + activity->n_apart, activity->n_joined);
        activity_print(stream->activity);
}

/* True if profiles existed and the store got none; the exit status is 1 then. */
static bool stream_is_in_vain(const RecordStream *stream, const PusherCounts *counts)
{
        if (stream->n_profiles == 0)
                return stream->n_failed > 0;
        return counts->n_sent + counts->n_unclear == 0 && counts->n_refused + counts->n_dropped > 0;
}

bool record_stream_free(RecordStream *stream, GError **error)
{
        PusherCounts counts = {0};
        bool ok;

        if (!stream)
                return true;
        g_mutex_lock(&stream->mutex);
        stream->is_over = true;
        g_cond_signal(&stream->changed);
        g_mutex_unlock(&stream->mutex);
        if (stream->thread)
                g_thread_join(stream->thread);
        pusher_free(stream->pusher, &counts);
        if (stream->n_parts)
                stream_print_end(stream, &counts);
        else
                g_set_error(error, PERF_ERROR, 0, "no interval could be recorded");
        ok = stream->n_parts && !stream_is_in_vain(stream, &counts);
        g_queue_free(stream->parts);
        series_index_free(stream->index);
        activity_free(stream->activity);
        g_mutex_clear(&stream->mutex);
        g_cond_clear(&stream->changed);
        g_free(stream->directory);
        g_free(stream);
        return ok;
}
