/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pusher: sends profiles to a store, in a thread of its own
 *
 * The queue is bounded; the oldest profile is dropped first. A profile is retried only if the store
 * certainly has not accepted it, so none is stored twice.
 */

#include "push/push-request.h"

#define PUSHER_MAX_BYTES (UINT64_C(32) << 20) /* of queued profiles */

typedef struct PusherSettings {
        const char *url;   /* accepted by push_url_check(); borrowed */
        const char *token; /* for the header Authorization: Bearer; NULL: none; borrowed */
        uint64_t max_bytes;
        /* Reports about profiles; called by another thread. */
        void (*note)(const char *message, void *data);
        void *data;
} PusherSettings;

typedef struct PusherCounts {
        uint64_t n_sent;
        uint64_t n_refused; /* rejected by the store */
        uint64_t n_unclear; /* sent, but the store may have rejected it */
        uint64_t n_dropped; /* not sent: the queue was full, or the time was over */
} PusherCounts;

typedef struct Pusher Pusher;

/* False with ERROR set: libcurl is not installed. */
bool pusher_is_possible(GError **error);
/* To be called only if that is possible. */
Pusher *pusher_new(const PusherSettings *settings);
/* Takes ITEM. Never blocks. */
void pusher_add(Pusher *pusher, PushItem *item);
/* Tries for a moment to send queued profiles, and frees the pusher. NULL is fine. */
void pusher_free(Pusher *pusher, PusherCounts *ret_counts);
