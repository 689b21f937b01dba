/* SPDX-License-Identifier: MIT */
#include "service/query-session.h"

#include <string.h>

struct QuerySession {
        QueryContext context;
        GByteArray *input; /* owned: calls that are not answered yet */
        GString *output;   /* owned */
        int64_t deadline;  /* of the call at the head, in ms; 0: it is not waiting */
        bool is_broken;    /* no further input is taken */
};

QuerySession *query_session_new(const QueryContext *context)
{
        QuerySession *session = g_new0(QuerySession, 1);

        session->context = *context;
        session->input = g_byte_array_new();
        session->output = g_string_new(NULL);
        return session;
}

void query_session_free(QuerySession *session)
{
        if (!session)
                return;
        g_byte_array_unref(session->input);
        g_string_free(session->output, TRUE);
        g_free(session);
}

static size_t call_length(const QuerySession *session)
{
        const uint8_t *end = session->input->len
                                     ? memchr(session->input->data, '\0', session->input->len)
                                     : NULL;

        return end ? (size_t)(end - session->input->data) : SIZE_MAX;
}

void query_session_feed(QuerySession *session, const uint8_t *bytes, size_t n)
{
        if (!session->is_broken)
                g_byte_array_append(session->input, bytes, (guint)n);
}

static void refuse_length(QuerySession *session)
{
        g_string_append(session->output,
                        "{\"error\":\"org.clrsym.Symbolizer.LimitExceeded\",\"parameters\":{"
                        "\"limit\":\"1 MiB a call\"}}");
        g_string_append_c(session->output, '\0');
        g_byte_array_set_size(session->input, 0);
        session->is_broken = true;
}

/* Deepest nesting of a call; Resolve needs four. The JSON parser recurses: unbounded, any client
 * could run it out of stack. */
#define MAX_DEPTH 32

/* True if TEXT nests no deeper than MAX_DEPTH, whatever else it may be. */
static bool is_shallow(const char *text, size_t n)
{
        unsigned depth = 0;
        bool in_string = false;
        size_t i;

        for (i = 0; i < n; i++) {
                char c = text[i];

                if (in_string) {
                        if (c == '\\')
                                i++;
                        else if (c == '"')
                                in_string = false;
                } else if (c == '"') {
                        in_string = true;
                } else if (c == '[' || c == '{') {
                        if (++depth > MAX_DEPTH)
                                return false;
                } else if ((c == ']' || c == '}') && depth > 0) {
                        depth--;
                }
        }
        return true;
}

/* Answers the call at the head of the input. False if it is to wait. */
static bool answer(QuerySession *session, size_t n, int64_t now_ms)
{
        unsigned wait_ms;

        if (!is_shallow((const char *)session->input->data, n)) {
                g_string_append(session->output,
                                "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",\"parameters\":{"
                                "\"reason\":\"nested too deeply\"}}");
                g_string_append_c(session->output, '\0');
                g_byte_array_remove_range(session->input, 0, (guint)n + 1);
                return true;
        }
        session->context.is_final = session->deadline && now_ms >= session->deadline;
        wait_ms = query_call(&session->context, (const char *)session->input->data, n,
                             session->output);
        if (wait_ms) {
                if (!session->deadline)
                        session->deadline = now_ms + wait_ms;
                return false;
        }
        session->deadline = 0;
        g_string_append_c(session->output, '\0');
        g_byte_array_remove_range(session->input, 0, (guint)n + 1);
        return true;
}

int query_session_run(QuerySession *session, int64_t now_ms)
{
        size_t n;

        while (!session->is_broken && session->output->len <= QUERY_MAX_OUTPUT) {
                n = call_length(session);
                if ((n == SIZE_MAX ? session->input->len : n) > QUERY_MAX_CALL) {
                        refuse_length(session);
                        break;
                }
                if (n == SIZE_MAX || !answer(session, n, now_ms))
                        break;
        }
        return session->deadline ? (int)MAX(0, session->deadline - now_ms) : -1;
}

bool query_session_is_over(const QuerySession *session)
{
        return session->is_broken;
}

bool query_session_is_partial(const QuerySession *session)
{
        return session->input->len && call_length(session) == SIZE_MAX;
}

bool query_session_wants_input(const QuerySession *session)
{
        return !session->is_broken && session->output->len <= QUERY_MAX_OUTPUT &&
               session->input->len <= QUERY_MAX_CALL;
}

GString *query_session_output(QuerySession *session)
{
        return session->output;
}
