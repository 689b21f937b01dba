/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Watch: news for one client, as they are applied
 *
 * Who does not read in time loses them, and is told so once there is room ("resync").
 */

#include "query/query.h"

typedef struct Watch Watch;

/* News of the processes of FILTER that VIEWER sees. */
Watch *watch_new(const Tracker *tracker, const Viewer *viewer, const ProcessFilter *filter);
void watch_free(Watch *watch);

/* As of TrackerObserver. */
void watch_note_body(Watch *watch, const Process *process, const Body *body, bool is_end);
void watch_note_epoch(Watch *watch, const Process *process);

/*
 * Appends what was noted as a reply, with its NUL, or nothing if there is none. IS_FULL: there is
 * no room, and what was noted is lost.
 */
void watch_flush(Watch *watch, bool is_full, GString *out);
