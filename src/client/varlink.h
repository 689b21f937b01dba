/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Varlink: calls and replies on a connection: JSON objects, each followed by a NUL
 */

#include "client/connection.h"
#include "client/message.h"

#include <jansson.h>

#define INTERFACE "org.clrsym.Symbolizer"

/* A reply. Its text is in the connection's buffer until reply_take(). */
typedef struct Reply {
        json_t *parameters; /* owned: an object; NULL with REPLY_TEXT */
        const char *text;   /* the same as text, NUL-terminated */
        size_t n_text;
        json_t *error; /* owned: a string; NULL: none */
        bool continues;
} Reply;

/*
 * METHOD without a dot is a method of INTERFACE. PARAMETERS is a JSON object; FLAG is "more",
 * "upgrade" or NULL.
 */
int varlink_send(Connection *connection, const char *method, const char *parameters,
                 const char *flag, int64_t deadline);

/* The form in which a caller reads the parameters of a reply. */
typedef enum ReplyForm {
        REPLY_TREE,
        REPLY_TEXT, /* text that was checked to be JSON */
} ReplyForm;

/* The next reply; -EAGAIN if it is not complete, -EBADMSG if the bytes are not a reply. */
int varlink_next(Connection *connection, ReplyForm form, Reply *ret);
/* Waits for the next reply. */
int varlink_receive(Connection *connection, int64_t deadline, ReplyForm form, Reply *ret);

/*
 * The tree of the JSON value that is the N bytes at TEXT, which were checked. -EBADMSG: a number or
 * a character is none that the library takes.
 */
int varlink_load(const char *text, size_t n, json_t **ret);

/*
 * Explains an error reply in the message. Returns -EREMOTEIO, or -EINVAL if it is about a
 * parameter.
 */
int reply_explain(const Reply *reply, Message *message);

/* Frees the reply and removes it from the connection's buffer. */
void reply_take(Reply *reply, Connection *connection);
