/* SPDX-License-Identifier: MIT */

/*
 * clrsym resolve
 *
 * Every question gets one line, in order. Questions are collected while input is available, up to
 * the limit of one call, and asked together. Before the next line would have to be waited for, the
 * collected questions are asked and their answers flushed. So a person at a terminal, or a program
 * that writes a line and reads the answer, gets each answer at once, and a file needs few calls.
 */

#include "cli/answers.h"
#include "cli/filter.h"
#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/stdin-reader.h"
#include "cli/verbs.h"

#include <string.h>

enum {
        /* No valid line is longer; the rest of a longer line is dropped. */
        MAX_LINE = 1024,
};

typedef struct Resolver {
        AnswerSource *source; /* borrowed */
        AnswerExtras extras;
        AnswerWait wait;
        const Options *options;
        GArray *questions;   /* owned: AddressQuestion, not asked yet */
        GStringChunk *texts; /* owned: the texts of the questions */
} Resolver;

static const char *resolve_keep_text(Resolver *resolver, const char *text)
{
        return text ? g_string_chunk_insert(resolver->texts, text) : NULL;
}

static void add_invalid(Resolver *resolver, const char *text, const char *reason)
{
        const AddressQuestion question = {.address = resolve_keep_text(resolver, text),
                                          .wrong = reason};

        g_array_append_val(resolver->questions, question);
}

/* TIME may be NULL. */
static void add_question(Resolver *resolver, const ProcessName *process, const char *address,
                         const char *time)
{
        const AddressQuestion question = {*process, resolve_keep_text(resolver, address),
                                          resolve_keep_text(resolver, time), NULL};

        g_array_append_val(resolver->questions, question);
}

static bool is_date(const char *text)
{
        return strlen(text) == 10 && text[4] == '-' && text[7] == '-';
}

/* LINE is valid UTF-8. */
static void add_line(Resolver *resolver, const char *line)
{
        const Options *options = resolver->options;
        g_auto(GStrv) words = g_strsplit_set(line, " \t\r\v\f", -1);
        g_autofree char *date_time = NULL;
        const char *fields[5], *time = options->at;
        ProcessName process = options->process;
        unsigned n = 0, first = options_has(options, OPTION_PID) ? 0 : 1;
        size_t i;

        for (i = 0; words[i]; i++)
                if (*words[i] && n < G_N_ELEMENTS(fields))
                        fields[n++] = words[i];
        if (n == 0)
                return add_invalid(resolver, line, "an empty line");
        if (n < first + 1)
                return add_invalid(resolver, line, "one field: without --pid a line is PID ADDR");
        if (n == first + 3 && is_date(fields[first + 1])) { /* "YYYY-MM-DD HH:MM:SS" */
                date_time = g_strconcat(fields[first + 1], " ", fields[first + 2], NULL);
                fields[first + 1] = date_time;
                n--;
        }
        if (n > first + 2)
                return add_invalid(resolver, line,
                                   first ? "more fields than PID ADDR TIME"
                                         : "more fields than ADDR TIME");
        if (first && !process_name_from_text(fields[0], &process))
                return add_invalid(resolver, fields[1], "not a PID or PIDNS:PID");
        if (n == first + 2)
                time = strcmp(fields[n - 1], "-") != 0 ? fields[n - 1] : NULL;
        add_question(resolver, &process, fields[first], time);
}

/* Asks the collected questions, and prints the answers. */
static bool resolve_flush(Resolver *resolver, GError **error)
{
        const Options *options = resolver->options;
        bool ok = (options_has(options, OPTION_JSON) ? answers_print_json : answers_print_text)(
                resolver->source, &resolver->extras, (const void *)resolver->questions->data,
                resolver->questions->len, &resolver->wait, error);

        g_array_set_size(resolver->questions, 0);
        g_string_chunk_clear(resolver->texts);
        /* The caller reports a failed write; further questions are useless. */
        return ok && output_flush();
}

static bool flush_if_full(Resolver *resolver, GError **error)
{
        return resolver->questions->len < CLRSYM_BATCH || resolve_flush(resolver, error);
}

/* Input in lines; the last may be incomplete. */
typedef struct Input {
        Resolver *resolver; /* borrowed */
        GString *line;      /* owned: the last line, cut to MAX_LINE + 1 bytes */
        bool is_open;       /* the last line has begun */
} Input;

static void input_end_line(Input *input)
{
        g_autofree char *text = g_utf8_make_valid(input->line->str, (gssize)input->line->len);

        if (input->line->len > MAX_LINE)
                add_invalid(input->resolver, text, "the line is too long");
        else
                add_line(input->resolver, text);
        g_string_truncate(input->line, 0);
        input->is_open = false;
}

/* For StdinReader. */
static bool input_take(void *data, const char *bytes, size_t n, GError **error)
{
        Input *input = data;

        while (n > 0) {
                const char *end = memchr(bytes, '\n', n);
                size_t n_line = end ? (size_t)(end - bytes) : n;
                size_t room = MAX_LINE + 1 - input->line->len;

                g_string_append_len(input->line, bytes, (gssize)MIN(n_line, room));
                input->is_open = true;
                if (!end)
                        return true;
                input_end_line(input);
                if (!flush_if_full(input->resolver, error))
                        return false;
                bytes += n_line + 1;
                n -= n_line + 1;
        }
        return true;
}

/* For StdinReader. */
static bool input_before_wait(void *data, GError **error)
{
        Resolver *resolver = ((Input *)data)->resolver;

        return !resolver->questions->len || resolve_flush(resolver, error);
}

static bool resolve_input(Resolver *resolver, GError **error)
{
        static const StdinReader READER = {.take = input_take, .flush = input_before_wait};
        g_autoptr(GString) line = g_string_new(NULL);
        Input input = {.resolver = resolver, .line = line};

        if (!stdin_reader_run(&READER, &input, error))
                return false;
        if (input.is_open)
                input_end_line(&input);
        return resolve_flush(resolver, error);
}

static bool resolve_arguments(Resolver *resolver, GError **error)
{
        char **argument;

        for (argument = resolver->options->arguments; *argument; argument++) {
                g_autofree char *text = g_utf8_make_valid(*argument, -1);

                add_line(resolver, text);
                if (!flush_if_full(resolver, error))
                        return false;
        }
        return resolve_flush(resolver, error);
}

static bool resolve_pending(AnswerSource *source, const Options *options, GError **error)
{
        Resolver resolver = {
                .source = source,
                .options = options,
                .questions = g_array_new(FALSE, FALSE, sizeof(AddressQuestion)),
                .texts = g_string_chunk_new(64 * 1024),
        };
        bool ok;

        if (options_has(options, OPTION_LINES))
                resolver.extras.lines = line_source_new(options);
        if (!options->trace)
                resolver.extras.natives =
                        native_processes_new(answer_source_handle(source), options);
        answer_wait_init(&resolver.wait, options);
        ok = *options->arguments ? resolve_arguments(&resolver, error)
                                 : resolve_input(&resolver, error);
        line_source_free(resolver.extras.lines);
        native_processes_free(resolver.extras.natives);
        g_array_unref(resolver.questions);
        g_string_chunk_free(resolver.texts);
        return ok;
}

bool verb_resolve(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);

        if (!source)
                return false;
        return options_has(options, OPTION_FILTER) ? filter_run(source, options, error)
                                                   : resolve_pending(source, options, error);
}
