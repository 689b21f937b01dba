/* SPDX-License-Identifier: MIT */
#include "query/query-connection.h"

#include "query/bulk.h"
#include "query/watch.h"

#include <errno.h>
#include <string.h>

/*
 * Length of a turn, in us; the turns of other clients follow. A client may send thousands of calls
 * at once, and each may read all data.
 */
#define TURN_US 10000
/* Maximum of output memory that stays allocated; with frames, the rows of one frame. */
#define KEPT_OUTPUT      (64u << 10)
#define KEPT_BULK_OUTPUT (512u << 10)

struct QueryConnection {
        Conversation conversation;
        QueryContext context;
        GByteArray *input;      /* owned */
        size_t n_taken;         /* answered bytes of the input */
        GString *output;        /* owned */
        size_t n_sent;          /* bytes of the output that were sent but not removed */
        QueryProgress progress; /* of a continued call, whose text has been removed */
        size_t n_booked;        /* bytes booked in the context's memory */
        int64_t deadline; /* ms: time at which the first call is answered in any case; 0: it does
                             not wait */
        bool is_broken;   /* no further input is accepted */
        bool has_part;    /* the output has a part of a reply, to be sent before the next part */
        Bulk *bulk;       /* owned or NULL: binary frames from now on */
        Watch *watch;     /* owned or NULL: events from now on */
};

static const ConversationType QUERY_CONVERSATION;

QueryConnection *query_connection_new(const QueryContext *context)
{
        QueryConnection *connection = g_new0(QueryConnection, 1);

        connection->conversation.type = &QUERY_CONVERSATION;
        connection->context = *context;
        connection->input = g_byte_array_new();
        connection->output = g_string_new(NULL);
        return connection;
}

size_t query_connection_size(const QueryConnection *connection)
{
        return connection->input->len + connection->output->len +
               query_progress_size(&connection->progress) +
               (connection->bulk ? bulk_size(connection->bulk) : 0) +
               (connection->watch ? watch_size(connection->watch) : 0);
}

/* Updates the booked memory. */
static void connection_book(QueryConnection *connection, size_t size)
{
        QueryMemory *memory = connection->context.memory;

        if (!memory)
                return;
        memory->n_bytes += size - connection->n_booked;
        connection->n_booked = size;
}

static bool connection_has_memory(const QueryConnection *connection)
{
        const QueryMemory *memory = connection->context.memory;

        return !memory || !memory->limit || memory->n_bytes <= memory->limit;
}

void query_connection_free(QueryConnection *connection)
{
        if (!connection)
                return;
        connection_book(connection, 0);
        query_progress_clear(&connection->progress);
        bulk_free(connection->bulk);
        watch_free(connection->watch);
        g_byte_array_unref(connection->input);
        g_string_free(connection->output, TRUE);
        g_free(connection);
}

static const uint8_t *connection_head(const QueryConnection *connection)
{
        return connection->input->data + connection->n_taken;
}

static size_t connection_n_left(const QueryConnection *connection)
{
        return connection->input->len - connection->n_taken;
}

/* The bytes of the first call in the input, without its NUL. SIZE_MAX: the call is incomplete. */
static size_t connection_call_length(const QueryConnection *connection)
{
        const uint8_t *end =
                connection_n_left(connection)
                        ? memchr(connection_head(connection), '\0', connection_n_left(connection))
                        : NULL;

        return end ? (size_t)(end - connection_head(connection)) : SIZE_MAX;
}

void query_connection_feed(QueryConnection *connection, const uint8_t *bytes, size_t n)
{
        if (!connection->is_broken)
                g_byte_array_append(connection->input, bytes, (guint)n);
        connection_book(connection, query_connection_size(connection));
}

static void connection_end(QueryConnection *connection)
{
        connection->n_taken = connection->input->len;
        connection->is_broken = true;
}

static void connection_refuse_length(QueryConnection *connection)
{
        query_append_error(connection->output, "org.clrsym.Symbolizer.LimitExceeded", "limit",
                           "1 MiB a call");
        g_string_append_c(connection->output, '\0');
        connection_end(connection);
}

