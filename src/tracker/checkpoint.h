/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Checkpoint: all knowledge of a tracker, as bytes
 *
 * The journal begins a file with a checkpoint, so that a restarted daemon need not replay its whole
 * input. Writer and reader are the same machine: numbers are in its byte order. Two trackers with
 * the same input in the same order have equal checkpoints.
 */

#include "tracker/checkpoint-layout.h"
#include "tracker/tracker.h"

/* Takes N bytes of whole items. False stops the writing. */
typedef bool (*CheckpointTake)(void *data, const uint8_t *bytes, size_t n);

/*
 * Hands the checkpoint to TAKE, piece by piece, in order. False if TAKE returned false, or if there
 * is no memory. May be called in a forked child: it takes no locks but malloc's.
 */
bool checkpoint_write(const Tracker *tracker, CheckpointTake take, void *data);

typedef struct CheckpointReader CheckpointReader;

/* TRACKER is borrowed and must be empty. */
CheckpointReader *checkpoint_reader_new(Tracker *tracker);

/*
 * Takes a piece; give the pieces in the order of TAKE. False if this or an earlier piece is
 * invalid: then the tracker can only be reset or freed.
 */
bool checkpoint_reader_take(CheckpointReader *reader, const uint8_t *bytes, size_t n);

/* Frees the reader. True if the checkpoint was complete and the tracker has all of it. */
bool checkpoint_reader_finish(CheckpointReader *reader);
