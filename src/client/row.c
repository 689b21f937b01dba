/* SPDX-License-Identifier: MIT */
#include "client/row.h"

#include "client/json-check.h"
#include "client/json-decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct clrsym_row {
        clrsym *handle;     /* borrowed */
        const char *method; /* borrowed: for messages */
        const char *json;   /* N bytes, after which others may come: of the reply, or OWN */
        size_t n;
        char *own;               /* owned; NULL: the JSON is as it came */
        json_t *tree;            /* owned; NULL: not decoded yet */
        clrsym_inlined *inlined; /* owned; NULL: none */
};

static void row_clear(clrsym_row *row)
{
        free(row->own);
        json_decref(row->tree);
        free(row->inlined);
}

const char *clrsym_row_json(const clrsym_row *row, size_t *ret_n)
{
        *ret_n = row->n;
        return row->json;
}

static int row_set_error(const clrsym_row *row, int r, const char *member)
{
        char detail[128];

        snprintf(detail, sizeof(detail), "%s: \"%s\" makes no sense", row->method, member);
        return endpoint_explain(&row->handle->endpoint, r, detail, &row->handle->message);
}

static int row_load(clrsym_row *row)
{
        int r = row->tree ? 0 : varlink_load(row->json, row->n, &row->tree);

        return r < 0 ? row_set_error(row, r, "row") : 0;
}

int clrsym_row_process(clrsym_row *row, clrsym_process *ret)
{
        const char *wrong;
        int r = row_load(row);

        if (r < 0)
                return r;
        wrong = json_decode_process(row->tree, ret);
        return wrong ? row_set_error(row, -EBADMSG, wrong) : 0;
}

int clrsym_row_body(clrsym_row *row, clrsym_process *ret_process, clrsym_body *ret)
{
        const char *wrong;
        int r = row_load(row);

        if (r < 0)
                return r;
        wrong = json_decode_body(row->tree, ret_process, ret);
        return wrong ? row_set_error(row, -EBADMSG, wrong) : 0;
}

int clrsym_row_answer(clrsym_row *row, clrsym_answer *ret)
{
        const char *wrong;
        int r = row_load(row);

        if (r < 0)
                return r;
        wrong = json_decode_answer(row->tree, ret);
        if (wrong)
                return row_set_error(row, -EBADMSG, wrong);
        free(row->inlined);
        row->inlined = NULL;
        if (!ret->n_inlined)
                return 0;
        row->inlined = calloc(ret->n_inlined, sizeof(*row->inlined));
        if (!row->inlined)
                return message_set_no_memory(&row->handle->message);
        ret->inlined = row->inlined;
        wrong = json_decode_inlined(row->tree, row->inlined);
        return wrong ? row_set_error(row, -EBADMSG, wrong) : 0;
}

/* Puts VALUE, a JSON value, in the place of the member NAME, if the row has it. */
static int row_replace(clrsym_row *row, const char *name, const char *value)
{
        size_t at = 0, end;
        char *text;
        int n;

        if (!json_find_member(row->json, row->n, name, &at))
                return 0;
        end = json_check_value(row->json, row->n, at, JSON_CHECK_MAX_DEPTH);
        n = asprintf(&text, "%.*s%s%.*s", (int)at, row->json, value, (int)(row->n - end),
                     row->json + end);
        if (n < 0)
                return message_set_no_memory(&row->handle->message);
        free(row->own);
        row->json = row->own = text;
        row->n = (size_t)n;
        return 0;
}

/* N -1: it is not known. */
static int row_replace_number(clrsym_row *row, const char *name, int32_t n)
{
        char text[16] = "null";

        if (n >= 0)
                snprintf(text, sizeof(text), "%d", (int)n);
        return row_replace(row, name, text);
}

int clrsym_row_set_il(clrsym_row *row, const clrsym_answer *answer)
{
        char kind[32];
        int r;

        if (answer->il_kind == CLRSYM_IL_UNKNOWN)
                return 0;
        snprintf(kind, sizeof(kind), "\"%s\"", clrsym_il_kind_name(answer->il_kind));
        r = row_replace(row, "il_kind", kind);
        if (r == 0)
                r = row_replace_number(row, "il_offset",
                                       answer->il_kind == CLRSYM_IL_EXACT ? answer->il_offset : -1);
        return r < 0 ? r : row_replace_number(row, "line_il_offset", answer->line_il_offset);
}

/* A list while it is read. */
typedef struct Rows {
        clrsym *handle;
        const char *method;
        const char *member; /* the array of its replies */
        clrsym_row_fn fn;
        void *data;
} Rows;

static int rows_take_reply(const Reply *reply, void *data)
{
        const Rows *rows = data;
        clrsym_row row = {.handle = rows->handle, .method = rows->method};
        size_t at = 0;
        int r = 0;

        if (!json_find_member(reply->text, reply->n_text, rows->member, &at) ||
            reply->text[at] != '[')
                return row_set_error(&row, -EBADMSG, rows->member);
        while (r == 0 && json_next(reply->text, &at)) {
                const size_t begin = at;

                at = json_check_value(reply->text, reply->n_text, begin, JSON_CHECK_MAX_DEPTH);
                row = (clrsym_row){.handle = rows->handle,
                                   .method = rows->method,
                                   .json = reply->text + begin,
                                   .n = at - begin};
                r = rows->fn(&row, rows->data);
                row_clear(&row);
        }
        return r;
}

int rows_read(clrsym *handle, const char *method, const char *parameters, const char *member,
              unsigned wait_ms, clrsym_row_fn fn, void *data)
{
        Rows rows = {.handle = handle, .method = method, .member = member, .fn = fn, .data = data};
        HandleCall call = {.method = method,
                           .parameters = parameters,
                           .is_more = true,
                           .wait_ms = wait_ms,
                           .form = REPLY_TEXT,
                           .fn = rows_take_reply,
                           .data = &rows};
        int r = handle_call(handle, &call);

        return r < 0 ? r : call.result;
}
