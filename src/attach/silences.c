/* SPDX-License-Identifier: MIT */
#include "attach/silences.h"

#include "attach/target.h"
#include "feed/backoff.h"
#include "feed/channel.h"
#include "wire/ingest.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFIX "silent-"

/* A guess: more than can be attached at a time. */
#define MAX_SILENCES 4096
#define PRUNE_EVERY  256
/* For the daemon to take what it was told: it may be reading a journal. */
#define ANSWER_S 60
/* For a daemon to come back, where there is nothing else to stay for. */
#define STAY (3600 * G_TIME_SPAN_SECOND)
/* At the end. */
#define LAST_WORDS (G_TIME_SPAN_SECOND / 2)

typedef struct Silence {
        SilenceTarget target;
        uint64_t begin, end; /* UINT64_MAX: it goes on */
        bool is_told;        /* as it is */
        bool is_sent;        /* it is as it was when it was sent */
        bool is_kept;        /* it has a file */
} Silence;

struct Silences {
        char *directory, *ingest; /* owned */
        GPtrArray *all;           /* owned Silences, in order */
        Channel *channel;         /* NULL: there is no connection */
        bool has_met;             /* a daemon has taken something */
        bool has_warned;
        gint64 refused_since; /* of g_get_monotonic_time(); 0: it was not */
        Backoff backoff;
        guint timer; /* to try again, to give up waiting, or to begin */
        void (*changed)(void *data);
        void *data;
};

static char *path_of(const Silences *silences, const Silence *silence)
{
        return g_strdup_printf("%s/" PREFIX "%d-%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
                               silences->directory, (int)silence->target.pid,
                               (guint64)silence->target.start_ticks, (guint64)silence->begin);
}

static void save(const Silences *silences, Silence *silence)
{
        g_autofree char *path = path_of(silences, silence);
        g_autofree char *text = g_strdup_printf(
                "%d %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %d\n", silence->target.vpid,
                (guint64)silence->target.pid_ns, (guint64)silence->end, silence->is_told);
        g_autoptr(GError) error = NULL;

        silence->is_kept = true;
        if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
                g_warning("%s", error->message);
}

static void forget(Silences *silences, guint i)
{
        const Silence *silence = silences->all->pdata[i];
        g_autofree char *path = path_of(silences, silence);

        if (silence->is_kept)
                g_unlink(path);
        g_ptr_array_remove_index(silences->all, i);
}

static bool is_over(const Silence *silence)
{
        uint64_t ticks;
        char state;

        return !target_state(silence->target.pid, &state, &ticks) ||
               ticks != silence->target.start_ticks;
}

/* One that has been told, of a target that is there no more, is of no use. */
static void prune(Silences *silences)
{
        guint i;

        for (i = silences->all->len; i-- > 0;) {
                const Silence *silence = silences->all->pdata[i];

                if (silence->is_told && is_over(silence))
                        forget(silences, i);
        }
        while (silences->all->len >= MAX_SILENCES)
                forget(silences, 0);
}

static void load(Silences *silences, const char *name)
{
        g_autofree char *path = g_build_filename(silences->directory, name, NULL), *text = NULL;
        unsigned long long ticks, begin, pid_ns, end;
        int pid, vpid, is_told, n = 0;
        Silence *silence;

        if (sscanf(name, PREFIX "%d-%llu-%llu%n", &pid, &ticks, &begin, &n) != 3 || name[n] ||
            !g_file_get_contents(path, &text, NULL, NULL))
                return;
        if (sscanf(text, "%d %llu %llu %d", &vpid, &pid_ns, &end, &is_told) != 4 || begin > end) {
                g_unlink(path);
                return;
        }
        silence = g_new0(Silence, 1);
        *silence = (Silence){.target = {pid, ticks, vpid, pid_ns},
                             .begin = begin,
                             .end = end,
                             .is_told = is_told,
                             .is_kept = true};
        g_ptr_array_add(silences->all, silence);
}

