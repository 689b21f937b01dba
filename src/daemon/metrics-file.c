/* SPDX-License-Identifier: MIT */
#include "daemon/metrics-file.h"

#include "query/status.h"

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
        bool has_failed; /* and it was logged */
};

/* By rename, so that a reader sees all of this file or all of the one before. */
static void metrics_file_write(MetricsFile *file)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        mode_t umask_before;
        bool ok;

        metrics_append(text, &file->context, &file->totals);
        umask_before = umask(022); /* others are to read it from the first moment on */
        ok = g_file_set_contents_full(file->path, text->str, (gssize)text->len,
                                      G_FILE_SET_CONTENTS_CONSISTENT, 0644, &error);
        umask(umask_before);
        if (!ok && !file->has_failed)
                g_warning("cannot write the metrics: %s", error->message);
        file->has_failed = !ok;
}

/* Counts in turns, because clients are not to wait while many processes are counted. */
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
