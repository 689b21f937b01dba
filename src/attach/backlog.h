/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Backlog: the batches of a feeder that the daemon has not acknowledged
 *
 * The ingest client keeps those that were sent, or would be. While there is more than a limit of
 * them, because the daemon is slow or not there, later ones wait in a file (util/spill.h), in their
 * order. With that full, or its file system, batches are lost: the feeder reports a gap.
 */

#include "attach/worker-account.h"
#include "wire/ingest-client.h"

#include <glib.h>

typedef struct Backlog Backlog;

/* In bytes. */
typedef struct BacklogLimits {
        size_t memory;
        uint64_t file;
} BacklogLimits;

/* CLIENT keeps its batches; borrowed. No batch of it may be in flight, or be committed otherwise.
 */
Backlog *backlog_new(IngestClient *client, const BacklogLimits *limits);
void backlog_free(Backlog *backlog);

/* What the file may have together with those of other processes: SHARE is borrowed. */
void backlog_set_share(Backlog *backlog, WorkerShare *share);

/* Why a batch was lost. */
typedef enum BacklogLoss {
        BACKLOG_LOSS_NONE,
        BACKLOG_LOSS_PROCESS, /* the file has as much as one process may have */
        BACKLOG_LOSS_USER,    /* those of the user's processes have */
        BACKLOG_LOSS_TOTAL,   /* those of all processes have */
        BACKLOG_LOSS_SPACE,   /* the file system is nearly full */
        BACKLOG_LOSS_FILE,    /* the file cannot be written */
} BacklogLoss;

/*
 * Commits the client's batch, which has events up to TIME (ns). False: there is no room, and the
 * batch is lost.
 */
bool backlog_commit(Backlog *backlog, uint64_t time);
/* Why the last batch was lost. */
BacklogLoss backlog_loss(const Backlog *backlog);
/* INGEST_CLIENT_COMMITTED has come. */
void backlog_acknowledged(Backlog *backlog);

typedef enum BacklogMove {
        BACKLOG_MOVE_NONE, /* nothing waits, or the client has enough */
        BACKLOG_MOVE_DONE, /* a batch was given to the client */
        BACKLOG_MOVE_LOST, /* it cannot be read: the host has to report what is missing now */
} BacklogMove;

/*
 * Gives the client the oldest batch that waits, if there is room for it. If that is lost, what is
 * missing lies between the two times.
 */
BacklogMove backlog_move(Backlog *backlog, uint64_t *ret_begin, uint64_t *ret_end);

/* Commits frames of the host's own, before what waits. TIME as for backlog_move(). */
void backlog_commit_frames(Backlog *backlog, const GByteArray *frames, uint64_t time);

/* The next batch may be lost. */
bool backlog_is_full(const Backlog *backlog);
/* After it was full: it is worth the while to begin again. */
bool backlog_has_room(const Backlog *backlog);
/* Nothing waits in the file. */
bool backlog_is_sent(const Backlog *backlog);

/* Batches that were committed and not lost, and how many of them the daemon has acknowledged. */
uint64_t backlog_n_committed(const Backlog *backlog);
uint64_t backlog_n_acknowledged(const Backlog *backlog);