static gint by_begin(gconstpointer a, gconstpointer b)
{
        const Silence *x = *(Silence *const *)a, *y = *(Silence *const *)b;

        return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static unsigned n_untold(const Silences *silences)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < silences->all->len; i++)
                n += !((const Silence *)silences->all->pdata[i])->is_told;
        return n;
}

bool silences_is_pending(const Silences *silences)
{
        return silences->has_met && n_untold(silences) > 0 &&
               (!silences->refused_since ||
                g_get_monotonic_time() - silences->refused_since < STAY);
}

static void begin_telling(Silences *silences);

static gboolean on_timer(gpointer data)
{
        Silences *silences = data;

        silences->timer = 0;
        begin_telling(silences);
        silences->changed(silences->data);
        return G_SOURCE_REMOVE;
}

static void hang_up(Silences *silences)
{
        guint i;

        g_clear_pointer(&silences->channel, channel_free);
        g_clear_handle_id(&silences->timer, g_source_remove);
        for (i = 0; i < silences->all->len; i++)
                ((Silence *)silences->all->pdata[i])->is_sent = false;
}

static void try_later(Silences *silences, const char *why)
{
        hang_up(silences);
        if (!silences->refused_since)
                silences->refused_since = g_get_monotonic_time();
        if (!silences->has_warned)
                g_message("cannot tell the daemon at %s that a process was not held: %s; it is "
                          "tried again",
                          silences->ingest, why);
        silences->has_warned = true;
        silences->timer = g_timeout_add(backoff_fail(&silences->backoff, 0), on_timer, silences);
}

static gboolean on_silence(gpointer data)
{
        Silences *silences = data;

        silences->timer = 0;
        try_later(silences, "it does not answer");
        return G_SOURCE_REMOVE;
}

/* All that was sent and is as it was is known to the daemon. */
static void take_committed(Silences *silences)
{
        guint i;

        for (i = silences->all->len; i-- > 0;) {
                Silence *silence = silences->all->pdata[i];

                if (!silence->is_sent)
                        continue;
                silence->is_sent = false;
                silence->is_told = true;
                if (silence->end == UINT64_MAX)
                        save(silences, silence);
                else
                        forget(silences, i);
        }
        silences->has_met = true;
        silences->has_warned = false;
        silences->refused_since = 0;
        backoff_reset(&silences->backoff);
        hang_up(silences);
        begin_telling(silences);
        silences->changed(silences->data);
}

static void on_input(void *data)
{
        Silences *silences = data;
        GByteArray *input = channel_input(silences->channel);
        IngestFrame frame;
        ssize_t n;

        while ((n = ingest_frame_next(input->data, input->len, &frame)) > 0) {
                if (frame.type == INGEST_COMMITTED) {
                        take_committed(silences);
                        return;
                }
                if (frame.type == INGEST_ERROR) {
                        g_autofree char *reason = ingest_get_error(&frame);

                        try_later(silences, reason);
                        return;
                }
                g_byte_array_remove_range(input, 0, (guint)n);
        }
        if (n < 0)
                try_later(silences, "what answers is no clrsymd");
}

static void on_closed(void *data)
{
        try_later(data, "it has hung up");
}

/* -1 with errno. */
static int connect_to(const char *path)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd;

        if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
            sizeof(address.sun_path)) {
                errno = ENAMETOOLONG;
                return -1;
        }
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        close(fd);
        return -1;
}

/* All in one batch, on a connection that is for nothing else. */
static void send_all(Silences *silences)
{
        GByteArray *output = channel_output(silences->channel);
        guint i;

        ingest_put_hello(output, INGEST_VERSION, "clrsym-holder " CLRSYM_VERSION);
        for (i = 0; i < silences->all->len; i++) {
                Silence *silence = silences->all->pdata[i];
                const IngestProcessGap gap = {{silence->target.pid_ns, silence->target.vpid},
                                              silence->begin,
                                              silence->end};

                if (silence->is_told)
                        continue;
                silence->is_sent = true;
                ingest_put_process_gap(output, &gap);
        }
        ingest_put_empty(output, INGEST_COMMIT);
        silences->timer = g_timeout_add_seconds(ANSWER_S, on_silence, silences);
        channel_flush(silences->channel);
}

