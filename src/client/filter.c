/* SPDX-License-Identifier: MIT */
#include "client/filter.h"

#include "client/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

int filter_add_text(json_t *parameters, const char *name, const char *text, Message *message)
{
        if (!utf8_is_text(text, strlen(text))) {
                json_decref(parameters);
                return message_set(message, -EINVAL, "%s: not in UTF-8", text);
        }
        if (json_object_set_new(parameters, name, json_string(text)) == 0)
                return 0;
        json_decref(parameters);
        return message_set_no_memory(message);
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
        char time[32];

        if (filter->all && json_object_set_new(parameters, "all", json_true()))
                return -ENOMEM;
        if (!filter->has_time)
                return 0;
        snprintf(time, sizeof(time), "%" PRIu64 ".%09" PRIu64, filter->time / NS_PER_S,
                 filter->time % NS_PER_S);
        return json_object_set_new(parameters, "time", json_string(time)) ? -ENOMEM : 0;
}

int filter_parameters(const clrsym_filter *filter, bool with_bodies, json_t **ret, Message *message)
{
        int r = 0;

        *ret = NULL;
        if (filter && (filter->pid < 0 || (filter->has_pid_ns && filter->pid_ns > INT64_MAX)))
                return message_set(message, -EINVAL, "there is no process %" PRId32, filter->pid);
        *ret = json_object();
        if (!*ret)
                return message_set_no_memory(message);
        if (filter)
                r = add_process(*ret, filter);
        if (filter && with_bodies && r == 0)
                r = add_bodies(*ret, filter);
        if (r == 0)
                return 0;
        json_decref(*ret);
        *ret = NULL;
        return message_set_no_memory(message);
}
