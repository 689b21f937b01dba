/* SPDX-License-Identifier: MIT */
#pragma once

/* Batch resolver: finds the managed code of a batch's frames */

#include "perf/batch.h"
#include "perf/frames.h"
#include "perf/counts.h"
#include "perf/osr-callers.h"
#include "perf/settings.h"
#include "perf/stack-roots.h"

typedef struct BatchResolver {
        const Settings *settings; /* borrowed */
        Frames *frames;           /* borrowed */
        Images *images;           /* borrowed */
        clrsym *handle;           /* NULL: no events; images name the frames */
        bool owns_handle;
        clrsym_lines *lines;       /* owned; NULL: the settings do not ask for lines */
        const OsrCallers *callers; /* borrowed: the callers found in copies of stacks; NULL: none */
        OsrSlots slots;            /* the slots seen so far */
        StackRoots roots;
        Counts counts;
        bool hides_callers;   /* on the machine of the samples (perf/osr-callers.h) */
        unsigned wait_ms;     /* timeout for events that have not arrived yet */
        bool has_exact_clock; /* perf and the trace use the same clock */
} BatchResolver;

/*
 * HANDLE: borrowed; NULL: this function opens the trace or daemon of SETTINGS. On failure
 * RET_MESSAGE is the reason (owned by the caller; NULL: no memory).
 */
int batch_resolver_init(BatchResolver *resolver, const Settings *settings, Frames *frames,
                        Images *images, clrsym *handle, char **ret_message);
void batch_resolver_deinit(BatchResolver *resolver);

/*
 * Adds queries for the entry that was added last. WHERE is its address, KIND the kind of its
 * mapping. False: no memory.
 */
bool batch_resolver_add(BatchResolver *resolver, Batch *batch, const ImageAddress *where,
                        MappingKind kind);

/* Makes ENTRY, a new entry, the frame of an unknown caller. False: no memory. */
bool batch_resolver_set_unknown(BatchResolver *resolver, Entry *entry);

/*
 * Names all entries that were added. Negative on failure; clrsym_message(handle) explains all but
 * -ENOMEM.
 */
int batch_resolver_run(BatchResolver *resolver, Batch *batch);