static void begin_telling(Silences *silences)
{
        static const ChannelCalls CALLS = {on_input, on_closed};
        int fd;

        if (silences->channel || !n_untold(silences))
                return;
        fd = connect_to(silences->ingest);
        if (fd < 0) {
                try_later(silences, g_strerror(errno));
                return;
        }
        silences->channel = channel_new(fd, &CALLS, silences);
        send_all(silences);
}

/* Something is to be told: soon, and not from within a call. */
static void tell(Silences *silences)
{
        if (!silences->channel && !silences->timer)
                silences->timer = g_idle_add(on_timer, silences);
}

Silences *silences_new(const char *directory, const char *ingest, void (*changed)(void *data),
                       void *data)
{
        Silences *silences = g_new0(Silences, 1);
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        const char *name;

        silences->directory = g_strdup(directory);
        silences->ingest = g_strdup(ingest);
        silences->all = g_ptr_array_new_with_free_func(g_free);
        silences->changed = changed;
        silences->data = data;
        while (files && (name = g_dir_read_name(files)))
                if (g_str_has_prefix(name, PREFIX))
                        load(silences, name);
        g_ptr_array_sort(silences->all, by_begin);
        prune(silences);
        if (n_untold(silences))
                tell(silences);
        return silences;
}

static void ignore(void *data)
{
}

void silences_free(Silences *silences)
{
        gint64 deadline = g_get_monotonic_time() + LAST_WORDS;

        if (!silences)
                return;
        silences->changed = ignore;
        begin_telling(silences);
        while (silences->channel && g_get_monotonic_time() < deadline) {
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(1000);
        }
        hang_up(silences);
        g_ptr_array_unref(silences->all);
        g_free(silences->directory);
        g_free(silences->ingest);
        g_free(silences);
}

/* One that goes on; else one that says no more than that the target is held. */
static Silence *find_one(const Silences *silences, const SilenceTarget *target, bool is_open)
{
        guint i;

        for (i = 0; i < silences->all->len; i++) {
                Silence *silence = silences->all->pdata[i];

                if ((is_open ? silence->end == UINT64_MAX : silence->end == silence->begin) &&
                    silence->target.pid == target->pid &&
                    silence->target.start_ticks == target->start_ticks)
                        return silence;
        }
        return NULL;
}

static Silence *add(Silences *silences, const SilenceTarget *target, uint64_t begin, uint64_t end)
{
        Silence *silence = g_new0(Silence, 1);

        if (silences->all->len % PRUNE_EVERY == PRUNE_EVERY - 1)
                prune(silences);
        *silence = (Silence){.target = *target, .begin = begin, .end = end};
        g_ptr_array_add(silences->all, silence);
        return silence;
}

void silences_begin(Silences *silences, const SilenceTarget *target, uint64_t begin)
{
        if (find_one(silences, target, true))
                return;
        save(silences, add(silences, target, begin, UINT64_MAX));
        tell(silences);
}

void silences_end(Silences *silences, const SilenceTarget *target, uint64_t end)
{
        Silence *silence = find_one(silences, target, true);
        Silence *word = find_one(silences, target, false);

        if (silence) {
                silence->end = MAX(end, silence->begin);
                silence->is_told = false;
                silence->is_sent = false;
                save(silences, silence);
        } else if (word) {
                word->begin = word->end = end;
                word->is_sent = false;
        } else {
                /* Another holder may have told of one that is not over. */
                add(silences, target, end, end);
        }
        tell(silences);
}
