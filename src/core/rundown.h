/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rundown: what it means that a runtime has listed everything that is alive
 */

#include "core/process.h"

/* The listing begins. */
void rundown_begin(Process *process, uint64_t time);
/*
 * It is complete: what was compiled before and is not in it is gone. What it lists or lacks may
 * prove that the process was silent for a while before.
 */
void rundown_end(Process *process, uint64_t time);

/*
 * In [BEGIN, END) the process is told to have been silent; BODY_FOREVER: it still is. Rundowns in
 * that time are no longer taken for complete; those of a time that has not ended, until it has.
 */
void rundown_tell_silence(Process *process, uint64_t begin, uint64_t end);

/* BODY became known by a row at TIME. */
void rundown_note_stranger(Process *process, const Body *body, uint64_t time);
/* BODY, which was known, was loaded at TIME: its load follows its publishing by a moment. */
void rundown_note_load(Process *process, const Body *body, uint64_t time);
