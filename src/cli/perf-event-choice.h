/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The event of a recording whose samples are shown
 */

#include "cli/perf-recording.h"

typedef struct EventChoice {
        const Recording *recording;
        const char *input;     /* the recording, for messages */
        const char *wanted;    /* by the user; NULL: the preferred one, or that with most samples */
        const char *preferred; /* NULL: none */
        bool is_nettrace;      /* events are kinds of a .nettrace file's samples */
        bool is_single;        /* samples are added up, which needs one event */
} EventChoice;

/*
 * The event, borrowed, or NULL: all are shown. PROFILE_EVENT_WALL: those of OFF_CPU_EVENT and of
 * the processor's clock together. NOTES gets a line if others are left out. False with ERROR set.
 */
bool event_choose(const EventChoice *choice, GPtrArray *notes, const char **ret_event,
                  GError **error);

/* EVENT, or PROFILE_EVENT_WALL if CHOSEN is that and EVENT is one of its parts. */
const char *event_shown(const char *event, const char *chosen);
