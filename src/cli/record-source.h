/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Record source: events of the runtime that `clrsym record` takes instead of perf's samples
 */

#include "attach/eventpipe-session.h"

typedef struct RecordSource {
        const char *name;  /* argument of --sampler */
        const char *event; /* event of the samples: see perf-nettrace.h */
        EventPipeSamples samples;
        const char *nothing; /* possible reason if there are no samples */
} RecordSource;

/* NULL: no source has that name. Static. */
const RecordSource *record_source_find(const char *name);
