/* SPDX-License-Identifier: MIT */
#include "cli/perf-event-choice.h"

#include "cli/perf-run.h"
#include "perfdata/event-name.h"
#include "profile/profile.h"

#include <string.h>

/* The event of samples that measure used CPU time, in ns. */
#define CLOCK_EVENT "cpu-clock"

const char *event_shown(const char *event, const char *chosen)
{
        return chosen && !strcmp(chosen, PROFILE_EVENT_WALL) &&
                               (event_name_is(event, CLOCK_EVENT) ||
                                event_name_is(event, OFF_CPU_EVENT))
                       ? chosen
                       : event;
}

/* True if an event is a part of wall time. A program that only waits has no sample of the clock,
 * and a program that only computes has no wait. */
static bool events_are_wall(const GPtrArray *events)
{
        guint i;

        for (i = 0; i < events->len; i++) {
                const char *name = ((const RecordingEvent *)events->pdata[i])->name;

                if (event_shown(name, PROFILE_EVENT_WALL) != name)
                        return true;
        }
        return false;
}

bool event_choose(const EventChoice *choice, GPtrArray *notes, const char **ret_event,
                  GError **error)
{
        const GPtrArray *events = choice->recording->events;
        const RecordingEvent *most = NULL, *preferred = NULL;
        g_autoptr(GString) names = g_string_new(NULL);
        guint i, n = 0;

        *ret_event = choice->wanted;
        if (choice->wanted && !strcmp(choice->wanted, PROFILE_EVENT_WALL) &&
            events_are_wall(events))
                return true;
        for (i = 0; i < events->len; i++) {
                const RecordingEvent *event = g_ptr_array_index(events, i);

                if (g_str_has_prefix(event->name, OSR_COPIES_EVENT))
                        continue;
                g_string_append_printf(names, "%s%s (%" G_GUINT64_FORMAT " samples)",
                                       n++ ? ", " : "", event->name, (guint64)event->n_samples);
                if (choice->wanted && !strcmp(choice->wanted, event->name))
                        return true;
                /* Events of a .nettrace file are in the order of their table. */
                if (!g_strcmp0(event->name, choice->preferred)) {
                        most = preferred = event;
                        continue;
                }
                if (!preferred &&
                    (!most || (event->n_samples > most->n_samples && !choice->is_nettrace)))
                        most = event;
        }
        if (choice->wanted) {
                g_set_error(error, PERF_ERROR, 0, "no event %s in %s; it has: %s", choice->wanted,
                            choice->input, names->len ? names->str : "no events");
                return false;
        }
        if (!most) {
                g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "%s has no samples: record again",
                            choice->input);
                return false;
        }
        if (choice->is_nettrace && strcmp(most->name, PROFILE_EVENT_MANAGED)) {
                g_set_error(error, PERF_ERROR, 0,
                            "%s has no samples of the runtime's sampler, but %s: choose with "
                            "--event",
                            choice->input, names->str);
                return false;
        }
        /* Text names the event of each sample of perf; stacks that are added up need one event. */
        if (n == 1 || choice->is_single || choice->is_nettrace)
                *ret_event = most->name;
        if (n > 1 && *ret_event)
                g_ptr_array_add(notes,
                                g_strdup_printf("of several events only %s is shown; --event NAME "
                                                "shows another: %s",
                                                *ret_event, names->str));
        return true;
}
