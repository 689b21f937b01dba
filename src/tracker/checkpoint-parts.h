/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Checkpoint parts: a process, its process gaps and its code map, as items
 */

#include "tracker/checkpoint-io.h"
#include "tracker/process.h"

/* Writing: all items that belong to a process; they follow its own item. */
void checkpoint_put_process(CheckpointIo *io, Process *process);
/* Reading: the rest of an item with that tag, which belongs to PROCESS. */
void checkpoint_get_process(CheckpointIo *io, CheckpointTag tag, Process *process);

/* The same for its code map. */
void checkpoint_put_code_map(CheckpointIo *io, CodeMap *map);
void checkpoint_get_code_map(CheckpointIo *io, CheckpointTag tag, CodeMap *map, uint32_t n_modules);

/* The same for its process gaps. */
void checkpoint_put_process_gaps(CheckpointIo *io, ProcessGaps *gaps);
void checkpoint_get_process_gaps(CheckpointIo *io, ProcessGaps *gaps);
void checkpoint_get_process_gap(CheckpointIo *io, ProcessGaps *gaps, bool is_reported);
void checkpoint_get_unannounced(CheckpointIo *io, ProcessGaps *gaps);

/* Fields. */
void checkpoint_gap(CheckpointIo *io, Gap *gap);
void checkpoint_rundown(CheckpointIo *io, Rundown *rundown);
/* TARGET has a name; put its names before the item. */
void checkpoint_put_target_names(CheckpointIo *io, const StubTarget *target);
void checkpoint_stub_target(CheckpointIo *io, StubTarget *target);
/* A map or NULL; when reading, the caller owns a new one. */
void checkpoint_il_map(CheckpointIo *io, IlMap **map);
