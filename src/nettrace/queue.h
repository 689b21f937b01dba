/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Queue: events and losses of all threads, put in the order of their times
 *
 * A stream has the events of one thread after those of another. What is older than the horizon, a
 * time before which nothing more comes, can be taken out in order. Events of equal times stay in
 * the stream's order, and never are one before and one after a horizon.
 */

#include "event/event-counts.h"
#include "event/stream.h"

/* Payloads that live until the last event of them was taken. */
typedef struct NettraceChunk NettraceChunk;

typedef struct NettraceQueued {
        uint64_t time; /* ns */
        const Event *event;
        EventCounts *counts; /* borrowed */
        NettraceChunk *chunk;
        uint32_t offset; /* of its payload in the chunk */
        uint32_t n_payload;
        int32_t pid;
        int32_t tid;
        bool is_later;    /* of a later version than the row */
        bool has_version; /* else an earlier version of the event may be meant */
} NettraceQueued;

typedef struct NettraceQueue {
        GArray *events;  /* owned NettraceQueued, in order from n_taken to n_ready */
        GArray *scratch; /* owned: room for sorting */
        size_t n_taken;  /* at the begin of `events` */
        size_t n_ready;  /* from the begin on: older than the horizon */
        GArray *losses;  /* owned StreamGap */
        size_t n_losses_taken;
        uint64_t horizon;  /* ns: nothing older comes */
        uint64_t earliest; /* of those that are not ready */
        uint64_t latest;   /* of all that ever were in it */
        uint64_t last_end; /* of the last loss that was taken */
        size_t n_bytes;    /* of all that is in it */
} NettraceQueue;

void nettrace_queue_init(NettraceQueue *queue);
void nettrace_queue_deinit(NettraceQueue *queue);

/* A copy of N bytes, with one reference, for events to be queued. */
NettraceChunk *nettrace_queue_chunk(NettraceQueue *queue, const uint8_t *bytes, size_t n);
/* Gives a reference back. */
void nettrace_queue_release_chunk(NettraceQueue *queue, NettraceChunk *chunk);

/* Puts an event in: takes a reference to its chunk. Its time is not before the horizon. */
void nettrace_queue_add(NettraceQueue *queue, const NettraceQueued *event);
/* Beyond so many that wait, a loss becomes a part of the one before it. */
#define NETTRACE_MAX_LOSSES 4096
void nettrace_queue_add_loss(NettraceQueue *queue, const StreamGap *loss);

/* The time, ns, of the last event that is not ready; 0: all are. */
uint64_t nettrace_queue_waiting(const NettraceQueue *queue);

/* Makes ready what is older than TIME. Losses: what ends by TIME. */
void nettrace_queue_advance(NettraceQueue *queue, uint64_t time);
/* Makes everything ready: nothing more comes. */
void nettrace_queue_flush(NettraceQueue *queue);

/*
 * The next event that is ready, or loss: whichever RET is not NULL. Losses end in ever later times;
 * those that end together are one. An event is valid, with its payload, until the next call.
 */
typedef enum NettraceQueueItem {
        NETTRACE_QUEUE_NONE,
        NETTRACE_QUEUE_EVENT,
        NETTRACE_QUEUE_LOSS,
} NettraceQueueItem;

NettraceQueueItem nettrace_queue_next(NettraceQueue *queue, const NettraceQueued **ret_event,
                                      StreamGap *ret_loss);
const uint8_t *nettrace_queued_payload(const NettraceQueued *event);
