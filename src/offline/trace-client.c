/* SPDX-License-Identifier: MIT */
#include "offline/trace-client.h"

#include "query/query-connection.h"
#include "util/json-text.h"

#include <jansson.h>
#include <string.h>

/* ms between two replies about the progress. */
#define PROGRESS_MS 100

typedef enum TraceClientState {
        STATE_ASKED,     /* ReadTrace was not called yet */
        STATE_READING,   /* ReadTrace was called; the trace is being read */
        STATE_ANSWERING, /* the trace was read */
        STATE_OVER,      /* the trace cannot be read */
} TraceClientState;

struct TraceClient {
        Conversation conversation;
        TraceClientState state;
        const TraceClientCalls *calls;
        void *data;
        QueryConnection *connection; /* owned: in STATE_ANSWERING */
        GByteArray *input;           /* owned: calls before STATE_ANSWERING */
        GString *output;             /* owned: replies to them */
        int64_t reported_ms;         /* when the last reply about the progress was made */
        int64_t ahead_ms;            /* ms that calls wanted to wait, by which the clock is ahead */
};

static const ConversationType TRACE_CONVERSATION;

TraceClient *trace_client_new(const QueryContext *context, const TraceClientCalls *calls,
                              void *data)
{
        TraceClient *client = g_new0(TraceClient, 1);

        client->conversation.type = &TRACE_CONVERSATION;
        client->calls = calls;
        client->data = data;
        client->connection = query_connection_new(context);
        client->input = g_byte_array_new();
        client->output = g_string_new(NULL);
        return client;
}

void trace_client_free(TraceClient *client)
{
        if (!client)
                return;
        query_connection_free(client->connection);
        g_byte_array_unref(client->input);
        g_string_free(client->output, TRUE);
        g_free(client);
}

static void trace_client_put_error(TraceClient *client, const char *error, const char *key,
                                   const char *value)
{
        g_autofree char *valid = g_utf8_make_valid(value, -1);

        g_string_append_printf(client->output, "{\"error\":\"%s\",\"parameters\":{\"%s\":", error,
                               key);
        json_append_string(client->output, valid);
        g_string_append(client->output, "}}");
        g_string_append_c(client->output, '\0');
}

static void trace_client_put_progress(TraceClient *client, uint64_t read, uint64_t total,
                                      const char *note, bool continues)
{
        g_string_append_printf(client->output,
                               "{\"parameters\":{\"read\":%" G_GUINT64_FORMAT
                               ",\"total\":%" G_GUINT64_FORMAT,
                               (guint64)read, (guint64)total);
        if (note) {
                g_autofree char *valid = g_utf8_make_valid(note, -1);

                g_string_append(client->output, ",\"note\":");
                json_append_string(client->output, valid);
        }
        g_string_append(client->output, continues ? "},\"continues\":true}" : "}}");
        g_string_append_c(client->output, '\0');
}

void trace_client_answer(TraceClient *client)
{
        client->state = STATE_ANSWERING;
}

void trace_client_ready(TraceClient *client, uint64_t total, const char *note)
{
        trace_client_put_progress(client, total, total, note, false);
        client->state = STATE_ANSWERING;
        /* Answers calls that arrived while the trace was read. */
        query_connection_feed(client->connection, client->input->data, client->input->len);
        g_byte_array_set_size(client->input, 0);
}

void trace_client_fail(TraceClient *client, const char *message)
{
        trace_client_put_error(client, "org.clrsym.Symbolizer.TraceUnreadable", "message", message);
        client->state = STATE_OVER;
}

/* A call before the trace is read. */
static void trace_client_take_call(TraceClient *client, const char *call, size_t n)
{
        json_auto_t *root = json_loadb(call, n, 0, NULL);
        const char *method = json_string_value(json_object_get(root, "method"));

        if (!method)
                trace_client_put_error(client, "org.clrsym.Symbolizer.InvalidCall", "reason",
                                       "a call is one JSON object, with a \"method\"");
        else if (strcmp(method, "org.clrsym.Symbolizer.ReadTrace"))
                trace_client_put_error(client, "org.clrsym.Symbolizer.InvalidCall", "reason",
                                       "the first call to a trace server is ReadTrace");
        else if (!json_is_true(json_object_get(root, "more")))
                trace_client_put_error(client, "org.varlink.service.ExpectedMore", "method",
                                       method);
        else
                client->state = STATE_READING;
}

