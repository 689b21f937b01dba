/* SPDX-License-Identifier: MIT */
#include "client/filter.h"
#include "client/row.h"
#include "util/seconds-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Caller {
        clrsym_reply_fn fn;
        void *data;
} Caller;

static int hand_on(const Reply *reply, void *data)
{
        const Caller *caller = data;

        return caller->fn ? caller->fn(reply->text, reply->n_text, caller->data) : 0;
}

/* True for the name of a method: none of its letters ends the JSON string. */
static bool is_method_name(const char *text)
{
        return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789.-_")];
}

static int call_check_method(clrsym *handle, const char *method)
{
        return is_method_name(method)
                       ? 0
                       : message_set(&handle->message, -EINVAL, "%s: no name of a method", method);
}

static int call_make(clrsym *handle, const char *method, const char *parameters, unsigned flags,
                     unsigned wait_ms, clrsym_reply_fn fn, void *data)
{
        Caller caller = {fn, data};
        HandleCall request = {
                .method = method,
                .parameters = parameters,
                .is_more = flags & CLRSYM_MORE,
                .wait_ms = wait_ms,
                .form = REPLY_TEXT,
                .fn = hand_on,
                .data = &caller,
        };
        int r = call_check_method(handle, method);

        if (r == 0)
                r = handle_call(handle, &request);
        return r < 0 ? r : request.result;
}

int clrsym_call(clrsym *handle, const char *method, const char *parameters, unsigned flags,
                unsigned wait_ms, clrsym_reply_fn fn, void *data)
{
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        return handle_end(handle, call_make(handle, method, parameters, flags, wait_ms, fn, data));
}

int clrsym_rows(clrsym *handle, const char *method, const char *parameters, const char *member,
                unsigned wait_ms, clrsym_row_fn fn, void *data)
{
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        r = call_check_method(handle, method);
        if (r == 0)
                r = rows_read(handle, method, parameters, member, wait_ms, fn, data);
        return handle_end(handle, r);
}

static int call_take_time(const Reply *reply, void *data)
{
        const char *text = json_string_value(json_object_get(reply->parameters, "time"));

        return text && seconds_from_text(text, data) ? 0 : -EBADMSG;
}

static int parse_time(clrsym *handle, const char *text, uint64_t *ret_time)
{
        HandleCall request = {.method = "ParseTime", .fn = call_take_time, .data = ret_time};
        json_auto_t *parameters = NULL;
        char *json;
        int r = filter_parameters(NULL, false, &parameters, &handle->message);

        if (r == 0)
                r = filter_add_text(parameters, "text", text, &handle->message);
        if (r < 0)
                return r;
        json = json_dumps(parameters, JSON_COMPACT);
        if (!json)
                return message_set_no_memory(&handle->message);
        request.parameters = json;
        r = handle_call(handle, &request);
        free(json);
        if (r == -EINVAL)
                return message_set(&handle->message, -EINVAL,
                                   "%s: no time: 473.414890639, now, -5s, @UNIXTIME, HH:MM:SS or "
                                   "\"YYYY-MM-DD HH:MM:SS\"",
                                   text);
        if (r == 0 && request.result < 0)
                return endpoint_explain(&handle->endpoint, -EBADMSG, "a reply without a time",
                                        &handle->message);
        return r;
}

int clrsym_time(clrsym *handle, const char *text, uint64_t *ret_time)
{
        int r = handle_begin(handle);

        return r < 0 ? r : handle_end(handle, parse_time(handle, text, ret_time));
}
