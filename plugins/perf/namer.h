/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Namer: which managed code the frames of a batch were in
 */

#include "batch.h"
#include "perf/counts.h"
#include "frames.h"
#include "settings.h"

typedef struct Namer {
        const Settings *settings; /* borrowed */
        Frames *frames;           /* borrowed */
        Images *images;           /* borrowed */
        clrsym *handle;           /* owned */
        Counts counts;
        unsigned wait_ms;     /* for what is not in yet */
        bool has_exact_clock; /* perf's times are the trace's */
} Namer;

/* Opens what SETTINGS say. RET_MESSAGE, if that fails: why (to be freed; NULL: no memory). */
int namer_init(Namer *namer, const Settings *settings, Frames *frames, Images *images,
               char **ret_message);
void namer_deinit(Namer *namer);

/*
 * Asks about the entry that was added last, of the sample that was added last: WHERE has the
 * address that is looked up for it, PLACE is of what kind that is. False if there is no memory.
 */
bool namer_add(Namer *namer, Batch *batch, const ImagePlace *where, Place place);

/* Names all that was added. Negative on failure; clrsym_message(handle) says more than -ENOMEM. */
int namer_run(Namer *namer, Batch *batch);
