/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Record source: what `clrsym record` takes from the runtime instead of perf's samples
 */

#include "attach/eventpipe-session.h"

typedef struct RecordSource {
        const char *name;  /* of --sampler */
        const char *event; /* of the samples: see perf-nettrace.h */
        EventPipeSamples samples;
        const char *nothing; /* why there may be no samples */
} RecordSource;

/* NULL: no source has that name. Static. */
const RecordSource *record_source_find(const char *name);
