/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Checkpoint: everything that a tracker knows, as bytes
 *
 * The journal begins a file with a checkpoint, so that a restarted daemon need not replay
 * everything that it was ever fed. The bytes are of one machine for the same machine: numbers are
 * in its byte order. Two trackers that learned the same in the same order have equal checkpoints.
 */

#include "tracker/checkpoint-layout.h"
#include "tracker/tracker.h"

/* Takes N bytes, which are whole items. Returns false to stop the writing. */
typedef bool (*CheckpointTake)(void *data, const uint8_t *bytes, size_t n);

/*
 * Hands the checkpoint to TAKE, piece by piece, in order. Returns false as soon as TAKE does, or if
 * there is no memory. May be called in a forked child: it takes no locks but malloc's.
 */
bool checkpoint_write(const Tracker *tracker, CheckpointTake take, void *data);

typedef struct CheckpointReader CheckpointReader;

/* TRACKER is borrowed and must know nothing yet. */
CheckpointReader *checkpoint_reader_new(Tracker *tracker);

/*
 * Takes a piece; pieces come in the order in which they were handed out. Returns false if this or
 * an earlier piece is not of a checkpoint: then the tracker can only be reset or freed.
 */
bool checkpoint_reader_take(CheckpointReader *reader, const uint8_t *bytes, size_t n);

/* Frees the reader. True if the checkpoint was whole and the tracker knows everything in it. */
bool checkpoint_reader_finish(CheckpointReader *reader);
