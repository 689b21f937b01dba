/* SPDX-License-Identifier: MIT */
#include "push/push-request.h"

#include "metadata/byte-cursor.h"

#include <jansson.h>
#include <string.h>

#define INGEST "/ingest"
#define PARCA  "/profiles/writeraw"
#define OTLP   "/v1development/profiles"

void push_item_free(PushItem *item)
{
        if (!item)
                return;
        process_series_clear(&item->series);
        g_bytes_unref(item->profile);
        g_free(item);
}

const char *push_url_check(const char *url)
{
        g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
        const char *p;

        for (p = url; *p; p++)
                if (g_ascii_isspace(*p) || g_ascii_iscntrl(*p))
                        return "it has a space or a control character";
        if (!uri ||
            (strcmp(g_uri_get_scheme(uri), "http") && strcmp(g_uri_get_scheme(uri), "https")))
                return "not an address http://HOST or https://HOST";
        if (!g_uri_get_host(uri) || !*g_uri_get_host(uri))
                return "it has no host";
        return g_uri_get_query(uri) || g_uri_get_fragment(uri) ? "it ends with its path" : NULL;
}

PushKind push_url_kind(const char *url)
{
        static const struct {
                const char *path;
                PushKind kind;
        } ROWS[] = {{PARCA, PUSH_PARCA}, {OTLP, PUSH_OTLP}};
        const size_t n = strlen(url) - g_str_has_suffix(url, "/");
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const size_t n_path = strlen(ROWS[i].path);

                if (n >= n_path && !strncmp(url + n - n_path, ROWS[i].path, n_path))
                        return ROWS[i].kind;
        }
        return PUSH_PYROSCOPE;
}

char *push_url_shown(const char *url)
{
        g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);

        return g_uri_to_string_partial(uri, G_URI_HIDE_USERINFO);
}

/* Pyroscope's names end at these characters. */
static char *push_label_text(const char *text)
{
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        return g_strdelimit(g_steal_pointer(&valid), "{}=,\"\\ \t\n\r", '_');
}

/* "NAME{container_id="...",host=...}" */
static char *push_request_name(const PushItem *item, const char *host)
{
        g_autofree char *process = push_label_text(item->series.process);
        g_autofree char *where = push_label_text(host);
        g_autoptr(GString) name = g_string_new(NULL);
        const char *p;

        /* The name of an application may have fewer kinds of characters than a label's value. */
        for (p = process; *p; p++)
                g_string_append_c(name, g_ascii_isalnum(*p) || strchr("-./_", *p) ? *p : '_');
        g_string_append_printf(name, "{host=%s,process=%s", where, process);
        if (item->series.container)
                g_string_append_printf(name, ",container_id=%s", item->series.container);
        g_string_append_c(name, '}');
        return g_string_free(g_steal_pointer(&name), FALSE);
}

char *push_request_url(const char *url, const PushItem *item, const char *host)
{
        g_autofree char *name = NULL, *escaped = NULL;

        if (push_url_kind(url) != PUSH_PYROSCOPE)
                return g_strdup(url);
        name = push_request_name(item, host);
        escaped = g_uri_escape_string(name, NULL, FALSE);
        return g_strdup_printf("%.*s%s?name=%s&from=%" G_GINT64_FORMAT "&until=%" G_GINT64_FORMAT
                               "&format=pprof&spyName=clrsym",
                               (int)(strlen(url) - g_str_has_suffix(url, "/")), url,
                               g_str_has_suffix(url, INGEST) ? "" : INGEST, escaped,
                               (gint64)item->from, (gint64)item->until);
}

static void push_add_label(json_t *labels, const char *name, const char *value)
{
        g_autofree char *valid = g_utf8_make_valid(value, -1);

        json_array_append_new(labels, json_pack("{ss ss}", "name", name, "value", valid));
}

char *push_request_json(const PushItem *item, const char *host)
{
        gsize n;
        const guchar *bytes = g_bytes_get_data(item->profile, &n);
        g_autofree char *text = g_base64_encode(bytes, n);
        json_t *labels = json_array(), *request;
        char *body;

        push_add_label(labels, "__name__", "process_cpu");
        push_add_label(labels, "host", host);
        push_add_label(labels, "process", item->series.process);
        if (item->series.container)
                push_add_label(labels, "container_id", item->series.container);
        request = json_pack("{s[{s{so} s[{ss}]}]}", "series", "labels", "labels", labels, "samples",
                            "rawProfile", text);
        body = json_dumps(request, JSON_COMPACT);
        json_decref(request);
        return body;
}

/* The fields of ExportProfilesServiceResponse. */
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* The next field: its number, with RET_VALUE of a number, or RET_BYTES of N. 0: none. */
static uint64_t cursor_field(ByteCursor *cursor, uint64_t *ret_value, ByteCursor *ret_bytes)
{
        const uint64_t tag = cursor->n ? byte_cursor_varint(cursor) : 0;
        uint64_t n;

        *ret_value = 0;
        *ret_bytes = (ByteCursor){.at = NULL};
        switch (tag & 7) {
        case WIRE_VARINT:
                *ret_value = tag ? byte_cursor_varint(cursor) : 0;
                break;
        case WIRE_FIXED64:
                byte_cursor_u64(cursor);
                break;
        case WIRE_BYTES:
                n = byte_cursor_varint(cursor);
                ret_bytes->at = n <= SIZE_MAX ? byte_cursor_take(cursor, (size_t)n) : NULL;
                ret_bytes->n = ret_bytes->at ? (size_t)n : 0;
                break;
        case WIRE_FIXED32:
                byte_cursor_u32(cursor);
                break;
        default:
                cursor->has_failed = true;
        }
        return cursor->has_failed ? 0 : tag >> 3;
}

bool push_response_rejects(const uint8_t *bytes, size_t n, char **ret_reason)
{
        ByteCursor response = {.at = bytes, .n = n}, partial, message = {.at = NULL}, part;
        uint64_t field, value, n_rejected = 0;

        while ((field = cursor_field(&response, &value, &partial)) != 0) {
                if (field != RESPONSE_PARTIAL_SUCCESS)
                        continue;
                while ((field = cursor_field(&partial, &value, &part)) != 0) {
                        if (field == PARTIAL_REJECTED)
                                n_rejected = value;
                        else if (field == PARTIAL_MESSAGE)
                                message = part;
                }
        }
        if (!n_rejected)
                return false;
        *ret_reason = g_strndup(message.at ? (const char *)message.at : "", message.n);
        return true;
}
