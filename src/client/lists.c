/* SPDX-License-Identifier: MIT */
#include "client/filter.h"
#include "client/handle.h"
#include "client/json-decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A list that is being read; one of the functions is set. */
typedef struct List {
        const char *member; /* the array of its replies */
        clrsym_process_fn process_fn;
        clrsym_body_fn body_fn;
        void *data;
        const char *wrong; /* name of the wrong member of a row or of the reply, or NULL */
} List;

static int take_row(List *list, const json_t *row)
{
        clrsym_process process;
        clrsym_body body;

        list->wrong = list->process_fn ? json_decode_process(row, &process)
                                       : json_decode_body(row, &process, &body);
        if (list->wrong)
                return -EBADMSG;
        return list->process_fn ? list->process_fn(&process, list->data)
                                : list->body_fn(&process, &body, list->data);
}

static int lists_take_rows(const Reply *reply, void *data)
{
        List *list = data;
        const json_t *rows = json_object_get(reply->parameters, list->member);
        size_t i;
        int r = 0;

        if (!json_is_array(rows)) {
                list->wrong = list->member;
                return -EBADMSG;
        }
        for (i = 0; r == 0 && i < json_array_size(rows); i++)
                r = take_row(list, json_array_get(rows, i));
        return r;
}

/* PARAMETERS NULL: there is no memory for them. */
static int list_rows(clrsym *handle, const char *method, const json_t *parameters, List *list)
{
        char *json = parameters ? json_dumps(parameters, JSON_COMPACT) : NULL;
        HandleCall call = {.method = method,
                           .parameters = json,
                           .is_more = true,
                           .fn = lists_take_rows,
                           .data = list};
        int r;

        if (!json)
                return message_set_no_memory(&handle->message);
        r = handle_call(handle, &call);
        free(json);
        if (list->wrong) {
                char detail[64];

                snprintf(detail, sizeof(detail), "%s: \"%s\" makes no sense", method, list->wrong);
                return endpoint_explain(&handle->endpoint, -EBADMSG, detail, &handle->message);
        }
        return r < 0 ? r : call.result;
}

static int lists_ask_bodies(clrsym *handle, const char *method, const json_t *parameters,
                            const char *member, clrsym_body_fn fn, void *data)
{
        List list = {.member = member, .body_fn = fn, .data = data};

        return list_rows(handle, method, parameters, &list);
}

int clrsym_processes(clrsym *handle, clrsym_process_fn fn, void *data)
{
        List list = {.member = "processes", .process_fn = fn, .data = data};
        json_auto_t *parameters = NULL;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        parameters = json_object();
        return handle_end(handle, list_rows(handle, "ListProcesses", parameters, &list));
}

int clrsym_methods(clrsym *handle, const clrsym_filter *filter, clrsym_body_fn fn, void *data)
{
        json_auto_t *parameters = NULL;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        r = filter_parameters(filter, true, &parameters, &handle->message);
        if (r == 0)
                r = lists_ask_bodies(handle, "ListMethods", parameters, "methods", fn, data);
        return handle_end(handle, r);
}

int clrsym_history(clrsym *handle, const clrsym_filter *filter, uint64_t address, clrsym_body_fn fn,
                   void *data)
{
        char text[32];
        json_auto_t *parameters = NULL;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        snprintf(text, sizeof(text), "0x%" PRIx64, address);
        r = filter_parameters(filter, false, &parameters, &handle->message);
        if (r == 0)
                r = filter_add_text(parameters, "addr", text, &handle->message);
        if (r == 0)
                r = lists_ask_bodies(handle, "History", parameters, "bodies", fn, data);
        return handle_end(handle, r);
}

int clrsym_versions(clrsym *handle, const clrsym_filter *filter, const char *method,
                    clrsym_body_fn fn, void *data)
{
        json_auto_t *parameters = NULL;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        r = filter_parameters(filter, false, &parameters, &handle->message);
        if (r == 0)
                r = filter_add_text(parameters, "method", method, &handle->message);
        if (r == 0)
                r = lists_ask_bodies(handle, "Versions", parameters, "bodies", fn, data);
        return handle_end(handle, r);
}
