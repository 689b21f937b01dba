/* SPDX-License-Identifier: MIT */
#include "query/watch.h"

#include "query/answer-json.h"

/*
 * Maximum of bytes of a batch of events. A larger batch has changed most of the state: the client
 * has to start again.
 */
#define MAX_NOTED (1u << 20)

struct Watch {
        const Tracker *tracker; /* borrowed */
        Viewer viewer;
        ProcessFilter filter;
        GString *events; /* owned: events for the next reply */
        size_t n_state;  /* bytes of the state at the start of `events` */
        bool is_lost;    /* events were lost, and the client does not know that yet */
        bool is_begun;   /* the first reply was made, possibly without events */
};

static bool is_watched(const Watch *watch, const Process *process)
{
        return process_filter_matches(&watch->filter, &watch->viewer, process);
}

static void watch_put(Watch *watch, const char *event, const Process *process, const Body *body)
{
        if (watch->events->len)
                g_string_append_c(watch->events, ',');
        event_json_append(watch->events, event, process, body);
}

static void watch_note(Watch *watch, const char *event, const Process *process, const Body *body)
{
        if (watch->is_lost || !is_watched(watch, process))
                return;
        watch_put(watch, event, process, body);
        if (watch->events->len - watch->n_state > MAX_NOTED)
                watch->is_lost = true;
}

/*
 * Appends the initial state: an epoch event of each process. The state is never dropped, whatever
 * its length.
 */
static void watch_put_state(Watch *watch)
{
        const GPtrArray *processes = tracker_processes(watch->tracker);
        guint i;

        for (i = 0; i < processes->len; i++)
                if (is_watched(watch, processes->pdata[i]))
                        watch_put(watch, "epoch", processes->pdata[i], NULL);
        watch->n_state = watch->events->len;
}

static void watch_clear(Watch *watch)
{
        g_string_truncate(watch->events, 0);
        watch->n_state = 0;
}

Watch *watch_new(const Tracker *tracker, const Viewer *viewer, const ProcessFilter *filter)
{
        Watch *watch = g_new(Watch, 1);

        *watch = (Watch){.tracker = tracker,
                         .viewer = *viewer,
                         .filter = *filter,
                         .events = g_string_new(NULL)};
        watch_put_state(watch);
        return watch;
}

void watch_free(Watch *watch)
{
        if (!watch)
                return;
        g_string_free(watch->events, TRUE);
        g_free(watch);
}

size_t watch_size(const Watch *watch)
{
        return watch->events->len;
}

void watch_note_body(Watch *watch, const Process *process, const Body *body, bool is_end)
{
        watch_note(watch, is_end ? "unload" : "load", process, body);
}

void watch_note_epoch(Watch *watch, const Process *process)
{
        watch_note(watch, "epoch", process, NULL);
}

void watch_flush(Watch *watch, bool is_full, GString *out)
{
        if (is_full) {
                watch->is_lost |= watch->events->len > 0;
                watch_clear(watch);
                return;
        }
        if (watch->is_lost) {
                watch->is_lost = false;
                watch_clear(watch);
                watch_put(watch, "resync", NULL, NULL);
                watch_put_state(watch);
        }
        if (!watch->events->len && watch->is_begun)
                return;
        watch->is_begun = true;
        g_string_append(out, "{\"parameters\":{\"events\":[");
        g_string_append_len(out, watch->events->str, (gssize)watch->events->len);
        g_string_append(out, "]},\"continues\":true}");
        g_string_append_c(out, '\0');
        watch_clear(watch);
}
