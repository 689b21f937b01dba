/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Activity: what the runtimes of a recording did when, by their events: compile, collect garbage
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
/* Prints to stderr how much of it there was, after the samples have been named. */
void activity_print(const Activity *activity);
