/* SPDX-License-Identifier: MIT */
#include "client/filter.h"
#include "client/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A list that is being received; one of the functions is set. */
typedef struct List {
        clrsym_process_fn process_fn;
        clrsym_body_fn body_fn;
        void *data;
} List;

static int list_take_row(clrsym_row *row, void *data)
{
        const List *list = data;
        clrsym_process process;
        clrsym_body body;
        int r = list->process_fn ? clrsym_row_process(row, &process)
                                 : clrsym_row_body(row, &process, &body);

        if (r < 0)
                return r;
        return list->process_fn ? list->process_fn(&process, list->data)
                                : list->body_fn(&process, &body, list->data);
}

/* PARAMETERS NULL: there is no memory for them. */
static int list_rows(clrsym *handle, const char *method, const json_t *parameters,
                     const char *member, List *list)
{
        char *json = parameters ? json_dumps(parameters, JSON_COMPACT) : NULL;
        int r = json ? rows_read(handle, method, json, member, 0, list_take_row, list)
                     : message_set_no_memory(&handle->message);

        free(json);
        return r;
}

static int lists_ask_bodies(clrsym *handle, const char *method, const json_t *parameters,
                            const char *member, clrsym_body_fn fn, void *data)
{
        List list = {.body_fn = fn, .data = data};

        return list_rows(handle, method, parameters, member, &list);
}

int clrsym_processes(clrsym *handle, clrsym_process_fn fn, void *data)
{
        List list = {.process_fn = fn, .data = data};
        json_auto_t *parameters = NULL;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        parameters = json_object();
        return handle_end(handle,
                          list_rows(handle, "ListProcesses", parameters, "processes", &list));
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
