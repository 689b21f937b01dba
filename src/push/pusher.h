/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pusher: sends profiles to a store, in a thread of its own
 *
 * What waits is bounded, the oldest is dropped first. A profile is sent again only if it is certain
 * that the store has not taken it; so none is stored twice.
 */

#include "push/push-request.h"

#define PUSHER_MAX_BYTES (UINT64_C(32) << 20) /* of profiles that wait */

typedef struct PusherSettings {
        const char *url;   /* that push_url_check() takes; borrowed */
        const char *token; /* for the header Authorization: Bearer; NULL: none; borrowed */
        uint64_t max_bytes;
        /* What happens to profiles; another thread calls it. */
        void (*note)(const char *message, void *data);
        void *data;
} PusherSettings;

typedef struct PusherCounts {
        uint64_t n_sent;
        uint64_t n_refused; /* by the store, as they are */
        uint64_t n_unclear; /* sent, but whether they were taken is not known */
        uint64_t n_dropped; /* not sent: there was no room, or no time at the end */
} PusherCounts;

typedef struct Pusher Pusher;

/* False with ERROR set: the library that sends is not installed. */
bool pusher_is_possible(GError **error);
/* Only if that is possible. */
Pusher *pusher_new(const PusherSettings *settings);
/* Takes ITEM. Does not wait. */
void pusher_add(Pusher *pusher, PushItem *item);
/* Tries for a moment to send what still waits, and frees the pusher. NULL is fine. */
void pusher_free(Pusher *pusher, PusherCounts *ret_counts);
