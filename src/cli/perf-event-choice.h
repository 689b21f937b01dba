/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The event of a recording whose samples are shown
 */

#include "cli/perf-recording.h"

typedef struct EventChoice {
        const Recording *recording;
        const char *input;     /* the recording, for messages */
        const char *wanted;    /* the user's choice; NULL: the preferred event, or else the one with
                                * most samples */
        const char *preferred; /* NULL: none */
        bool is_nettrace;      /* the events are kinds of a .nettrace file's samples */
        bool is_single;        /* the output adds up samples, which needs one event */
} EventChoice;

/*
 * Returns the event, borrowed; NULL: all events are shown; PROFILE_EVENT_WALL: OFF_CPU_EVENT and
 * the processor's clock together. NOTES gets a line if other events are left out. False with ERROR
 * set.
 */
bool event_choose(const EventChoice *choice, GPtrArray *notes, const char **ret_event,
                  GError **error);

/* EVENT; or PROFILE_EVENT_WALL if CHOSEN is that and EVENT is a part of it. */
const char *event_shown(const char *event, const char *chosen);
