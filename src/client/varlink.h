/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Varlink: calls and replies on a connection, JSON objects that end with a NUL
 */

#include "client/connection.h"
#include "client/message.h"

#include <jansson.h>

#define INTERFACE "org.clrsym.Symbolizer"

/* A reply as it came. It lies in the connection's buffer until reply_take(). */
typedef struct Reply {
        json_t *parameters; /* owned: an object */
        const char *text;   /* the same as it was written, NUL-terminated */
        size_t n_text;
        json_t *error; /* owned: a string; NULL: none */
        bool continues;
} Reply;

/*
 * METHOD without a dot is one of INTERFACE. PARAMETERS is a JSON object; FLAG is "more", "upgrade"
 * or NULL.
 */
int varlink_send(Connection *connection, const char *method, const char *parameters,
                 const char *flag, int64_t deadline);

/* The next reply, if it is here whole: else -EAGAIN. -EBADMSG: it is none. */
int varlink_next(Connection *connection, Reply *ret);
/* Waits for it. */
int varlink_receive(Connection *connection, int64_t deadline, Reply *ret);

/* An error reply in words; returns -EREMOTEIO, or -EINVAL if it is about a parameter. */
int reply_explain(const Reply *reply, Message *message);

/* The reply is done with. */
void reply_take(Reply *reply, Connection *connection);
