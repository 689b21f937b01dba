/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Activity: what the runtimes of a recording did when, by their events: compile, collect garbage
 *
 * A recording without an end has parts: for the time of one part, between activity_begin_part() and
 * activity_end_part(), it is known what came before the end of the part. Markers are cut at the
 * last sample of the part, and of the part before.
 */

#include "cli/perf-profile.h"
#include "clrsym/clrsym.h"
#include "record/recorder.h"

typedef struct Activity Activity;

/* RECORDER: borrowed; its recording is over, unless it has parts. */
Activity *activity_new(const Recorder *recorder, clrsym_style style);
/* NULL is fine. */
void activity_free(Activity *activity);

/* Takes what the runtimes have reported so far: between parts, so that it has no limit to reach. */
void activity_update(Activity *activity);
/* The next part is from BEGIN to END, in ns of CLOCK_MONOTONIC, with the processes of MEMORY, which
 * is borrowed until its end. Waits for the chains of async methods. */
void activity_begin_part(Activity *activity, const JitMemory *memory, uint64_t begin, uint64_t end);
/* Forgets what was before the part. */
void activity_end_part(Activity *activity);

/* Owned by ACTIVITY. */
PerfActivity *activity_frames(Activity *activity);
/* Prints totals to stderr; call it after the samples have been named. */
void activity_print(const Activity *activity);
