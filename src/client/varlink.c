/* SPDX-License-Identifier: MIT */
#include "client/varlink.h"

#include "client/json-check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes. The daemon sends no longer reply: lists come in parts. */
#define MAX_REPLY (256u << 20)
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
        /* The daemon may have sent the reason why it disconnected: that is read next. */
        return r == -ECONNRESET ? 0 : r;
}

int varlink_load(const char *text, size_t n, json_t **ret)
{
        json_error_t error = {0};

        *ret = json_loadb(text, n, JSON_DECODE_ANY, &error);
        if (*ret)
                return 0;
        /* Without memory jansson sets no text; but for a string it reports "invalid". */
        return !*error.text || json_error_code(&error) == json_error_out_of_memory ? -ENOMEM
                                                                                   : -EBADMSG;
}

/* Takes the member NAME, with its quotes, whose value is the N bytes at TEXT. */
static int set_member(Reply *reply, const char *name, size_t n_name, const char *text, size_t n)
{
        if (json_is_string_of(name, n_name, "parameters")) {
                if (*text != '{' || reply->text)
                        return -EBADMSG;
                reply->text = text;
                reply->n_text = n;
        } else if (json_is_string_of(name, n_name, "error")) {
                if (*text != '"' || reply->error)
                        return -EBADMSG;
                return varlink_load(text, n, &reply->error);
        } else if (json_is_string_of(name, n_name, "continues")) {
                reply->continues |= *text == 't';
        }
        return 0;
}

/*
 * Checks a reply of N bytes, member by member: that shows where the parameters are in the text,
 * which is handed on as it is. A tree is made only of what somebody reads as one.
 */
static int varlink_parse(const char *text, size_t n, Reply *reply)
{
        size_t at = json_check_skip_blanks(text, 0);
        int r;

        if (text[at] != '{')
                return -EBADMSG;
        at = json_check_skip_blanks(text, at + 1);
        while (text[at] == '"') {
                size_t name = at, name_end = json_check_value(text, n, at, 0), begin;

                at = name_end ? json_check_skip_blanks(text, name_end) : n;
                begin = at = text[at] == ':' ? json_check_skip_blanks(text, at + 1) : n;
                at = json_check_value(text, n, begin, JSON_CHECK_MAX_DEPTH - 1);
                if (!at)
                        return -EBADMSG;
                r = set_member(reply, text + name, name_end - name, text + begin, at - begin);
                if (r < 0)
                        return r;
                at = json_check_skip_blanks(text, at);
                if (text[at] != ',')
                        break;
                at = json_check_skip_blanks(text, at + 1);
                if (text[at] != '"')
                        return -EBADMSG;
        }
        return text[at] == '}' && json_check_skip_blanks(text, at + 1) == n ? 0 : -EBADMSG;
}

static int varlink_complete(Reply *reply, ReplyForm form)
{
        if (!reply->text) {
                reply->text = "{}";
                reply->n_text = 2;
        }
        return form == REPLY_TREE ? varlink_load(reply->text, reply->n_text, &reply->parameters)
                                  : 0;
}

static void reply_clear(Reply *reply)
{
        json_decref(reply->parameters);
        json_decref(reply->error);
        *reply = (Reply){0};
}

int varlink_next(Connection *connection, ReplyForm form, Reply *ret)
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
        r = varlink_parse(text, connection->n_searched, ret);
        if (r == 0)
                r = varlink_complete(ret, form);
        if (r < 0)
                reply_clear(ret);
        else if (ret->text >= text && ret->text < end)
                connection->bytes[ret->text - connection->bytes + (ptrdiff_t)ret->n_text] = '\0';
        return r;
}

int varlink_receive(Connection *connection, int64_t deadline, ReplyForm form, Reply *ret)
{
        for (;;) {
                int r = varlink_next(connection, form, ret);

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
