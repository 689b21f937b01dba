/* SPDX-License-Identifier: MIT */
#include "profile/html-lines.h"

#include "profile/hot-lines.h"
#include "profile/markup.h"
#include "profile/source-text.h"

/* Methods whose lines are in the page; others have too few samples. */
#define MAX_METHODS 500u
/* Bytes of text in a page. */
#define MAX_TEXT (1u << 20)
/* Lines before and after each hot one. */
#define CONTEXT 4u

/* A source, and its shown lines. */
typedef struct HtmlSource {
        const char *file, *checksum; /* borrowed */
        GArray *lines;               /* owned: of uint32_t */
} HtmlSource;

static void source_free(gpointer data)
{
        HtmlSource *source = data;

        g_array_unref(source->lines);
        g_free(source);
}

static guint source_number(GPtrArray *sources, const HotMethod *method)
{
        HtmlSource *source;
        guint i;

        for (i = 0; i < sources->len; i++) {
                source = sources->pdata[i];
                if (source->file == method->file && source->checksum == method->checksum)
                        return i;
        }
        source = g_new(HtmlSource, 1);
        *source = (HtmlSource){method->file, method->checksum,
                               g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        g_ptr_array_add(sources, source);
        return sources->len - 1;
}

static void append_method(GString *out, const HotMethod *method, guint source)
{
        guint i;

        g_string_append_printf(out, "[%" G_GUINT32_FORMAT ",%u", method->frame, source);
        for (i = 0; i < method->lines->len; i++) {
                const HotLine *line = &g_array_index(method->lines, HotLine, i);

                g_string_append_printf(
                        out, ",%" G_GUINT32_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
                        line->line, (guint64)line->self, (guint64)line->total);
        }
        g_string_append_c(out, ']');
}

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
        const uint32_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

/* Pieces of the source around the lines, which are sorted. */
static void append_pieces(ProfileFile *out, const HtmlSource *source, const GPtrArray *texts,
                          size_t *budget)
{
        size_t before = out->text->len;
        uint32_t next = 0; /* the first line that is not shown yet, from 0 */
        guint i;

        for (i = 0; i < source->lines->len; i++) {
                uint32_t line = g_array_index(source->lines, uint32_t, i) - 1;
                uint32_t begin = MAX(next, line > CONTEXT ? line - CONTEXT : 0), at;
                uint32_t end = (uint32_t)MIN((uint64_t)line + CONTEXT + 1, texts->len);

                if (begin >= end || out->text->len - before > *budget)
                        continue;
                if (begin > next || !next)
                        g_string_append_printf(out->text, "%s,[%" G_GUINT32_FORMAT, next ? "]" : "",
                                               begin + 1);
                for (at = begin; at < end; at++) {
                        g_string_append_c(out->text, ',');
                        script_append_string(out->text, texts->pdata[at]);
                }
                next = end;
        }
        if (next)
                g_string_append_c(out->text, ']');
        *budget -= MIN(*budget, out->text->len - before);
}

static void append_source(ProfileFile *out, const HtmlSource *source, GHashTable *files,
                          size_t *budget)
{
        g_autoptr(GPtrArray) texts = NULL;
        SourceState state =
                *budget ? source_text_read(source->file, source->checksum, &texts) : SOURCE_LARGE;

        g_string_append_printf(out->text, "[%u,",
                               GPOINTER_TO_UINT(g_hash_table_lookup(files, source->file)));
        script_append_string(out->text, source_state_text(state));
        if (state == SOURCE_SHOWN)
                append_pieces(out, source, texts, budget);
        g_string_append_c(out->text, ']');
}

void html_lines_append(ProfileFile *out, const Profile *profile, GHashTable *files)
{
        g_autoptr(GPtrArray) hot = hot_lines_new(profile);
        g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(source_free);
        size_t budget = MAX_TEXT;
        guint i, j;

        g_string_append(out->text, ",\n\"hot\":[");
        for (i = 0; i < MIN(hot->len, MAX_METHODS); i++) {
                const HotMethod *method = hot->pdata[i];
                guint number = source_number(sources, method);
                HtmlSource *source = sources->pdata[number];

                for (j = 0; j < method->lines->len; j++)
                        g_array_append_val(source->lines,
                                           g_array_index(method->lines, HotLine, j).line);
                g_string_append(out->text, i ? ",\n" : "\n");
                append_method(out->text, method, number);
                profile_file_flush(out);
        }
        g_string_append(out->text, "],\n\"sources\":[");
        for (i = 0; i < sources->len; i++) {
                HtmlSource *source = sources->pdata[i];

                g_array_sort(source->lines, compare_numbers);
                g_string_append(out->text, i ? ",\n" : "\n");
                append_source(out, source, files, &budget);
                profile_file_flush(out);
        }
        g_string_append_c(out->text, ']');
}
