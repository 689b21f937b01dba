/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Handle: struct clrsym, and calls made with it
 */

#include "client/bulk.h"
#include "client/connection.h"
#include "client/endpoint.h"
#include "client/message.h"
#include "client/varlink.h"
#include "clrsym/clrsym.h"

struct clrsym {
        Endpoint endpoint;
        Message message;
        char *note; /* owned: see clrsym_note() */
        Connection calls;
        Bulk bulk;
        bool is_busy; /* a function with this handle is running: a callback may not call another */
};

/* Each function with a handle begins and ends with these calls. Negative, with the message set, if
 * another function is running. */
int handle_begin(clrsym *handle);
int handle_end(clrsym *handle, int r);

/* Called with each reply that is not an error. A value other than 0 ends the call. */
typedef int (*HandleReplyFn)(const Reply *reply, void *data);

typedef struct HandleCall {
        const char *method;     /* without a dot: a method of INTERFACE */
        const char *parameters; /* a JSON object; NULL: an empty one */
        bool is_more;
        unsigned wait_ms; /* ms that the daemon may wait, as in the parameters */
        ReplyForm form;
        HandleReplyFn fn;
        void *data;
        int result; /* set: FN's result, if it is not 0; then the call returns 0 */
} HandleCall;

/* Calls; retries if the connection was lost before the first reply. The message explains errors; an
 * error reply is -EREMOTEIO, one about a parameter -EINVAL. */
int handle_call(clrsym *handle, HandleCall *call);
