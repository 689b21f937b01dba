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
        return g_steal_pointer(&source);
}

void answer_source_free(AnswerSource *source)
{
        if (!source)
                return;
        clrsym_close(source->handle);
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

static int answer_source_take_reply(const char *parameters, size_t n, void *data)
{
        *(json_t **)data = json_loadb(parameters, n, 0, NULL);
        return 0;
}

json_t *answer_source_call(AnswerSource *source, const char *method, const Options *options,
                           GError **error)
{
        json_auto_t *parameters = options ? answer_source_parameters(options) : json_object();
        char *text = json_dumps(parameters, JSON_COMPACT);
        json_t *reply = NULL;

        if (clrsym_call(source->handle, method, text, 0, 0, answer_source_take_reply, &reply) < 0)
                answer_source_set_error(source, error);
        else if (!reply)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply to %s makes no sense",
                            method);
        free(text);
        return reply;
}

static int answer_source_print_reply(const char *parameters, size_t n, void *data)
{
        output_line(parameters, n);
        return 0;
}

bool answer_source_print(AnswerSource *source, const char *method, GError **error)
{
        int r = clrsym_call(source->handle, method, NULL, 0, 0, answer_source_print_reply, NULL);

        if (r < 0)
                answer_source_set_error(source, error);
        return r >= 0;
}

static bool source_rows_of_text(AnswerSource *source, const char *method, const char *parameters,
                                const char *member, unsigned wait_ms, clrsym_row_fn fn, void *data,
                                GError **error)
{
        int r = clrsym_rows(source->handle, method, parameters, member, wait_ms, fn, data);

        if (r < 0)
                answer_source_set_error(source, error);
        return r >= 0;
}

bool answer_source_rows(AnswerSource *source, const char *method, json_t *parameters,
                        const char *member, clrsym_row_fn fn, void *data, GError **error)
{
        char *text = json_dumps(parameters, JSON_COMPACT);
        bool ok = source_rows_of_text(source, method, text, member, 0, fn, data, error);

        free(text);
        json_decref(parameters);
        return ok;
}

bool answer_source_resolve(AnswerSource *source, const char *parameters, unsigned wait_ms,
                           clrsym_row_fn fn, void *data, GError **error)
{
        return source_rows_of_text(source, "Resolve", parameters, "answers", wait_ms, fn, data,
                                   error);
}

int answer_source_print_row(clrsym_row *row, void *data)
{
        size_t n;
        const char *json = clrsym_row_json(row, &n);

        output_line(json, n);
        return output_error() ? 1 : 0;
}

bool answer_source_print_rows(AnswerSource *source, const char *method, json_t *parameters,
                              const char *member, GError **error)
{
        return answer_source_rows(source, method, parameters, member, answer_source_print_row, NULL,
                                  error);
}

bool answer_source_time(AnswerSource *source, const char *text, uint64_t *ret_time, GError **error)
{
        if (clrsym_time(source->handle, text, ret_time) == 0)
                return true;
        answer_source_set_error(source, error);
        return false;
}
