/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rundown: what follows when a runtime has listed everything that is alive, and when the holder of
 * a process's session reports that it held none
 */

#include "tracker/process.h"

/* The runtime begins a rundown. */
void rundown_begin(Process *process, uint64_t time);
/* It has BODY. */
void rundown_note_body(Process *process, const Body *body);
/*
 * The rundown is complete: jitted code that was known before and is not in it has been unloaded.
 * Code that it has or lacks unexpectedly shows a process gap before it. A rundown of modules
 * without any jitted code is of a tool that asked for no more: nothing follows from it.
 */
void rundown_end(Process *process, uint64_t time);

/*
 * The process gap [BEGIN, END) is reported; END == BODY_FOREVER: it goes on. A rundown in that time
 * no longer counts as complete; one in a gap that goes on counts again if the gap turns out to have
 * ended before it.
 */
void rundown_report_gap(Process *process, uint64_t begin, uint64_t end);

/* The body that the row INCOMING at TIME is of, if that was unloaded before; NULL: it was not. */
Body *rundown_find_unloaded(const Process *process, const Body *incoming, uint64_t time);
/* BODY became known by a rundown's row at TIME. */
void rundown_note_unannounced(Process *process, const Body *body, uint64_t time);
/* The load of BODY, which was known, comes at TIME: it follows the publishing by a moment. */
void rundown_note_load(Process *process, const Body *body, uint64_t time);
