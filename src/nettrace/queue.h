/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Queue: events and losses of all threads, sorted by time
 *
 * A stream has the events of one thread after those of another. Events older than the horizon,
 * before which no event will come any more, can be taken out in order. Events of equal times stay
 * in the stream's order; a horizon never separates them.
 */

#include "event/event-counts.h"
#include "event/stream.h"

/* Payloads, kept until the last of their events was taken. */
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
        bool has_version; /* else the event may be of an earlier version */
} NettraceQueued;

typedef struct NettraceQueue {
        GArray *events;  /* owned NettraceQueued, in order from n_taken to n_ready */
        GArray *scratch; /* owned: room for sorting */
        size_t n_taken;  /* events taken, at the begin of `events` */
        size_t n_ready;  /* events older than the horizon, from the begin on */
        GArray *losses;  /* owned StreamGap */
        size_t n_losses_taken;
        uint64_t horizon;  /* ns: no older event will come */
        uint64_t earliest; /* ns: of the events that are not ready */
        uint64_t latest;   /* ns: of all events ever */
        uint64_t last_end; /* ns: of the last loss taken */
        size_t n_bytes;    /* of all its contents */
} NettraceQueue;

void nettrace_queue_init(NettraceQueue *queue);
void nettrace_queue_deinit(NettraceQueue *queue);

/* A copy of N bytes, with one reference, for events to be queued. */
NettraceChunk *nettrace_queue_chunk(NettraceQueue *queue, const uint8_t *bytes, size_t n);
/* Drops a reference. */
void nettrace_queue_release_chunk(NettraceQueue *queue, NettraceChunk *chunk);

/* Adds an event, with a reference to its chunk. The event's time is not before the horizon. */
void nettrace_queue_add(NettraceQueue *queue, const NettraceQueued *event);
/* Most waiting losses; a further loss is merged into the previous one. */
#define NETTRACE_MAX_LOSSES 4096
void nettrace_queue_add_loss(NettraceQueue *queue, const StreamGap *loss);

/* The time, ns, of the last event that is not ready; 0: all are ready. */
uint64_t nettrace_queue_waiting(const NettraceQueue *queue);

/* Makes events older than TIME ready. Losses: those that end by TIME. */
void nettrace_queue_advance(NettraceQueue *queue, uint64_t time);
/* Makes all events ready at the end of the stream. */
void nettrace_queue_flush(NettraceQueue *queue);

/*
 * The next ready event or loss: the one whose RET is not NULL. The ends of losses increase; losses
 * with the same end are merged. An event is valid, with its payload, until the next call.
 */
typedef enum NettraceQueueItem {
        NETTRACE_QUEUE_NONE,
        NETTRACE_QUEUE_EVENT,
        NETTRACE_QUEUE_LOSS,
} NettraceQueueItem;

NettraceQueueItem nettrace_queue_next(NettraceQueue *queue, const NettraceQueued **ret_event,
                                      StreamGap *ret_loss);
const uint8_t *nettrace_queued_payload(const NettraceQueued *event);
