/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Backlog: the batches of a feeder that the daemon has not acknowledged
 *
 * The ingest client keeps the first batches in memory. Beyond a limit, because the daemon is slow
 * or absent, later batches wait in a file (util/spill.h), in order. If the file or its file system
 * is full, batches are lost, and the feeder reports a gap.
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

/* CLIENT is borrowed and keeps its batches. Only the backlog may commit batches of CLIENT, and none
 * may be in flight. */
Backlog *backlog_new(IngestClient *client, const BacklogLimits *limits);
void backlog_free(Backlog *backlog);

/* Limits the file together with those of other processes: SHARE is borrowed. */
void backlog_set_share(Backlog *backlog, WorkerShare *share);

/* Why a batch was lost. */
typedef enum BacklogLoss {
        BACKLOG_LOSS_NONE,
        BACKLOG_LOSS_PROCESS, /* the file has reached the limit of one process */
        BACKLOG_LOSS_USER,    /* the files of the user's processes have reached theirs */
        BACKLOG_LOSS_TOTAL,   /* the files of all processes have reached theirs */
        BACKLOG_LOSS_SPACE,   /* the file system is nearly full */
        BACKLOG_LOSS_FILE,    /* the file cannot be written */
} BacklogLoss;

/*
 * Commits the client's batch, which has events up to TIME (ns). False: no room, the batch is lost.
 */
bool backlog_commit(Backlog *backlog, uint64_t time);
/* Why the last batch was lost. */
BacklogLoss backlog_loss(const Backlog *backlog);
/* Call this on INGEST_CLIENT_COMMITTED. */
void backlog_acknowledged(Backlog *backlog);

typedef enum BacklogMove {
        BACKLOG_MOVE_NONE, /* nothing waits, or the client is full */
        BACKLOG_MOVE_DONE, /* the client got a batch */
        BACKLOG_MOVE_LOST, /* the batch is unreadable: the host must report the gap now */
} BacklogMove;

/*
 * Gives the client the oldest waiting batch, if it has room. LOST: events between the two times are
 * missing.
 */
BacklogMove backlog_move(Backlog *backlog, uint64_t *ret_begin, uint64_t *ret_end);

/* Commits frames of the host's own, before the waiting batches. TIME as for backlog_move(). */
void backlog_commit_frames(Backlog *backlog, const GByteArray *frames, uint64_t time);

/* The next batch may be lost. */
bool backlog_is_full(const Backlog *backlog);
/* True if a backlog that was full can resume. */
bool backlog_has_room(const Backlog *backlog);
/* True if no batch waits in the file. */
bool backlog_is_sent(const Backlog *backlog);

/* Batches that were committed and not lost, and those of them that the daemon has acknowledged. */
uint64_t backlog_n_committed(const Backlog *backlog);
uint64_t backlog_n_acknowledged(const Backlog *backlog);
