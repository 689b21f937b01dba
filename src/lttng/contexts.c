/* SPDX-License-Identifier: MIT */
#include "lttng/contexts.h"

#include "lttng/lttng-api.h"

#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>

/* The state of the XML parser. */
typedef struct Parse {
        const char *channel;
        GString *path;  /* names of the open elements */
        bool is_wanted; /* within the wanted channel */
        GPtrArray *names;
} Parse;

static void contexts_on_start(GMarkupParseContext *context, const gchar *element,
                              const gchar **names, const gchar **values, gpointer data,
                              GError **error)
{
        Parse *parse = data;

        g_string_append_printf(parse->path, "/%s", element);
}

static void contexts_on_end(GMarkupParseContext *context, const gchar *element, gpointer data,
                            GError **error)
{
        Parse *parse = data;

        g_string_truncate(parse->path, parse->path->len - strlen(element) - 1);
}

static void contexts_on_text(GMarkupParseContext *context, const gchar *text, gsize n,
                             gpointer data, GError **error)
{
        Parse *parse = data;
        g_autofree char *value = g_strndup(text, n);

        if (g_str_has_suffix(parse->path->str, "/channels/channel/name"))
                parse->is_wanted = !strcmp(g_strstrip(value), parse->channel);
        else if (parse->is_wanted && g_str_has_suffix(parse->path->str, "/contexts/context/type"))
                g_ptr_array_add(parse->names, g_ascii_strdown(g_strstrip(value), -1));
}

static GPtrArray *contexts_parse_file(const char *path, const char *channel)
{
        static const GMarkupParser PARSER = {.start_element = contexts_on_start,
                                             .end_element = contexts_on_end,
                                             .text = contexts_on_text};
        Parse parse = {.channel = channel, .names = g_ptr_array_new_with_free_func(g_free)};
        g_autofree char *text = NULL;
        GMarkupParseContext *context;
        gsize n;
        bool ok;

        parse.path = g_string_new(NULL);
        context = g_markup_parse_context_new(&PARSER, 0, &parse, NULL);
        ok = g_file_get_contents(path, &text, &n, NULL) &&
             g_markup_parse_context_parse(context, text, (gssize)n, NULL) &&
             g_markup_parse_context_end_parse(context, NULL);
        g_markup_parse_context_free(context);
        g_string_free(parse.path, TRUE);
        if (!ok)
                g_clear_pointer(&parse.names, g_ptr_array_unref);
        return parse.names;
}

static bool session_save(const char *session, const char *directory)
{
        const LttngApi *api = lttng_api(NULL);
        struct lttng_save_session_attr *attr = api ? api->lttng_save_session_attr_create() : NULL;
        bool ok = attr && api->lttng_save_session_attr_set_session_name(attr, session) == 0 &&
                  api->lttng_save_session_attr_set_output_url(attr, directory) == 0 &&
                  api->lttng_save_session(attr) == 0;

        if (attr)
                api->lttng_save_session_attr_destroy(attr);
        return ok;
}

GPtrArray *contexts_read(const char *session, const char *channel)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL), *path = NULL;
        g_autofree char *name = g_strconcat(session, ".lttng", NULL);
        GPtrArray *names = NULL;

        if (!directory)
                return NULL;
        path = g_build_filename(directory, name, NULL);
        if (session_save(session, directory))
                names = contexts_parse_file(path, channel);
        g_unlink(path);
        g_rmdir(directory);
        return names;
}
