/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Push attempt: one request with one profile, and what became of it
 *
 * The status decides as soon as it is there. What follows it is of use only for the message, so a
 * store that never ends its answer, or that is cut off in it, changes nothing.
 */

#include "push/curl-api.h"
#include "push/push-request.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum PushOutcome {
        PUSH_SENT,
        PUSH_NOT_TAKEN, /* certainly: it can be sent again */
        PUSH_UNCLEAR,
        PUSH_REFUSED,
} PushOutcome;

typedef struct PushAttempt {
        const CurlApi *curl;
        const char *url;   /* that push_url_check() takes */
        const char *token; /* NULL: none */
        long limit;        /* in s */
        /* Asked about once a second: is the attempt to be given up? */
        bool (*is_late)(void *data);
        void *data;
} PushAttempt;

typedef struct PushResult {
        PushOutcome outcome;
        int64_t reason;      /* equal for failures that differ only in their texts; 0: it is sent */
        char *message;       /* owned: for the user; NULL: it is sent */
        int64_t retry_after; /* in s, as the store wants it; 0: it does not say */
} PushResult;

/* What a status says about the profile. */
PushOutcome push_outcome_of_status(long status);
/* What the user can do about STATUS: "; TEXT", or "". LOCATION: where it points to, or NULL. Owned.
 */
char *push_status_advice(long status, const char *location);

/* The caller frees the message. */
void push_attempt_run(const PushAttempt *attempt, const PushItem *item, PushResult *ret_result);
