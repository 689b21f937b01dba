/* SPDX-License-Identifier: MIT */

/*
 * clrsym resolve
 *
 * Every question gets one line, in order. Questions are gathered as long as more are at hand, up to
 * what one call takes, and asked together; when the next one would have to be waited for, those at
 * hand are asked and their answers flushed. So a person at a terminal, or a program that writes a
 * line and reads the answer, gets it at once, and a file goes through in large calls.
 */

#include "cli/answer-text.h"
#include "cli/filter.h"
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
        /* No line that makes sense is longer; more of it is not kept. */
        MAX_LINE = 1024,
        READ_SIZE = 64 * 1024,
};

typedef struct Resolver {
        Link *link; /* borrowed */
        const Options *options;
        json_t *queries;  /* owned: of the call to be made */
        GPtrArray *slots; /* owned strings by question: its answer if known already, else NULL */
        GString *line;    /* owned: what is printed */
} Resolver;

/* With the members that the daemon's answers have, in their order. */
static void add_invalid(Resolver *resolver, const char *text, const char *reason)
{
        json_t *answer =
                json_pack("{s:n, s:n, s:s, s:n, s:s, s:s, s:n, s:n}", "pid", "pid_ns", "addr", text,
                          "time", "status", clrsym_status_name(CLRSYM_INVALID), "reason", reason,
                          "confidence", "horizon");

        g_ptr_array_add(resolver->slots, json_dumps(answer, JSON_COMPACT));
        json_decref(answer);
}

/* TIME may be NULL. */
static void add_query(Resolver *resolver, const ProcessName *process, const char *address,
                      const char *time)
{
        json_t *query = json_pack("{s:i, s:s}", "pid", (int)process->pid, "addr", address);

        if (process->has_pid_ns)
                json_object_set_new(query, "pid_ns", json_integer((json_int_t)process->pid_ns));
        if (time)
                json_object_set_new(query, "time", json_string(time));
        json_array_append_new(resolver->queries, query);
        g_ptr_array_add(resolver->slots, NULL);
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
        add_query(resolver, &process, fields[first], time);
}

static void print_answer(Resolver *resolver, JsonSpan text)
{
        json_t *answer;

        if (options_has(resolver->options, OPTION_JSON))
                return output_line(text.at, text.n);
        answer = json_span_load(text);
        g_string_truncate(resolver->line, 0);
        answer_text_append(resolver->line, answer);
        output_line(resolver->line->str, resolver->line->len);
        json_decref(answer);
}

/* Asks what was gathered; the answers are borrowed until the next call. */
static bool ask(Resolver *resolver, JsonSpan *ret_answers, GError **error)
{
        unsigned wait_ms = resolver->options->wait_ms;
        json_t *queries = resolver->queries;
        JsonSpan reply;

        *ret_answers = (JsonSpan){"", 0};
        if (!json_array_size(queries))
                return true;
        resolver->queries = json_array();
        if (!link_call(resolver->link, "Resolve",
                       json_pack("{s:i, s:o}", "wait_ms", (int)wait_ms, "queries", queries),
                       wait_ms, &reply, error))
                return false;
        json_span_member(reply, "answers", ret_answers);
        return true;
}

/* Asks, and prints all answers. */
static bool flush(Resolver *resolver, GError **error)
{
        JsonSpan answers, answer;
        size_t position = 0;
        guint i;

        if (!ask(resolver, &answers, error))
                return false;
        for (i = 0; i < resolver->slots->len; i++) {
                const char *known = resolver->slots->pdata[i];

                if (known) {
                        print_answer(resolver, (JsonSpan){known, strlen(known)});
                } else if (json_span_next(answers, &position, &answer)) {
                        print_answer(resolver, answer);
                } else {
                        g_set_error(error, LINK_ERROR, 0, "the reply has too few answers");
                        return false;
                }
        }
        g_ptr_array_set_size(resolver->slots, 0);
        /* What cannot be written is found by the caller; there is no point in asking on. */
        return output_flush();
}

static bool flush_if_full(Resolver *resolver, GError **error)
{
        return resolver->slots->len < CLRSYM_BATCH || flush(resolver, error);
}

/* Lines of input, of which the last may be incomplete. */
typedef struct Input {
        GString *line; /* owned: that last one, cut to MAX_LINE and a byte */
        bool is_open;  /* the last line has begun */
} Input;

static void end_line(Resolver *resolver, Input *input)
{
        g_autofree char *text = g_utf8_make_valid(input->line->str, (gssize)input->line->len);

        if (input->line->len > MAX_LINE)
                add_invalid(resolver, text, "the line is too long");
        else
                add_line(resolver, text);
        g_string_truncate(input->line, 0);
        input->is_open = false;
}

static bool take_input(Resolver *resolver, Input *input, const char *bytes, size_t n,
                       GError **error)
{
        while (n > 0) {
                const char *end = memchr(bytes, '\n', n);
                size_t n_line = end ? (size_t)(end - bytes) : n;
                size_t room = MAX_LINE + 1 - input->line->len;

                g_string_append_len(input->line, bytes, (gssize)MIN(n_line, room));
                input->is_open = true;
                if (!end)
                        return true;
                end_line(resolver, input);
                if (!flush_if_full(resolver, error))
                        return false;
                bytes += n_line + 1;
                n -= n_line + 1;
        }
        return true;
}

static bool resolve_input(Resolver *resolver, GError **error)
{
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *bytes = g_malloc(READ_SIZE);
        Input input = {.line = line};

        for (;;) {
                struct pollfd poll_fd = {.fd = STDIN_FILENO, .events = POLLIN};
                ssize_t n;

                /* Nothing at hand: whoever writes may be waiting for the answers. */
                if (resolver->slots->len && poll(&poll_fd, 1, 0) == 0 && !flush(resolver, error))
                        return false;
                n = read(STDIN_FILENO, bytes, READ_SIZE);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        g_set_error(error, LINK_ERROR, 0, "cannot read stdin: %s",
                                    g_strerror(errno));
                        return false;
                }
                if (n == 0)
                        break;
                if (!take_input(resolver, &input, bytes, (size_t)n, error))
                        return false;
        }
        if (input.is_open)
                end_line(resolver, &input);
        return flush(resolver, error);
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
        return flush(resolver, error);
}

static bool resolve(Link *link, const Options *options, GError **error)
{
        Resolver resolver = {
                .link = link,
                .options = options,
                .queries = json_array(),
                .slots = g_ptr_array_new_with_free_func(free),
                .line = g_string_new(NULL),
        };
        bool ok = *options->arguments ? resolve_arguments(&resolver, error)
                                      : resolve_input(&resolver, error);

        json_decref(resolver.queries);
        g_string_free(resolver.line, TRUE);
        g_ptr_array_unref(resolver.slots);
        return ok;
}

bool verb_resolve(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);

        if (!link)
                return false;
        return options_has(options, OPTION_FILTER) ? filter_run(link, options, error)
                                                   : resolve(link, options, error);
}
