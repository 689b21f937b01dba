/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Activity: when the recorded runtimes compiled methods and collected garbage, from their events
 */

#include "cli/perf-profile.h"
#include "clrsym/clrsym.h"
#include "record/recorder.h"

typedef struct Activity Activity;

/* RECORDER: borrowed; its recording is over. */
Activity *activity_new(const Recorder *recorder, clrsym_style style);
void activity_free(Activity *activity);

/* Owned by ACTIVITY. */
PerfActivity *activity_frames(Activity *activity);
/* Prints totals to stderr; call it after the samples have been named. */
void activity_print(const Activity *activity);
