/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Batch resolver: asks which managed code the frames of a batch were in
 */

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
        clrsym *handle;           /* NULL: no events are known */
        bool owns_handle;
        clrsym_lines *lines;       /* owned; NULL: the settings do not ask for lines */
        const OsrCallers *callers; /* borrowed: that were found in copies of stacks; NULL: none */
        OsrSlots slots;            /* that were found so far */
        StackRoots roots;
        Counts counts;
        bool hides_callers;   /* the machine of the samples does (perf/osr-callers.h) */
        unsigned wait_ms;     /* how long to wait for events that have not arrived yet */
        bool has_exact_clock; /* perf's times are the trace's */
} BatchResolver;

/*
 * HANDLE: borrowed; NULL: the trace or daemon of SETTINGS is opened. On failure RET_MESSAGE is the
 * reason (owned by the caller; NULL: no memory).
 */
int batch_resolver_init(BatchResolver *resolver, const Settings *settings, Frames *frames,
                        Images *images, clrsym *handle, char **ret_message);
void batch_resolver_deinit(BatchResolver *resolver);

/*
 * Adds queries for the entry that was added last: WHERE has its address, KIND is of its mapping.
 * False if there is no memory.
 */
bool batch_resolver_add(BatchResolver *resolver, Batch *batch, const ImageAddress *where,
                        MappingKind kind);

/* Makes ENTRY, which is new, the frame of a caller that is missing. False: no memory. */
bool batch_resolver_set_unknown(BatchResolver *resolver, Entry *entry);

/*
 * Names all entries that were added. Negative on failure; clrsym_message(handle) explains all but
 * -ENOMEM.
 */
int batch_resolver_run(BatchResolver *resolver, Batch *batch);
