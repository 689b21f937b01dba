/* SPDX-License-Identifier: MIT */
#include "client/handle.h"

#include <errno.h>

int handle_begin(clrsym *handle)
{
        if (handle->is_busy)
                return message_set(&handle->message, -EBUSY,
                                   "another call with this handle is under way");
        message_clear(&handle->message);
        bulk_release(&handle->bulk);
        if (bulk_is_bloated(&handle->bulk) && !handle->endpoint.is_trace)
                bulk_close(&handle->bulk);
        handle->is_busy = true;
        return 0;
}

int handle_end(clrsym *handle, int r)
{
        handle->is_busy = false;
        return r;
}

/* Reads the remaining replies of a call that the caller has ended. */
static int handle_drain(clrsym *handle)
{
        bool continues;

        do {
                Reply reply;
                int r = varlink_receive(&handle->calls, clock_ms() + UNRESPONSIVE_MS, REPLY_TEXT,
                                        &reply);

                if (r < 0)
                        return r;
                continues = reply.continues;
                reply_take(&reply, &handle->calls);
        } while (continues);
        return 0;
}

/* The caller ended the call before its last reply. The next call opens a new connection to a
 * daemon; the connection to a trace's child cannot be reopened. */
static void end_early(clrsym *handle)
{
        if (!handle->endpoint.is_trace || handle_drain(handle) < 0)
                connection_close(&handle->calls);
}

/* Negative: an error of the connection, which can no longer be used; or -EREMOTEIO, -EINVAL. */
static int take_replies(clrsym *handle, HandleCall *call, bool *ret_is_begun)
{
        bool continues;

        do {
                Reply reply;
                int r = varlink_receive(&handle->calls,
                                        clock_ms() + call->wait_ms + UNRESPONSIVE_MS, call->form,
                                        &reply);

                if (r < 0)
                        return r;
                *ret_is_begun = true;
                continues = reply.continues;
                if (reply.error || (continues && !call->is_more)) {
                        r = reply.error ? reply_explain(&reply, &handle->message) : -EBADMSG;
                        reply_take(&reply, &handle->calls);
                        return r;
                }
                call->result = call->fn(&reply, call->data);
                reply_take(&reply, &handle->calls);
                if (call->result) {
                        if (continues)
                                end_early(handle);
                        return 0;
                }
        } while (continues);
        return 0;
}

static int handle_call_once(clrsym *handle, HandleCall *call, bool *ret_is_begun)
{
        int r = varlink_send(&handle->calls, call->method,
                             call->parameters ? call->parameters : "{}",
                             call->is_more ? "more" : NULL, clock_ms() + UNRESPONSIVE_MS);

        return r < 0 ? r : take_replies(handle, call, ret_is_begun);
}

int handle_call(clrsym *handle, HandleCall *call)
{
        unsigned n_tries;

        call->result = 0;
        for (n_tries = 1;; n_tries++) {
                bool is_begun = false;
                int r = 0;

                if (handle->calls.fd < 0)
                        r = endpoint_connect(&handle->endpoint, &handle->calls,
                                             handle->endpoint.reconnect_ms, &handle->message);
                if (r < 0)
                        return r;
                r = handle_call_once(handle, call, &is_begun);
                if (r == 0 || r == -EREMOTEIO || r == -EINVAL)
                        return r;
                connection_close(&handle->calls);
                if (r == -ECONNRESET && !is_begun && n_tries < MAX_TRIES &&
                    handle->endpoint.reconnect_ms)
                        continue;
                return endpoint_explain(&handle->endpoint, r, NULL, &handle->message);
        }
}