static void connection_wait_until(QueryConnection *connection, int64_t now_ms, unsigned wait_ms)
{
        if (!connection->deadline)
                connection->deadline = now_ms + wait_ms;
}

static bool connection_is_final(const QueryConnection *connection, int64_t now_ms)
{
        return connection->context.is_final ||
               (connection->deadline && now_ms >= connection->deadline);
}

/*
 * Answers the continued call, or the first call in the input. False: not answered, or only in part.
 */
static bool connection_answer_call(QueryConnection *connection, int64_t now_ms, int64_t turn_end)
{
        bool is_new = !connection->progress.call;
        size_t n = is_new ? connection_call_length(connection) : 0;
        size_t n_before = connection->output->len;
        QueryContext context = connection->context;
        QueryNext next;

        if ((n == SIZE_MAX ? connection_n_left(connection) : n) > QUERY_MAX_CALL) {
                connection_refuse_length(connection);
                return false;
        }
        if (n == SIZE_MAX)
                return false;
        context.is_final = connection_is_final(connection, now_ms);
        context.turn_end = turn_end;
        next = query_call(&context, (const char *)connection_head(connection), n,
                          &connection->progress, connection->output);
        /* The progress owns the needed parts of a continued call. */
        if (is_new)
                connection->n_taken += n + 1;
        if (connection->output->len > n_before)
                g_string_append_c(connection->output, '\0');
        if (next == QUERY_WAIT) {
                connection_wait_until(connection, now_ms, connection->progress.wait_ms);
                return false;
        }
        if (next == QUERY_AGAIN)
                return true;
        connection->deadline = 0;
        connection->has_part = next == QUERY_MORE;
        if (connection->has_part)
                return true;
        if (next == QUERY_BULK)
                connection->bulk =
                        bulk_new(&connection->context, connection->progress.bulk_version);
        if (next == QUERY_WATCH)
                connection->watch =
                        watch_new(connection->context.tracker, &connection->context.viewer,
                                  &connection->progress.filter);
        query_progress_clear(&connection->progress);
        return true;
}

static bool connection_answer_frame(QueryConnection *connection, int64_t now_ms, int64_t turn_end)
{
        unsigned wait_ms;
        ssize_t n;

        bulk_set_turn(connection->bulk, turn_end);
        n = bulk_run(connection->bulk, connection_head(connection), connection_n_left(connection),
                     connection_is_final(connection, now_ms), &wait_ms, connection->output);

        if (n == -EAGAIN)
                return true;
        if (n < 0) {
                connection_end(connection);
                return false;
        }
        if (wait_ms)
                connection_wait_until(connection, now_ms, wait_ms);
        if (n == 0)
                return false;
        connection->deadline = 0;
        connection->n_taken += (size_t)n;
        return true;
}

const QueryWait *query_connection_wait(const QueryConnection *connection)
{
        if (connection->watch || !connection->deadline)
                return NULL;
        return connection->bulk ? bulk_wait(connection->bulk) : &connection->progress.wait;
}

bool query_connection_may_go_on(const QueryConnection *connection)
{
        const QueryWait *wait = query_connection_wait(connection);

        return connection->watch || (wait && query_wait_is_over(wait, connection->context.tracker));
}

/* A watching client makes no more calls: its input is ignored. */
static bool connection_append_events(QueryConnection *connection)
{
        connection->n_taken = connection->input->len;
        watch_flush(connection->watch, false, connection->output);
        return false;
}

int query_connection_run(QueryConnection *connection, int64_t now_ms)
{
        gint64 end = g_get_monotonic_time() + TURN_US;
        bool goes_on = true, is_turn_over = false;

        connection->has_part = false;
        while (goes_on && !is_turn_over && !connection->is_broken && !connection->has_part &&
               connection->output->len <= QUERY_MAX_OUTPUT && connection_has_memory(connection)) {
                goes_on = connection->watch  ? connection_append_events(connection)
                          : connection->bulk ? connection_answer_frame(connection, now_ms, end)
                                             : connection_answer_call(connection, now_ms, end);
                is_turn_over = g_get_monotonic_time() >= end;
                connection_book(connection, query_connection_size(connection));
        }
        if (connection->watch && connection->output->len > QUERY_MAX_OUTPUT)
                watch_flush(connection->watch, true, connection->output);
        if (connection->n_taken) {
                g_byte_array_remove_range(connection->input, 0, (guint)connection->n_taken);
                connection->n_taken = 0;
        }
        connection_book(connection, query_connection_size(connection));
        /*
         * Call again even if memory is short, because it will be freed soon. Send a finished part
         * first.
         */
        if (goes_on && !connection->is_broken && (!connection->has_part || is_turn_over) &&
            connection->output->len <= QUERY_MAX_OUTPUT)
                return 0;
        return connection->deadline ? (int)MAX(0, connection->deadline - now_ms) : -1;
}

