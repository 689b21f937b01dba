/* SPDX-License-Identifier: MIT */
#include "client/varlink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes. The daemon sends no longer reply: lists come in parts. */
#define MAX_REPLY (256u << 20)
/* Deepest nesting of a reply. The JSON parser recurses, and a thread's stack may be small. */
#define MAX_DEPTH 32
/* Bytes of an error's parameters that a message shows. */
#define MAX_QUOTED 1024

int varlink_send(Connection *connection, const char *method, const char *parameters,
                 const char *flag, int64_t deadline)
{
        bool is_whole = strchr(method, '.') != NULL;
        char *call;
        int n, r;

        n = asprintf(&call, "{\"method\":\"%s%s\",\"parameters\":%s%s%s%s}",
                     is_whole ? "" : INTERFACE ".", method, parameters, flag ? ",\"" : "",
                     flag ? flag : "", flag ? "\":true" : "");
        if (n < 0)
                return -ENOMEM;
        r = connection_send(connection, call, (size_t)n + 1, deadline);
        free(call);
        /* The daemon may have sent the reason why it hung up: that is read next. */
        return r == -ECONNRESET ? 0 : r;
}

/* True if TEXT nests no deeper than MAX_DEPTH. It need not be JSON. */
static bool is_shallow(const char *text)
{
        unsigned depth = 0;

        while (*(text += strcspn(text, "\"[{]}"))) {
                char c = *text++;

                if (c == '"') {
                        while (*(text += strcspn(text, "\"\\")) == '\\' && text[1])
                                text += 2;
                        if (*text)
                                text++;
                } else if (c == '[' || c == '{') {
                        if (++depth > MAX_DEPTH)
                                return false;
                } else if (depth > 0) {
                        depth--;
                }
        }
        return true;
}

static size_t skip_blanks(const char *text, size_t at)
{
        return at + strspn(text + at, " \t\r\n");
}

/* Parses the JSON value at *AT and moves *AT after it. NULL if there is none, or no memory. */
static json_t *take_value(const char *text, size_t n, size_t *at, int *ret_error)
{
        json_error_t error = {0};
        json_t *value =
                json_loadb(text + *at, n - *at, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);

        if (value)
                *at += (size_t)error.position;
        else /* Without memory jansson sets no text; but for a string it reports "invalid". */
                *ret_error = !*error.text || json_error_code(&error) == json_error_out_of_memory
                                     ? -ENOMEM
                                     : -EBADMSG;
        return value;
}

/* False if the member may not have VALUE. */
static bool set_member(Reply *reply, const char *name, json_t *value, const char *text, size_t n)
{
        if (!strcmp(name, "parameters") && json_is_object(value) && !reply->parameters) {
                reply->parameters = json_incref(value);
                reply->text = text;
                reply->n_text = n;
                return true;
        }
        if (!strcmp(name, "error") && json_is_string(value) && !reply->error) {
                reply->error = json_incref(value);
                return true;
        }
        reply->continues |= !strcmp(name, "continues") && json_is_true(value);
        return strcmp(name, "parameters") != 0 && strcmp(name, "error") != 0;
}

static bool is_empty(const char *text, size_t n, size_t at)
{
        at = skip_blanks(text, at + 1);
        return text[at] == '}' && skip_blanks(text, at + 1) == n;
}

/*
 * Parses a reply of N bytes, member by member rather than by one json_loadb(): that shows where the
 * parameters are in the text, which is handed on as it is.
 */
static int parse(const char *text, size_t n, Reply *reply)
{
        size_t at = skip_blanks(text, 0);
        int r = -EBADMSG;

        if (text[at] != '{' || !is_shallow(text))
                return -EBADMSG;
        if (is_empty(text, n, at))
                return 0;
        do {
                json_auto_t *name = NULL, *value = NULL;
                size_t begin;

                at = skip_blanks(text, at + 1);
                if (text[at] != '"')
                        return -EBADMSG;
                name = take_value(text, n, &at, &r);
                if (!name)
                        return r;
                at = skip_blanks(text, at);
                begin = at = text[at] == ':' ? skip_blanks(text, at + 1) : n;
                value = take_value(text, n, &at, &r);
                if (!value ||
                    !set_member(reply, json_string_value(name), value, text + begin, at - begin))
                        return r;
                at = skip_blanks(text, at);
        } while (text[at] == ',');
        return text[at] == '}' && skip_blanks(text, at + 1) == n ? 0 : -EBADMSG;
}

static int complete(Reply *reply)
{
        if (reply->parameters)
                return 0;
        reply->parameters = json_object();
        reply->text = "{}";
        reply->n_text = 2;
        return reply->parameters ? 0 : -ENOMEM;
}

static void reply_clear(Reply *reply)
{
        json_decref(reply->parameters);
        json_decref(reply->error);
        *reply = (Reply){0};
}

int varlink_next(Connection *connection, Reply *ret)
{
        size_t n, n_searched = connection->n_searched;
        const char *text = connection_bytes(connection, &n), *end = NULL;
        int r;

        *ret = (Reply){0};
        if (n > n_searched)
                end = memchr(text + n_searched, '\0', n - n_searched);
        connection->n_searched = end ? (size_t)(end - text) : n;
        if (!end)
                return n > MAX_REPLY ? -EBADMSG : -EAGAIN;
        r = parse(text, connection->n_searched, ret);
        if (r == 0)
                r = complete(ret);
        if (r < 0)
                reply_clear(ret);
        else if (ret->text >= text && ret->text < end)
                connection->bytes[ret->text - connection->bytes + (ptrdiff_t)ret->n_text] = '\0';
        return r;
}

int varlink_receive(Connection *connection, int64_t deadline, Reply *ret)
{
        for (;;) {
                int r = varlink_next(connection, ret);

                if (r != -EAGAIN)
                        return r;
                /* A reply that arrives byte by byte is limited in time, too. */
                if (clock_ms() >= deadline)
                        return -ETIMEDOUT;
                r = connection_receive(connection, deadline);
                if (r < 0)
                        return r;
        }
}

int reply_explain(const Reply *reply, Message *message)
{
        const char *name = json_string_value(reply->error);
        bool is_parameter = !strcmp(name, "org.varlink.service.InvalidParameter");

        return message_set(
                message, is_parameter ? -EINVAL : -EREMOTEIO, "the question was refused: %s %.*s",
                name, reply->n_text < MAX_QUOTED ? (int)reply->n_text : MAX_QUOTED, reply->text);
}

void reply_take(Reply *reply, Connection *connection)
{
        connection_take(connection, connection->n_searched + 1);
        reply_clear(reply);
}