static void trace_client_take_calls(TraceClient *client)
{
        while (client->state == STATE_ASKED && client->output->len <= QUERY_MAX_OUTPUT) {
                const uint8_t *nul = client->input->len
                                             ? memchr(client->input->data, '\0', client->input->len)
                                             : NULL;
                size_t n = nul ? (size_t)(nul - client->input->data) : client->input->len;

                if (n > QUERY_MAX_CALL) {
                        trace_client_put_error(client, "org.clrsym.Symbolizer.LimitExceeded",
                                               "limit", "1 MiB a call");
                        client->state = STATE_OVER;
                }
                if (n > QUERY_MAX_CALL || !nul)
                        return;
                trace_client_take_call(client, (const char *)client->input->data, n);
                g_byte_array_remove_range(client->input, 0, (guint)n + 1);
        }
        if (client->state == STATE_READING)
                client->calls->read(client->data);
}

/* Adds a reply, unless the last one was not sent yet: the client does not read. */
static int trace_client_report_progress(TraceClient *client, int64_t now_ms)
{
        uint64_t read, total;

        if (now_ms - client->reported_ms >= PROGRESS_MS && !client->output->len) {
                client->calls->progress(client->data, &read, &total);
                trace_client_put_progress(client, read, total, NULL, true);
                client->reported_ms = now_ms;
        }
        return PROGRESS_MS;
}

/* No events come to a trace, so a call that would wait for events is answered as if the time had
 * passed. */
static int trace_client_run_connection(TraceClient *client, int64_t now_ms)
{
        int wait_ms = query_connection_run(client->connection, now_ms + client->ahead_ms);

        if (wait_ms < 0)
                return wait_ms;
        client->ahead_ms += wait_ms;
        return query_connection_run(client->connection, now_ms + client->ahead_ms) < 0 ? -1 : 0;
}

static int conversation_run(Conversation *conversation, int64_t now_ms)
{
        TraceClient *client = (TraceClient *)conversation;

        if (client->state == STATE_ASKED)
                trace_client_take_calls(client);
        if (client->state == STATE_READING)
                return trace_client_report_progress(client, now_ms);
        /* The connection's output follows ours. */
        return client->state == STATE_ANSWERING ? trace_client_run_connection(client, now_ms) : -1;
}

static void conversation_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        TraceClient *client = (TraceClient *)conversation;

        if (client->state == STATE_ANSWERING)
                query_connection_feed(client->connection, bytes, n);
        else
                g_byte_array_append(client->input, bytes, (guint)n);
}

static bool conversation_wants_input(const Conversation *conversation)
{
        const TraceClient *client = (const TraceClient *)conversation;

        if (client->state == STATE_ANSWERING)
                return query_connection_wants_input(client->connection);
        return client->input->len <= QUERY_MAX_CALL && client->output->len <= QUERY_MAX_OUTPUT;
}

static bool conversation_is_over(const Conversation *conversation)
{
        const TraceClient *client = (const TraceClient *)conversation;

        return client->state == STATE_OVER ||
               (client->state == STATE_ANSWERING && query_connection_is_over(client->connection));
}

static const uint8_t *conversation_output(const Conversation *conversation, size_t *ret_n)
{
        const TraceClient *client = (const TraceClient *)conversation;
        const Conversation *next = query_connection_conversation(client->connection);

        if (!client->output->len)
                return next->type->output(next, ret_n);
        *ret_n = client->output->len;
        return (const uint8_t *)client->output->str;
}

static void conversation_sent(Conversation *conversation, size_t n)
{
        TraceClient *client = (TraceClient *)conversation;
        Conversation *next = query_connection_conversation(client->connection);

        if (client->output->len)
                g_string_erase(client->output, 0, (gssize)n);
        else
                next->type->sent(next, n);
}

/* No is_partial: the client is our own, and has no timeout. */
static const ConversationType TRACE_CONVERSATION = {
        .feed = conversation_feed,
        .run = conversation_run,
        .wants_input = conversation_wants_input,
        .is_over = conversation_is_over,
        .output = conversation_output,
        .sent = conversation_sent,
};

Conversation *trace_client_conversation(TraceClient *client)
{
        return &client->conversation;
}