bool query_connection_is_watching(const QueryConnection *connection)
{
        return connection->watch != NULL;
}

void query_connection_note_body(QueryConnection *connection, const Process *process,
                                const Body *body, bool is_end)
{
        watch_note_body(connection->watch, process, body, is_end);
}

void query_connection_note_epoch(QueryConnection *connection, const Process *process)
{
        watch_note_epoch(connection->watch, process);
}

bool query_connection_is_idle(const QueryConnection *connection)
{
        return !connection->watch && !connection->input->len && !connection->output->len &&
               !connection->progress.call;
}

bool query_connection_is_over(const QueryConnection *connection)
{
        return connection->is_broken;
}

bool query_connection_is_partial(const QueryConnection *connection)
{
        if (connection->watch || !connection->input->len || connection->deadline ||
            connection->progress.call)
                return false;
        return connection->bulk || connection_call_length(connection) == SIZE_MAX;
}

bool query_connection_wants_input(const QueryConnection *connection)
{
        return !connection->is_broken && connection->output->len <= QUERY_MAX_OUTPUT &&
               connection->input->len <= QUERY_MAX_CALL;
}

GString *query_connection_output(QueryConnection *connection)
{
        return connection->output;
}

static void conversation_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        query_connection_feed((QueryConnection *)conversation, bytes, n);
}

static int conversation_run(Conversation *conversation, int64_t now_ms)
{
        return query_connection_run((QueryConnection *)conversation, now_ms);
}

static bool conversation_wants_input(const Conversation *conversation)
{
        return query_connection_wants_input((const QueryConnection *)conversation);
}

static bool conversation_is_over(const Conversation *conversation)
{
        return query_connection_is_over((const QueryConnection *)conversation);
}

static bool conversation_is_partial(const Conversation *conversation)
{
        return query_connection_is_partial((const QueryConnection *)conversation);
}

static const uint8_t *conversation_output(const Conversation *conversation, size_t *ret_n)
{
        const QueryConnection *connection = (const QueryConnection *)conversation;

        *ret_n = connection->output->len - connection->n_sent;
        return (const uint8_t *)connection->output->str + connection->n_sent;
}

/* Frees the memory of a long sent reply. */
static void connection_release(QueryConnection *connection)
{
        if (connection->output->allocated_len <=
            (connection->bulk ? KEPT_BULK_OUTPUT : KEPT_OUTPUT))
                return;
        g_free(connection->output->str);
        connection->output->str = g_malloc(1);
        *connection->output->str = '\0';
        connection->output->allocated_len = 1;
}

static void conversation_sent(Conversation *conversation, size_t n)
{
        QueryConnection *connection = (QueryConnection *)conversation;

        connection->n_sent += n;
        /* Moving the rest after each send would take most of the time of a long reply. */
        if (connection->n_sent >= connection->output->len / 2) {
                g_string_erase(connection->output, 0, (gssize)connection->n_sent);
                connection->n_sent = 0;
                if (!connection->output->len)
                        connection_release(connection);
        }
        connection_book(connection, query_connection_size(connection));
}

static const ConversationType QUERY_CONVERSATION = {
        .feed = conversation_feed,
        .run = conversation_run,
        .wants_input = conversation_wants_input,
        .is_over = conversation_is_over,
        .is_partial = conversation_is_partial,
        .output = conversation_output,
        .sent = conversation_sent,
};

Conversation *query_connection_conversation(QueryConnection *connection)
{
        return &connection->conversation;
}
