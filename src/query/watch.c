/* SPDX-License-Identifier: MIT */
#include "query/watch.h"

#include "query/answer-json.h"

/* Bytes of news of one batch; a batch that has more is no news but another state. */
#define MAX_NOTED (1u << 20)

struct Watch {
        const Tracker *tracker; /* borrowed */
        Viewer viewer;
        ProcessFilter filter;
        GString *events; /* owned: noted, not in a reply yet */
        bool is_lost;    /* some were lost, and that was not said yet */
        bool is_begun;   /* the first reply, which may be without events, was made */
};

static void note(Watch *watch, const char *event, const Process *process, const Body *body)
{
        if (watch->is_lost)
                return;
        if (watch->events->len)
                g_string_append_c(watch->events, ',');
        event_json_append(watch->events, event, process, body);
        if (watch->events->len > MAX_NOTED)
                watch->is_lost = true;
}

/* How things stand: news are about what comes after it. */
static void note_epochs(Watch *watch)
{
        const GPtrArray *processes = tracker_processes(watch->tracker);
        guint i;

        for (i = 0; i < processes->len; i++)
                watch_note_epoch(watch, processes->pdata[i]);
}

Watch *watch_new(const Tracker *tracker, const Viewer *viewer, const ProcessFilter *filter)
{
        Watch *watch = g_new(Watch, 1);

        *watch = (Watch){tracker, *viewer, *filter, g_string_new(NULL), false, false};
        note_epochs(watch);
        return watch;
}

void watch_free(Watch *watch)
{
        if (!watch)
                return;
        g_string_free(watch->events, TRUE);
        g_free(watch);
}

void watch_note_body(Watch *watch, const Process *process, const Body *body, bool is_end)
{
        if (process_filter_matches(&watch->filter, &watch->viewer, process))
                note(watch, is_end ? "unload" : "load", process, body);
}

void watch_note_epoch(Watch *watch, const Process *process)
{
        if (process_filter_matches(&watch->filter, &watch->viewer, process))
                note(watch, "epoch", process, NULL);
}

void watch_flush(Watch *watch, bool is_full, GString *out)
{
        if (is_full) {
                watch->is_lost |= watch->events->len > 0;
                g_string_truncate(watch->events, 0);
                return;
        }
        if (watch->is_lost) {
                watch->is_lost = false;
                g_string_truncate(watch->events, 0);
                note(watch, "resync", NULL, NULL);
                note_epochs(watch);
        }
        if (!watch->events->len && watch->is_begun)
                return;
        watch->is_begun = true;
        g_string_append(out, "{\"parameters\":{\"events\":[");
        g_string_append_len(out, watch->events->str, (gssize)watch->events->len);
        g_string_append(out, "]},\"continues\":true}");
        g_string_append_c(out, '\0');
        g_string_truncate(watch->events, 0);
}
