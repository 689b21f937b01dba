/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Survey: what `clrsym report` must know of a recording before it names anything
 *
 * For each process, how long it was sampled, and some addresses of code that may be managed: they
 * show which process of a trace it is. Written as lines of words:
 *
 *   clock ID                        -1: perf's own
 *   stacks HOW                      frames, dwarf, lbr or none
 *   event SAMPLES NAME
 *   process PID SAMPLES FIRST LAST COMM
 *   address PID ADDRESS TIME        hexadecimal, ns
 */

#include "perf/batch.h"
#include "perf/frames.h"

#include <stdio.h>

typedef struct SurveyProcess SurveyProcess;

typedef struct Survey {
        Frames *frames;           /* borrowed: has the texts */
        SurveyProcess *processes; /* owned */
        size_t n, n_processes;
        SurveyProcess *last; /* the process of the last sample */
        uint64_t *n_samples; /* owned: samples by number of the event's text */
        uint32_t n_events;
        int clock_id;
        const char *stacks; /* static */
} Survey;

void survey_deinit(Survey *survey);

/* The functions return false if there is no memory. */
bool survey_sample(Survey *survey, const BatchSample *sample);
/* For the process of the last sample: an address where managed code may be. */
bool survey_address(Survey *survey, uint64_t address, uint64_t time);
void survey_write(const Survey *survey, FILE *file);
