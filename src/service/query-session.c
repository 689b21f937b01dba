/* SPDX-License-Identifier: MIT */
#include "service/query-session.h"

#include "query/bulk.h"
#include "query/watch.h"

#include <string.h>

/* us after which others have their turn. A client may send thousands of calls at once, and each may
 * look through all there is. */
#define TURN_US 10000

struct QuerySession {
        QueryContext context;
        GByteArray *input; /* owned */
        size_t n_taken;    /* of it: answered */
        GString *output;   /* owned */
        QueryProgress progress;
        int64_t deadline; /* of the call at the head, in ms; 0: it is not waiting */
        bool is_broken;   /* no further input is taken */
        Bulk *bulk;       /* owned or NULL: binary frames from now on */
        Watch *watch;     /* owned or NULL: news from now on */
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
        bulk_free(session->bulk);
        watch_free(session->watch);
        g_byte_array_unref(session->input);
        g_string_free(session->output, TRUE);
        g_free(session);
}

static const uint8_t *head(const QuerySession *session)
{
        return session->input->data + session->n_taken;
}

static size_t n_left(const QuerySession *session)
{
        return session->input->len - session->n_taken;
}

/* Of the call at the head, without its NUL. */
static size_t call_length(const QuerySession *session)
{
        const uint8_t *end = n_left(session) ? memchr(head(session), '\0', n_left(session)) : NULL;

        return end ? (size_t)(end - head(session)) : SIZE_MAX;
}

void query_session_feed(QuerySession *session, const uint8_t *bytes, size_t n)
{
        if (!session->is_broken)
                g_byte_array_append(session->input, bytes, (guint)n);
}

static void end(QuerySession *session)
{
        session->n_taken = session->input->len;
        session->is_broken = true;
}

static void refuse_length(QuerySession *session)
{
        query_append_error(session->output, "org.clrsym.Symbolizer.LimitExceeded", "limit",
                           "1 MiB a call");
        g_string_append_c(session->output, '\0');
        end(session);
}

static void wait_until(QuerySession *session, int64_t now_ms, unsigned wait_ms)
{
        if (!session->deadline)
                session->deadline = now_ms + wait_ms;
}

static bool is_final(const QuerySession *session, int64_t now_ms)
{
        return session->context.is_final || (session->deadline && now_ms >= session->deadline);
}

/* Answers the call at the head of the input. False if that is not (wholly) done. */
static bool answer_call(QuerySession *session, int64_t now_ms)
{
        size_t n = call_length(session), n_before = session->output->len;
        QueryContext context = session->context;
        QueryNext next;

        if ((n == SIZE_MAX ? n_left(session) : n) > QUERY_MAX_CALL) {
                refuse_length(session);
                return false;
        }
        if (n == SIZE_MAX)
                return false;
        context.is_final = is_final(session, now_ms);
        next = query_call(&context, (const char *)head(session), n, &session->progress,
                          session->output);
        if (session->output->len > n_before)
                g_string_append_c(session->output, '\0');
        if (next == QUERY_WAIT) {
                wait_until(session, now_ms, session->progress.wait_ms);
                return false;
        }
        session->deadline = 0;
        if (next == QUERY_MORE)
                return true;
        if (next == QUERY_BULK)
                session->bulk = bulk_new(&session->context, session->progress.bulk_version);
        if (next == QUERY_WATCH)
                session->watch = watch_new(session->context.tracker, &session->context.viewer,
                                           &session->progress.filter);
        session->progress = (QueryProgress){0};
        session->n_taken += n + 1;
        return true;
}

static bool answer_frame(QuerySession *session, int64_t now_ms)
{
        unsigned wait_ms;
        ssize_t n = bulk_run(session->bulk, head(session), n_left(session),
                             is_final(session, now_ms), &wait_ms, session->output);

        if (n < 0) {
                end(session);
                return false;
        }
        if (wait_ms)
                wait_until(session, now_ms, wait_ms);
        if (n == 0)
                return false;
        session->deadline = 0;
        session->n_taken += (size_t)n;
        return true;
}

/* One that watches says nothing any more, and is not listened to. */
static bool tell_news(QuerySession *session)
{
        session->n_taken = session->input->len;
        watch_flush(session->watch, false, session->output);
        return false;
}

int query_session_run(QuerySession *session, int64_t now_ms)
{
        gint64 end = g_get_monotonic_time() + TURN_US;
        bool goes_on = true, is_turn_over = false;

        while (goes_on && !is_turn_over && !session->is_broken &&
               session->output->len <= QUERY_MAX_OUTPUT) {
                goes_on = session->watch  ? tell_news(session)
                          : session->bulk ? answer_frame(session, now_ms)
                                          : answer_call(session, now_ms);
                is_turn_over = g_get_monotonic_time() >= end;
        }
        if (session->watch && session->output->len > QUERY_MAX_OUTPUT)
                watch_flush(session->watch, true, session->output);
        if (session->n_taken) {
                g_byte_array_remove_range(session->input, 0, (guint)session->n_taken);
                session->n_taken = 0;
        }
        if (goes_on && is_turn_over && !session->is_broken)
                return 0;
        return session->deadline ? (int)MAX(0, session->deadline - now_ms) : -1;
}

bool query_session_is_watching(const QuerySession *session)
{
        return session->watch != NULL;
}

void query_session_note_body(QuerySession *session, const Process *process, const Body *body,
                             bool is_end)
{
        watch_note_body(session->watch, process, body, is_end);
}

void query_session_note_epoch(QuerySession *session, const Process *process)
{
        watch_note_epoch(session->watch, process);
}

bool query_session_is_over(const QuerySession *session)
{
        return session->is_broken;
}

bool query_session_is_partial(const QuerySession *session)
{
        if (session->watch || !session->input->len || session->deadline)
                return false;
        return session->bulk || call_length(session) == SIZE_MAX;
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
