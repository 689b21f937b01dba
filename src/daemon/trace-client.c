/* SPDX-License-Identifier: MIT */
#include "daemon/trace-client.h"

#include "core/json-text.h"
#include "service/query-session.h"

#include <jansson.h>
#include <string.h>

/* Between two replies about the progress. */
#define PROGRESS_MS 100

typedef enum State {
        STATE_ASKED,     /* nothing yet but for the opening call */
        STATE_READING,   /* it came, and the trace is being read */
        STATE_ANSWERING, /* the trace is in */
        STATE_OVER,      /* there is nothing to answer from */
} State;

struct TraceClient {
        State state;
        const TraceClientCalls *calls;
        void *data;
        QuerySession *session; /* owned: of STATE_ANSWERING */
        GByteArray *input;     /* owned: calls before that */
        GString *output;       /* owned: replies to them */
        int64_t told_ms;       /* when the last reply about the progress was made */
        int64_t ahead_ms;      /* of the clock: the time that calls wanted to wait */
};

TraceClient *trace_client_new(const QueryContext *context, const TraceClientCalls *calls,
                              void *data)
{
        TraceClient *client = g_new0(TraceClient, 1);

        client->calls = calls;
        client->data = data;
        client->session = query_session_new(context);
        client->input = g_byte_array_new();
        client->output = g_string_new(NULL);
        return client;
}

static void client_free(void *data)
{
        TraceClient *client = data;

        query_session_free(client->session);
        g_byte_array_unref(client->input);
        g_string_free(client->output, TRUE);
        g_free(client);
}

static void put_error(TraceClient *client, const char *error, const char *key, const char *value)
{
        g_autofree char *valid = g_utf8_make_valid(value, -1);

        g_string_append_printf(client->output, "{\"error\":\"%s\",\"parameters\":{\"%s\":", error,
                               key);
        json_append_string(client->output, valid);
        g_string_append(client->output, "}}");
        g_string_append_c(client->output, '\0');
}

static void put_progress(TraceClient *client, uint64_t read, uint64_t total, bool continues)
{
        g_string_append_printf(client->output,
                               "{\"parameters\":{\"read\":%" G_GUINT64_FORMAT
                               ",\"total\":%" G_GUINT64_FORMAT "}%s}",
                               (guint64)read, (guint64)total,
                               continues ? ",\"continues\":true" : "");
        g_string_append_c(client->output, '\0');
}

void trace_client_answer(TraceClient *client)
{
        client->state = STATE_ANSWERING;
}

void trace_client_ready(TraceClient *client, uint64_t total)
{
        put_progress(client, total, total, false);
        client->state = STATE_ANSWERING;
        /* What was called while it was read is asked now. */
        query_session_feed(client->session, client->input->data, client->input->len);
        g_byte_array_set_size(client->input, 0);
}

void trace_client_fail(TraceClient *client, const char *message)
{
        put_error(client, "org.clrsym.Symbolizer.TraceUnreadable", "message", message);
        client->state = STATE_OVER;
}

/* A call before there is anything to ask. */
static void take_call(TraceClient *client, const char *call, size_t n)
{
        json_t *root = json_loadb(call, n, 0, NULL);
        const char *method = json_string_value(json_object_get(root, "method"));

        if (!method)
                put_error(client, "org.clrsym.Symbolizer.InvalidCall", "reason",
                          "a call is one JSON object, with a \"method\"");
        else if (strcmp(method, "org.clrsym.Symbolizer.ReadTrace"))
                put_error(client, "org.clrsym.Symbolizer.InvalidCall", "reason",
                          "the first call to a trace server is ReadTrace");
        else if (!json_is_true(json_object_get(root, "more")))
                put_error(client, "org.varlink.service.ExpectedMore", "method", method);
        else
                client->state = STATE_READING;
        json_decref(root);
}

/* Looks for the opening call. */
static void take_calls(TraceClient *client)
{
        while (client->state == STATE_ASKED && client->output->len <= QUERY_MAX_OUTPUT) {
                const uint8_t *nul = client->input->len
                                             ? memchr(client->input->data, '\0', client->input->len)
                                             : NULL;
                size_t n = nul ? (size_t)(nul - client->input->data) : client->input->len;

                if (n > QUERY_MAX_CALL) {
                        put_error(client, "org.clrsym.Symbolizer.LimitExceeded", "limit",
                                  "1 MiB a call");
                        client->state = STATE_OVER;
                }
                if (n > QUERY_MAX_CALL || !nul)
                        return;
                take_call(client, (const char *)client->input->data, n);
                g_byte_array_remove_range(client->input, 0, (guint)n + 1);
        }
        if (client->state == STATE_READING)
                client->calls->read(client->data);
}

/* A reply, unless one is still to be sent: who does not read them does not need them all. */
static int tell_progress(TraceClient *client, int64_t now_ms)
{
        uint64_t read, total;

        if (now_ms - client->told_ms >= PROGRESS_MS && !client->output->len) {
                client->calls->progress(client->data, &read, &total);
                put_progress(client, read, total, true);
                client->told_ms = now_ms;
        }
        return PROGRESS_MS;
}

/*
 * A call that would wait for events has nothing to wait for: for the session the time that it would
 * take passes at once.
 */
static int answer(TraceClient *client, int64_t now_ms)
{
        int wait_ms = query_session_run(client->session, now_ms + client->ahead_ms);

        if (wait_ms < 0)
                return wait_ms;
        client->ahead_ms += wait_ms;
        return query_session_run(client->session, now_ms + client->ahead_ms) < 0 ? -1 : 0;
}

static int client_run(void *data, int64_t now_ms)
{
        TraceClient *client = data;

        if (client->state == STATE_ASKED)
                take_calls(client);
        if (client->state == STATE_READING)
                return tell_progress(client, now_ms);
        /* One after the other: the session's output is behind ours. */
        return client->state == STATE_ANSWERING ? answer(client, now_ms) : -1;
}

static void client_feed(void *data, const uint8_t *bytes, size_t n)
{
        TraceClient *client = data;

        if (client->state == STATE_ANSWERING)
                query_session_feed(client->session, bytes, n);
        else
                g_byte_array_append(client->input, bytes, (guint)n);
}

static bool client_wants_input(void *data)
{
        const TraceClient *client = data;

        if (client->state == STATE_ANSWERING)
                return query_session_wants_input(client->session);
        return client->input->len <= QUERY_MAX_CALL && client->output->len <= QUERY_MAX_OUTPUT;
}

static bool client_is_over(void *data)
{
        const TraceClient *client = data;

        return client->state == STATE_OVER ||
               (client->state == STATE_ANSWERING && query_session_is_over(client->session));
}

static bool client_is_partial(void *data)
{
        return false; /* it is our own: it has all the time it wants */
}

static const uint8_t *client_output(void *data, size_t *ret_n)
{
        const TraceClient *client = data;
        const GString *output =
                client->output->len ? client->output : query_session_output(client->session);

        *ret_n = output->len;
        return (const uint8_t *)output->str;
}

static void client_sent(void *data, size_t n)
{
        TraceClient *client = data;

        g_string_erase(client->output->len ? client->output : query_session_output(client->session),
                       0, (gssize)n);
}

const PeerRole TRACE_CLIENT_ROLE = {
        .name = "trace",
        .feed = client_feed,
        .run = client_run,
        .wants_input = client_wants_input,
        .is_over = client_is_over,
        .is_partial = client_is_partial,
        .output = client_output,
        .sent = client_sent,
        .free = client_free,
};
