/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Watch: events for one client, about what the tracker applies
 *
 * A client that does not read in time loses events; it gets a "resync" once there is room.
 */

#include "query/query.h"

typedef struct Watch Watch;

/* Events of FILTER's processes that VIEWER sees. */
Watch *watch_new(const Tracker *tracker, const Viewer *viewer, const ProcessFilter *filter);
void watch_free(Watch *watch);
/* Bytes of events that are not in a reply yet. */
size_t watch_size(const Watch *watch);

/* As of TrackerObserver. */
void watch_note_body(Watch *watch, const Process *process, const Body *body, bool is_end);
void watch_note_epoch(Watch *watch, const Process *process);

/*
 * Appends all events so far as one reply, with its NUL; nothing if there are none. IS_FULL: there
 * is no room, and they are lost.
 */
void watch_flush(Watch *watch, bool is_full, GString *out);
