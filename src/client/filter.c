/* SPDX-License-Identifier: MIT */
#include "client/filter.h"

#include "client/sized.h"
#include "util/seconds-text.h"
#include "util/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Bytes of clrsym_filter in version 0.2. */
#define FILTER_FIRST (offsetof(clrsym_filter, time) + sizeof(uint64_t))

int filter_add_text(json_t *parameters, const char *name, const char *text, Message *message)
{
        if (!utf8_is_text(text, strlen(text)))
                return message_set(message, -EINVAL, "%s: not in UTF-8", text);
        if (json_object_set_new(parameters, name, json_string(text)) < 0)
                return message_set_no_memory(message);
        return 0;
}

static int add_process(json_t *parameters, const clrsym_filter *filter)
{
        if (filter->pid && json_object_set_new(parameters, "pid", json_integer(filter->pid)))
                return -ENOMEM;
        if (filter->has_pid_ns &&
            json_object_set_new(parameters, "pid_ns", json_integer((json_int_t)filter->pid_ns)))
                return -ENOMEM;
        return 0;
}

static int add_bodies(json_t *parameters, const clrsym_filter *filter)
{
        char time[SECONDS_TEXT_SIZE];

        if (filter->all && json_object_set_new(parameters, "all", json_true()))
                return -ENOMEM;
        if (!filter->has_time)
                return 0;
        seconds_to_text(filter->time, time);
        return json_object_set_new(parameters, "time", json_string(time)) ? -ENOMEM : 0;
}

int filter_parameters(const clrsym_filter *given, bool with_bodies, json_t **ret, Message *message)
{
        json_auto_t *parameters = NULL;
        clrsym_filter known;
        const clrsym_filter *filter = given ? &known : NULL;
        int r = 0;

        if (given)
                r = sized_read(&known, sizeof(known), FILTER_FIRST, given, given->size);
        if (r < 0)
                return message_set(message, r,
                                   "a filter of %zu bytes, or of a later version of libclrsym",
                                   given->size);
        if (filter && (filter->pid < 0 || (filter->has_pid_ns && filter->pid_ns > INT64_MAX)))
                return message_set(message, -EINVAL, "there is no process %" PRId32, filter->pid);
        parameters = json_object();
        if (!parameters)
                return message_set_no_memory(message);
        if (filter)
                r = add_process(parameters, filter);
        if (filter && with_bodies && r == 0)
                r = add_bodies(parameters, filter);
        if (r < 0)
                return message_set_no_memory(message);
        *ret = json_incref(parameters);
        return 0;
}
