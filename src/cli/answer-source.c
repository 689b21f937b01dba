/* SPDX-License-Identifier: MIT */
#include "cli/answer-source.h"

#include "cli/output.h"
#include "cli/progress.h"
#include "util/message.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct AnswerSource {
        clrsym *handle; /* owned */
        GString *reply; /* owned */
};

void answer_source_print_note(const char *trace, const char *note)
{
        if (trace && note)
                message_print("clrsym", "%s: %s", trace, note);
}

void answer_source_print_hint(const char *subject, const char *hint)
{
        if (isatty(STDERR_FILENO))
                answer_source_print_note(subject, hint);
}

AnswerSource *answer_source_open(const Options *options, AnswerSourceFlags flags, GError **error)
{
        g_autoptr(AnswerSource) source = g_new0(AnswerSource, 1);
        Progress progress;
        const clrsym_options how = {
                .socket = options->socket,
                .trace = options->trace,
                .save = flags & ANSWER_SOURCE_SAVE ? options->output : NULL,
                .with_jit_events = flags & ANSWER_SOURCE_JIT_EVENTS,
                .progress = progress_show,
                .data = &progress,
                .reconnect_ms = flags & ANSWER_SOURCE_ONCE ? -1 : 0,
        };
        char *message;
        int r;

        progress_init(&progress, options->trace);
        r = clrsym_open(&source->handle, &how, &message);
        progress_end(&progress);
        if (r < 0) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s",
                            message ? message : g_strerror(-r));
                free(message);
                return NULL;
        }
        if (options_has(options, OPTION_VERBOSE))
                answer_source_print_note(options->trace, clrsym_note(source->handle));
        source->reply = g_string_new(NULL);
        return g_steal_pointer(&source);
}

void answer_source_free(AnswerSource *source)
{
        if (!source)
                return;
        clrsym_close(source->handle);
        if (source->reply)
                g_string_free(source->reply, TRUE);
        g_free(source);
}

clrsym *answer_source_handle(AnswerSource *source)
{
        return source->handle;
}

void answer_source_set_error(AnswerSource *source, GError **error)
{
        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s", clrsym_message(source->handle));
}

json_t *answer_source_parameters(const Options *options)
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

static bool answer_source_send_text(AnswerSource *source, const char *method,
                                    const char *parameters, unsigned flags, unsigned wait_ms,
                                    clrsym_reply_fn fn, void *data, GError **error)
{
        int r = clrsym_call(source->handle, method, parameters, flags, wait_ms, fn, data);

        if (r < 0)
                answer_source_set_error(source, error);
        return r >= 0;
}

/* Takes over PARAMETERS. */
static bool answer_source_send(AnswerSource *source, const char *method, json_t *parameters,
                               unsigned flags, unsigned wait_ms, clrsym_reply_fn fn, void *data,
                               GError **error)
{
        char *text = json_dumps(parameters, JSON_COMPACT);
        bool ok = answer_source_send_text(source, method, text, flags, wait_ms, fn, data, error);

        free(text);
        json_decref(parameters);
        return ok;
}

static int keep_reply(const char *parameters, size_t n, void *data)
{
        AnswerSource *source = data;

        g_string_append_len(source->reply, parameters, (gssize)n);
        return 0;
}

bool answer_source_call(AnswerSource *source, const char *method, json_t *parameters,
                        unsigned wait_ms, JsonSpan *ret_parameters, GError **error)
{
        g_string_truncate(source->reply, 0);
        if (!answer_source_send(source, method, parameters, 0, wait_ms, keep_reply, source, error))
                return false;
        *ret_parameters = (JsonSpan){source->reply->str, source->reply->len};
        return true;
}

/* A list while it is read. */
typedef struct Rows {
        const char *member;
        AnswerRowFn fn;
        void *data;
        bool is_missing; /* a reply has no such array */
} Rows;

static int answer_source_take_rows(const char *parameters, size_t n, void *data)
{
        Rows *rows = data;
        JsonSpan array, row;
        size_t position = 0;

        if (!json_span_array((JsonSpan){parameters, n}, rows->member, &array)) {
                rows->is_missing = true;
                return 1;
        }
        while (json_span_next(array, &position, &row))
                if (!rows->fn(row, rows->data))
                        return 1;
        return 0;
}

/* OK: the call was made. */
static bool rows_end(const Rows *rows, bool ok, GError **error)
{
        if (ok && rows->is_missing)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has no \"%s\"", rows->member);
        return ok && !rows->is_missing;
}

bool answer_source_rows(AnswerSource *source, const char *method, json_t *parameters,
                        const char *member, AnswerRowFn fn, void *data, GError **error)
{
        Rows rows = {.member = member, .fn = fn, .data = data};
        bool ok = answer_source_send(source, method, parameters, CLRSYM_MORE, 0,
                                     answer_source_take_rows, &rows, error);

        return rows_end(&rows, ok, error);
}

bool answer_source_resolve(AnswerSource *source, const char *parameters, unsigned wait_ms,
                           AnswerRowFn fn, void *data, GError **error)
{
        Rows rows = {.member = "answers", .fn = fn, .data = data};
        bool ok = answer_source_send_text(source, "Resolve", parameters, CLRSYM_MORE, wait_ms,
                                          answer_source_take_rows, &rows, error);

        return rows_end(&rows, ok, error);
}

static bool print_row(JsonSpan row, void *data)
{
        output_line(row.at, row.n);
        return !output_error();
}

bool answer_source_print_rows(AnswerSource *source, const char *method, json_t *parameters,
                              const char *member, GError **error)
{
        return answer_source_rows(source, method, parameters, member, print_row, NULL, error);
}

bool answer_source_time(AnswerSource *source, const char *text, uint64_t *ret_time, GError **error)
{
        if (clrsym_time(source->handle, text, ret_time) == 0)
                return true;
        answer_source_set_error(source, error);
        return false;
}
