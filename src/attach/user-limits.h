/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Limits: the attachments and the waiting bytes of a user's processes
 *
 * The last attachments are reserved for root, and every other user has a share.
 */

#include "attach/worker-account.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* The environment variable with the maximum number of attachments. */
#define LIMIT_VARIABLE "CLRSYM_MAX_ATTACHMENTS"

typedef struct Limits {
        const GPtrArray *attachments; /* borrowed: Attachments */
        unsigned max_attachments;
        WorkerAccount *account; /* owned by the holder; NULL: no account */
} Limits;

/* Reads the variable. False with ERROR set: its value is not a valid number. */
bool limits_read(Limits *limits, GError **error);

/* True: root, or the holder's own user. */
bool user_is_privileged(uid_t uid);

/* Attachments of the processes of UID. */
unsigned limits_count(const Limits *limits, uid_t uid);
/*
 * The maximum number of attachments of UID's processes, if CALLER attaches one more of them. Root's
 * attachments for a user never exceed the rest for all others, so each further user gets a place.
 * The reserve is for root's own processes.
 */
unsigned limits_attachments(const Limits *limits, uid_t caller, uid_t uid);

/* Appends a row for each limit, as of wire/hold-request.h. UID NULL: of all users. */
void limits_put(const Limits *limits, json_t *rows, const uid_t *uid);
