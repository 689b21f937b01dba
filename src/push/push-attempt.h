/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Push attempt: one request with one profile, and its outcome
 *
 * The status decides as soon as it has arrived. The rest is only for the message, so a store that
 * never ends its answer, or cuts it off, changes nothing.
 */

#include "push/curl-api.h"
#include "push/push-request.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum PushOutcome {
        PUSH_SENT,
        PUSH_NOT_TAKEN, /* certainly: it can be retried */
        PUSH_UNCLEAR,
        PUSH_REFUSED,
} PushOutcome;

typedef struct PushAttempt {
        const CurlApi *curl;
        const char *url;   /* accepted by push_url_check() */
        const char *token; /* NULL: none */
        long limit;        /* s */
        /* Called once a second: true gives the attempt up. */
        bool (*is_late)(void *data);
        void *data;
} PushAttempt;

typedef struct PushResult {
        PushOutcome outcome;
        int64_t reason;      /* equal for failures with different texts; 0: it was sent */
        char *message;       /* owned: for the user; NULL: it was sent */
        int64_t retry_after; /* s; the store's Retry-After; 0: none */
} PushResult;

/* The meaning of a status for the profile. */
PushOutcome push_outcome_of_status(long status);
/* Advice for the user about STATUS: "; TEXT", or "". LOCATION: the target of a redirection, or
 * NULL. Owned. */
char *push_status_advice(long status, const char *location);

/* The caller frees the message. */
void push_attempt_run(const PushAttempt *attempt, const PushItem *item, PushResult *ret_result);
