/* SPDX-License-Identifier: MIT */
#include "client/handle.h"
#include "client/sized.h"
#include "wire/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ms; the longest time between two calls of the progress function, which can end the reading. */
#define PROGRESS_MS 200

/* Bytes of clrsym_options in version 0.2. */
#define OPTIONS_FIRST (offsetof(clrsym_options, reconnect_ms) + sizeof(int))

/* A trace that is being read. */
typedef struct Reading {
        clrsym *handle;
        const clrsym_options *options;
        uint64_t n_read, n_total;
} Reading;

static int report_progress(const Reading *reading)
{
        const clrsym_options *options = reading->options;

        if (!options->progress ||
            options->progress(reading->n_read, reading->n_total, options->data) == 0)
                return 0;
        return message_set(&reading->handle->message, -ECANCELED, "%s: reading it was cancelled",
                           options->trace);
}

/* Receives the next reply. After a signal it calls the progress function, so that the caller can
 * react. */
static int open_receive(Reading *reading, Reply *ret_reply)
{
        clrsym *handle = reading->handle;

        for (;;) {
                struct pollfd poll_fd = {.fd = handle->calls.fd, .events = POLLIN};
                int r = varlink_next(&handle->calls, REPLY_TREE, ret_reply);

                if (r == -EAGAIN) {
                        if (poll(&poll_fd, 1, PROGRESS_MS) <= 0) {
                                r = report_progress(reading);
                                if (r < 0)
                                        return r;
                                continue;
                        }
                        r = connection_receive_some(&handle->calls);
                        if (r == 0 || r == -EAGAIN)
                                continue;
                }
                return r == 0 ? 0 : endpoint_explain(&handle->endpoint, r, NULL, &handle->message);
        }
}

static int open_take_reply(Reading *reading, const Reply *reply)
{
        const json_t *n_read = json_object_get(reply->parameters, "read");
        const json_t *n_total = json_object_get(reply->parameters, "total");
        const char *note = json_string_value(json_object_get(reply->parameters, "note"));

        if (reply->error) {
                const char *why = json_string_value(json_object_get(reply->parameters, "message"));

                return message_set(&reading->handle->message, -EIO, "%s",
                                   why ? why : json_string_value(reply->error));
        }
        if (note && !reading->handle->note) {
                reading->handle->note = strdup(note);
                if (!reading->handle->note)
                        return message_set_no_memory(&reading->handle->message);
        }
        if (json_integer_value(n_read) >= 0 && json_integer_value(n_total) >= 0) {
                reading->n_read = (uint64_t)json_integer_value(n_read);
                reading->n_total = (uint64_t)json_integer_value(n_total);
        }
        return report_progress(reading);
}

static int read_trace(clrsym *handle, const clrsym_options *options)
{
        Reading reading = {.handle = handle, .options = options};
        bool continues;
        int r;

        r = varlink_send(&handle->calls, "ReadTrace", "{}", "more", clock_ms() + UNRESPONSIVE_MS);
        if (r < 0)
                return endpoint_explain(&handle->endpoint, r, NULL, &handle->message);
        do {
                Reply reply;

                r = open_receive(&reading, &reply);
                if (r < 0)
                        return r;
                continues = reply.continues && !reply.error;
                r = open_take_reply(&reading, &reply);
                reply_take(&reply, &handle->calls);
                if (r < 0)
                        return r;
        } while (continues);
        return 0;
}

static int open_trace(clrsym *handle, const clrsym_options *options)
{
        int fds[TRACE_CHILD_FDS];
        int r = trace_child_start(&handle->endpoint.child, options, fds, &handle->message);

        if (r < 0)
                return r;
        connection_adopt(&handle->calls, fds[0]);
        connection_adopt(&handle->bulk.connection, fds[1]);
        return read_trace(handle, options);
}

int clrsym_open(clrsym **ret, const clrsym_options *options, char **ret_message)
{
        clrsym_options known = {0};
        clrsym *handle = malloc(sizeof(*handle));
        int r;

        *ret = NULL;
        if (ret_message)
                *ret_message = NULL;
        if (!handle)
                return -ENOMEM;
        *handle = (clrsym){.calls = CONNECTION_NONE, .bulk = BULK_NONE};
        r = options ? sized_read(&known, sizeof(known), OPTIONS_FIRST, options, options->size) : 0;
        if (r < 0)
                message_set(&handle->message, r,
                            "options of %zu bytes, or of a later version of libclrsym",
                            options->size);
        else
                r = endpoint_init(&handle->endpoint, &known, &handle->message);
        if (r == 0 && handle->endpoint.is_trace)
                r = open_trace(handle, &known);
        else if (r == 0)
                r = endpoint_connect(&handle->endpoint, &handle->calls, 0, &handle->message);
        if (r < 0) {
                if (ret_message)
                        *ret_message = strdup(message_text(&handle->message));
                clrsym_close(handle);
                return r;
        }
        *ret = handle;
        return 0;
}

void clrsym_close(clrsym *handle)
{
        if (!handle)
                return;
        connection_close(&handle->calls);
        bulk_deinit(&handle->bulk);
        endpoint_deinit(&handle->endpoint);
        message_clear(&handle->message);
        free(handle->note);
        free(handle);
}

const char *clrsym_message(const clrsym *handle)
{
        return message_text(&handle->message);
}

const char *clrsym_note(const clrsym *handle)
{
        return handle->note;
}

const char *clrsym_version(void)
{
        return CLRSYM_VERSION;
}

unsigned clrsym_bulk_version(void)
{
        return BULK_VERSION;
}
