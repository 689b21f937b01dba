/* SPDX-License-Identifier: MIT */
#include "daemon/metrics-file.h"

#include "query/status.h"
#include "util/atomic-file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#define TURN_US 5000

struct MetricsFile {
        char *path; /* owned */
        QueryContext context;
        unsigned interval; /* s */
        guint timer;
        guint turn;      /* source, while processes are counted; else 0 */
        Totals totals;   /* so far */
        bool has_failed; /* and the failure was logged */
};

/* Renames, so that a reader sees either the whole new file or the whole old one. */
static int metrics_file_replace(const MetricsFile *file, const GString *text)
{
        g_auto(AtomicFile) output = ATOMIC_FILE_INIT;
        int r = atomic_file_open(&output, file->path);

        /* Other users may read it. */
        if (r == 0 && fchmod(output.fd, 0644) < 0)
                r = -errno;
        if (r == 0)
                r = atomic_file_write(&output, text->str, text->len);
        return r < 0 ? r : atomic_file_commit(&output, /* sync= */ false);
}

static void metrics_file_write(MetricsFile *file)
{
        g_autoptr(GString) text = g_string_new(NULL);
        int r;

        metrics_append(text, &file->context, &file->totals);
        r = metrics_file_replace(file, text);
        if (r < 0 && !file->has_failed) {
                g_autofree char *why = output_path_error(file->path, -r);

                g_warning("cannot write the metrics to %s: %s", file->path, why);
        }
        file->has_failed = r < 0;
}

/* Counts in turns, so that clients do not wait while many processes are counted. */
static gboolean metrics_file_on_turn(gpointer data)
{
        MetricsFile *file = data;

        file->context.turn_end = g_get_monotonic_time() + TURN_US;
        if (!totals_count(&file->totals, &file->context))
                return G_SOURCE_CONTINUE;
        metrics_file_write(file);
        file->turn = 0;
        return G_SOURCE_REMOVE;
}

static gboolean metrics_file_on_timer(gpointer data)
{
        MetricsFile *file = data;

        if (file->turn)
                return G_SOURCE_CONTINUE;
        file->totals = (Totals)TOTALS_INIT;
        file->turn = g_idle_add_full(G_PRIORITY_DEFAULT, metrics_file_on_turn, file, NULL);
        return G_SOURCE_CONTINUE;
}

MetricsFile *metrics_file_new(const char *path, unsigned interval, const QueryContext *context)
{
        MetricsFile *file = g_new(MetricsFile, 1);

        *file = (MetricsFile){.path = g_strdup(path), .interval = interval, .context = *context};
        metrics_file_on_timer(file);
        file->timer = g_timeout_add_seconds(interval, metrics_file_on_timer, file);
        return file;
}

bool metrics_file_is(const MetricsFile *file, const char *path, unsigned interval)
{
        return !g_strcmp0(file->path, path) && file->interval == interval;
}

void metrics_file_free(MetricsFile *file)
{
        if (!file)
                return;
        g_source_remove(file->timer);
        if (file->turn)
                g_source_remove(file->turn);
        g_unlink(file->path);
        g_free(file->path);
        g_free(file);
}
