/* SPDX-License-Identifier: MIT */
#include "cli/link.h"

#include "cli/output.h"
#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>

struct Link {
        clrsym *handle; /* owned */
        GString *reply; /* owned */
};

Link *link_open(const Options *options, LinkFlags flags, GError **error)
{
        g_autoptr(Link) link = g_new0(Link, 1);
        Progress progress;
        const clrsym_options how = {
                .socket = options->socket,
                .trace = options->trace,
                .save = flags & LINK_SAVE ? options->output : NULL,
                .with_jit_events = flags & LINK_JIT_EVENTS,
                .progress = progress_show,
                .data = &progress,
        };
        char *message;
        int r;

        progress_init(&progress, options->trace);
        r = clrsym_open(&link->handle, &how, &message);
        progress_end(&progress);
        if (r < 0) {
                g_set_error(error, LINK_ERROR, 0, "%s", message ? message : g_strerror(-r));
                free(message);
                return NULL;
        }
        link->reply = g_string_new(NULL);
        return g_steal_pointer(&link);
}

void link_free(Link *link)
{
        if (!link)
                return;
        clrsym_close(link->handle);
        if (link->reply)
                g_string_free(link->reply, TRUE);
        g_free(link);
}

clrsym *link_handle(Link *link)
{
        return link->handle;
}

void link_set_error(Link *link, GError **error)
{
        g_set_error(error, LINK_ERROR, 0, "%s", clrsym_message(link->handle));
}

json_t *link_parameters(const Options *options)
{
        json_t *parameters = json_object();

        if (options_has(options, OPTION_PID)) {
                json_object_set_new(parameters, "pid", json_integer(options->process.pid));
                if (options->process.has_pid_ns)
                        json_object_set_new(parameters, "pid_ns",
                                            json_integer((json_int_t)options->process.pid_ns));
        }
        return parameters;
}

static bool call(Link *link, const char *method, json_t *parameters, unsigned flags,
                 unsigned wait_ms, clrsym_reply_fn fn, void *data, GError **error)
{
        char *text = json_dumps(parameters, JSON_COMPACT);
        int r = clrsym_call(link->handle, method, text, flags, wait_ms, fn, data);

        free(text);
        json_decref(parameters);
        if (r < 0)
                link_set_error(link, error);
        return r >= 0;
}

static int keep_reply(const char *parameters, size_t n, void *data)
{
        Link *link = data;

        g_string_append_len(link->reply, parameters, (gssize)n);
        return 0;
}

bool link_call(Link *link, const char *method, json_t *parameters, unsigned wait_ms,
               JsonSpan *ret_parameters, GError **error)
{
        g_string_truncate(link->reply, 0);
        if (!call(link, method, parameters, 0, wait_ms, keep_reply, link, error))
                return false;
        *ret_parameters = (JsonSpan){link->reply->str, link->reply->len};
        return true;
}

/* A list that is being read. */
typedef struct Rows {
        const char *member;
        LinkRowFn fn;
        void *data;
        bool is_missing; /* a reply has no such array */
} Rows;

static int take_rows(const char *parameters, size_t n, void *data)
{
        Rows *rows = data;
        JsonSpan array, row;
        size_t position = 0;

        if (!json_span_member((JsonSpan){parameters, n}, rows->member, &array)) {
                rows->is_missing = true;
                return 1;
        }
        while (json_span_next(array, &position, &row))
                if (!rows->fn(row, rows->data))
                        return 1;
        return 0;
}

bool link_rows(Link *link, const char *method, json_t *parameters, const char *member, LinkRowFn fn,
               void *data, GError **error)
{
        Rows rows = {.member = member, .fn = fn, .data = data};

        if (!call(link, method, parameters, CLRSYM_MORE, 0, take_rows, &rows, error))
                return false;
        if (rows.is_missing)
                g_set_error(error, LINK_ERROR, 0, "the reply has no \"%s\"", member);
        return !rows.is_missing;
}

static bool print_row(JsonSpan row, void *data)
{
        output_line(row.at, row.n);
        return !output_error();
}

bool link_print_rows(Link *link, const char *method, json_t *parameters, const char *member,
                     GError **error)
{
        return link_rows(link, method, parameters, member, print_row, NULL, error);
}

bool link_time(Link *link, const char *text, uint64_t *ret_time, GError **error)
{
        if (clrsym_time(link->handle, text, ret_time) == 0)
                return true;
        link_set_error(link, error);
        return false;
}
