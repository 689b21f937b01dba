/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Handle: what a struct clrsym is, and how calls are made with it
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
        Connection calls;
        Bulk bulk;
        bool is_busy; /* a function with this handle is under way: a callback may not call another
                       */
};

/*
 * Every function with a handle begins and ends so. Negative, with the message set, if another one
 * is under way.
 */
int handle_begin(clrsym *handle);
int handle_end(clrsym *handle, int r);

/* Gets each reply, which is not an error. Not 0 ends the call. */
typedef int (*HandleReplyFn)(const Reply *reply, void *data);

typedef struct HandleCall {
        const char *method;     /* without a dot: of INTERFACE */
        const char *parameters; /* a JSON object; NULL: an empty one */
        bool is_more;
        unsigned wait_ms; /* what the daemon was told that it may wait */
        HandleReplyFn fn;
        void *data;
        int result; /* returned: of FN, if not 0; then the call returns 0 */
} HandleCall;

/*
 * Calls, once more if the daemon went away meanwhile and no reply had come. Errors are explained;
 * an error reply is -EREMOTEIO, one about a parameter -EINVAL.
 */
int handle_call(clrsym *handle, HandleCall *call);
