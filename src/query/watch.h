/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Watch: sends one client events about changes in the tracker
 *
 * A client that reads too slowly loses events; once there is room again, it gets a "resync".
 */

#include "query/query.h"

typedef struct Watch Watch;

/* Watches FILTER's processes that VIEWER sees. */
Watch *watch_new(const Tracker *tracker, const Viewer *viewer, const ProcessFilter *filter);
void watch_free(Watch *watch);
/* Bytes of the events for the next reply. */
size_t watch_size(const Watch *watch);

/* As in TrackerObserver. */
void watch_note_body(Watch *watch, const Process *process, const Body *body, bool is_end);
void watch_note_epoch(Watch *watch, const Process *process);

/*
 * Appends all events so far as one reply, with its NUL; nothing without events. IS_FULL: there is
 * no room, so the events are lost.
 */
void watch_flush(Watch *watch, bool is_full, GString *out);
