/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rundown: the conclusions from a complete list of living code, and from the reports of a holder
 * that held no session
 */

#include "tracker/process.h"

/* The runtime begins a rundown. */
void rundown_begin(Process *process, uint64_t time);
/* The JIT's settings, just before a rundown begins: it lists jitted code, too, if there is any. A
 * starting program has none. */
void rundown_note_settings(Process *process);
/* The rundown lists BODY. */
void rundown_note_body(Process *process, const Body *body);
/*
 * The rundown is complete: known jitted code that it does not list has been unloaded. Unexpected or
 * missing code shows a process gap before it. Modules without any jitted code, and without the
 * settings: a tool asked for these alone, and nothing follows.
 */
void rundown_end(Process *process, uint64_t time);

/*
 * Reports the process gap [BEGIN, END); END == BODY_FOREVER: the gap is open. A rundown in that
 * time no longer counts as complete. A rundown in an open gap counts again if the gap turns out to
 * have ended before it.
 */
void rundown_report_gap(Process *process, uint64_t begin, uint64_t end);
/*
 * Reports that a holder's session of the process began at TIME. Without an earlier report, rundown
 * or start of the process, the events before TIME come from a session of another tool, which can
 * have ended at any time: reports a gap up to TIME.
 */
void rundown_report_session(Process *process, uint64_t time);

/* The body of the row INCOMING at TIME, if that body was unloaded before; else NULL. */
Body *rundown_find_unloaded(const Process *process, const Body *incoming, uint64_t time);
/* A rundown's row made BODY known at TIME. */
void rundown_note_unannounced(Process *process, const Body *body, uint64_t time);
/* The load of BODY, which was known, comes at TIME, shortly after its publishing. */
void rundown_note_load(Process *process, const Body *body, uint64_t time);
