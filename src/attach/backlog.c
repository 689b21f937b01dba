/* SPDX-License-Identifier: MIT */
#include "attach/backlog.h"

#include "util/spill.h"

#include <errno.h>

/* Most batches are far smaller. */
#define LARGE_BATCH (1u << 20)

struct Backlog {
        IngestClient *client; /* borrowed */
        BacklogLimits limits;
        GQueue sizes;                         /* sizes of the client's batches */
        size_t n_in_memory;                   /* sum of SIZES */
        Spill *spill;                         /* owned: the later batches, each with its time */
        WorkerShare *share;                   /* borrowed or NULL: share for SPILL */
        BacklogLoss loss;                     /* result for the last batch that was to be spilled */
        uint64_t time;                        /* time of the client's last batch */
        uint64_t n_committed, n_acknowledged; /* batches */
};

Backlog *backlog_new(IngestClient *client, const BacklogLimits *limits)
{
        Backlog *backlog = g_new0(Backlog, 1);

        backlog->client = client;
        backlog->limits = *limits;
        backlog->spill = spill_new(limits->file);
        g_queue_init(&backlog->sizes);
        return backlog;
}

void backlog_free(Backlog *backlog)
{
        g_queue_clear(&backlog->sizes);
        spill_free(backlog->spill);
        g_free(backlog);
}

void backlog_set_share(Backlog *backlog, WorkerShare *share)
{
        backlog->share = share;
}

BacklogLoss backlog_loss(const Backlog *backlog)
{
        return backlog->loss;
}

uint64_t backlog_n_committed(const Backlog *backlog)
{
        return backlog->n_committed;
}

uint64_t backlog_n_acknowledged(const Backlog *backlog)
{
        return backlog->n_acknowledged;
}

static bool backlog_must_wait(const Backlog *backlog)
{
        return !spill_is_empty(backlog->spill) || backlog->n_in_memory > backlog->limits.memory;
}

/* Counts a committed batch of N bytes, with events up to TIME. */
static void backlog_note(Backlog *backlog, size_t n, uint64_t time)
{
        g_queue_push_tail(&backlog->sizes, GSIZE_TO_POINTER(n));
        backlog->n_in_memory += n;
        backlog->time = time;
}

void backlog_commit_frames(Backlog *backlog, const GByteArray *frames, uint64_t time)
{
        ingest_client_commit_frames(backlog->client, frames->data, frames->len);
        backlog_note(backlog, frames->len, time);
        backlog->n_committed++;
}

static BacklogLoss backlog_spill(const Backlog *backlog, const GByteArray *batch, uint64_t time)
{
        switch (worker_share_room(backlog->share, WORKER_KEEPS_FILE, batch->len)) {
        case WORKER_ROOM:
                break;
        case WORKER_TOTAL_FULL:
                return BACKLOG_LOSS_TOTAL;
        case WORKER_USER_FULL:
                return BACKLOG_LOSS_USER;
        }
        switch (spill_put(backlog->spill, batch->data, batch->len, time)) {
        case 0:
                return BACKLOG_LOSS_NONE;
        case -ENOBUFS:
                return BACKLOG_LOSS_PROCESS;
        case -ENOSPC:
                return BACKLOG_LOSS_SPACE;
        default:
                return BACKLOG_LOSS_FILE;
        }
}

bool backlog_commit(Backlog *backlog, uint64_t time)
{
        GByteArray *batch = ingest_client_batch(backlog->client);
        const size_t n = batch->len;

        backlog->loss = BACKLOG_LOSS_NONE;
        if (!backlog_must_wait(backlog)) {
                ingest_client_commit(backlog->client, n, /* last= */ NULL);
                backlog_note(backlog, n, time);
        } else {
                backlog->loss = backlog_spill(backlog, batch, time);
                worker_share_set(backlog->share, WORKER_KEEPS_FILE, spill_n_bytes(backlog->spill));
                ingest_client_drop_batch(backlog->client);
        }
        backlog->n_committed += backlog->loss == BACKLOG_LOSS_NONE;
        return backlog->loss == BACKLOG_LOSS_NONE;
}

void backlog_acknowledged(Backlog *backlog)
{
        backlog->n_in_memory -= GPOINTER_TO_SIZE(g_queue_pop_head(&backlog->sizes));
        backlog->n_acknowledged++;
}

BacklogMove backlog_move(Backlog *backlog, uint64_t *ret_begin, uint64_t *ret_end)
{
        g_autoptr(GByteArray) batch = NULL;
        uint64_t time;
        int r;

        if (spill_is_empty(backlog->spill) || backlog->n_in_memory > backlog->limits.memory / 2)
                return BACKLOG_MOVE_NONE;
        batch = g_byte_array_new();
        r = spill_take(backlog->spill, batch, &time);
        worker_share_set(backlog->share, WORKER_KEEPS_FILE, spill_n_bytes(backlog->spill));
        /* The batch is counted again, or is lost. */
        backlog->n_committed--;
        if (r < 0) {
                *ret_begin = backlog->time;
                *ret_end = time;
                return BACKLOG_MOVE_LOST;
        }
        backlog_commit_frames(backlog, batch, time);
        return BACKLOG_MOVE_DONE;
}

/* Size of the file from which on the next batch may not fit. */
static uint64_t backlog_file_room(const Backlog *backlog)
{
        return backlog->limits.file > LARGE_BATCH ? backlog->limits.file - LARGE_BATCH : 0;
}

/* True if the last batch was lost, and the size of the file was not the reason. */
static bool backlog_cannot_write(const Backlog *backlog)
{
        return backlog->loss > BACKLOG_LOSS_PROCESS;
}

bool backlog_is_full(const Backlog *backlog)
{
        return backlog_must_wait(backlog) &&
               (backlog_cannot_write(backlog) ||
                spill_n_bytes(backlog->spill) > backlog_file_room(backlog));
}

bool backlog_has_room(const Backlog *backlog)
{
        if (!backlog_must_wait(backlog))
                return backlog->n_in_memory <= backlog->limits.memory / 2;
        /* Resume only if a large batch fits into the file. */
        return !backlog_cannot_write(backlog) && backlog_file_room(backlog) > 0 &&
               spill_n_bytes(backlog->spill) <= backlog_file_room(backlog) / 2;
}

bool backlog_is_sent(const Backlog *backlog)
{
        return spill_is_empty(backlog->spill);
}
