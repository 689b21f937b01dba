/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Limits: how many attachments, and how many bytes that wait, a user's processes may have
 *
 * The last of all attachments are reserved for root, and no other user has more than a share.
 */

#include "attach/worker-account.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* The environment variable with the number of attachments. */
#define LIMIT_VARIABLE "CLRSYM_MAX_ATTACHMENTS"

typedef struct Limits {
        const GPtrArray *attachments; /* borrowed: Attachments */
        unsigned max_attachments;
        WorkerAccount *account; /* owned by the holder; NULL: none is kept */
} Limits;

/* Reads the variable. False with ERROR set: it is not a number that may be. */
bool limits_read(Limits *limits, GError **error);

/* True: root, or the holder's own user. */
bool user_is_privileged(uid_t uid);

/* Attachments of the processes of UID. */
unsigned limits_count(const Limits *limits, uid_t uid);
/*
 * How many attachments the processes of UID may have, if CALLER attaches one more of them. Those
 * that root attaches for a user are no more than what is left for all others: so there is a place
 * for each further user. The reserve is for root's own processes.
 */
unsigned limits_attachments(const Limits *limits, uid_t caller, uid_t uid);

/* Appends a row for each limit, as of wire/hold-request.h. UID NULL: of all users. */
void limits_put(const Limits *limits, json_t *rows, const uid_t *uid);
