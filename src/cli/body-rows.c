/* SPDX-License-Identifier: MIT */
#include "cli/body-rows.h"

#include "cli/symbol-text.h"
#include "util/file-name.h"

#include <string.h>

BodyRows *body_rows_new(bool keeps_json)
{
        BodyRows *list = g_new0(BodyRows, 1);

        list->rows = g_array_new(FALSE, FALSE, sizeof(BodyRow));
        list->texts = g_string_chunk_new(64 * 1024);
        list->keeps_json = keeps_json;
        return list;
}

void body_rows_free(BodyRows *list)
{
        if (!list)
                return;
        line_source_free(list->lines);
        g_array_unref(list->rows);
        g_string_chunk_free(list->texts);
        g_free(list);
}

size_t symbol_name_length(const char *symbol)
{
        size_t n = strlen(symbol), i = n;
        int depth = 0;

        if (!n || symbol[n - 1] != ')')
                return n;
        while (i-- > 0) {
                depth += symbol[i] == ')' ? 1 : symbol[i] == '(' ? -1 : 0;
                if (!depth)
                        return i;
        }
        return n;
}

bool symbol_matches(const char *symbol, size_t n_name, GPatternSpec *pattern)
{
        g_autofree char *name = NULL;

        if (g_pattern_spec_match_string(pattern, symbol))
                return true;
        name = g_strndup(symbol, n_name);
        return g_pattern_spec_match_string(pattern, name);
}

/* Stores each text once: modules and tiers are few, versions of a method many. */
static const char *body_rows_keep_text(BodyRows *list, const char *text)
{
        return text ? g_string_chunk_insert_const(list->texts, text) : NULL;
}

static const char *runtime_name(BodyRows *list, const clrsym_body *body)
{
        g_autoptr(GString) text = g_string_new(NULL);
        const size_t n = clrsym_symbol(body, CLRSYM_STYLE_CLR, NULL, 0);

        g_string_set_size(text, n);
        clrsym_symbol(body, CLRSYM_STYLE_CLR, text->str, n + 1);
        return body_rows_keep_text(list, text->str);
}

static const char *shown_name(BodyRows *list, int32_t pid, const clrsym_body *body)
{
        g_autoptr(GString) text = g_string_new(NULL);

        symbol_text_append(text, pid, body);
        return body_rows_keep_text(list, text->str);
}

/* NULL: not known. */
static const char *module_file_name(BodyRows *list, const clrsym_body *body)
{
        const char *name = file_name_of(body->module_path);

        return name && *name ? body_rows_keep_text(list, name) : NULL;
}

/* NULL: not known. */
static const char *first_line(BodyRows *list, const clrsym_process *process,
                              const clrsym_body *body)
{
        g_autoptr(GString) text = g_string_new(NULL);
        clrsym_line line;

        if (!list->lines ||
            line_source_find_first(list->lines, process, body, &line) != CLRSYM_LINE_FOUND)
                return NULL;
        g_string_append_printf(text, "%s:%" G_GUINT32_FORMAT, line.file, line.line);
        return body_rows_keep_text(list, text->str);
}

static BodyRow row_of_body(BodyRows *list, const clrsym_process *process, const clrsym_body *body)
{
        BodyRow row = {
                .pid = process->pid,
                .generation = process->generation,
                .pid_ns = process->pid_ns,
                .start = body->start,
                .method_id = body->method_id,
                .loaded = body->loaded,
                .unloaded = body->unloaded,
                .il_version = body->il_version,
                .has_il_version = body->has_il_version,
                .size = body->size,
                .rejit_id = body->rejit_id,
                .jit_us = (uint32_t)MIN(body->jit_ns / 1000, UINT32_MAX),
                .il_size = body->il_size,
                .flags = body->flags,
                .tier = clrsym_tier_name(body->tier),
                .symbol = runtime_name(list, body),
                .shown = shown_name(list, process->pid, body),
                .module = module_file_name(list, body),
                .number = list->rows->len,
        };

        row.n_name = symbol_name_length(row.symbol);
        return row;
}

/* A list that is being read. */
typedef struct Reading {
        BodyRows *list;
        BodyTest is_wanted;
        void *data;
} Reading;

static void body_rows_add(BodyRows *list, const BodyRow *row)
{
        const BodyRow *first = list->rows->len ? body_rows_get(list, 0) : row;

        list->is_of_several |= row->pid != first->pid || row->pid_ns != first->pid_ns;
        g_array_append_val(list->rows, *row);
}

static int body_rows_take_row(clrsym_row *json, void *data)
{
        Reading *reading = data;
        BodyRows *list = reading->list;
        clrsym_process process;
        clrsym_body body;
        BodyRow row;
        int r = clrsym_row_body(json, &process, &body);

        if (r < 0)
                return r;
        row = row_of_body(list, &process, &body);
        if (reading->is_wanted && !reading->is_wanted(&row, reading->data))
                return 0;
        row.source = first_line(list, &process, &body);
        if (list->keeps_json) {
                size_t n;
                const char *text = clrsym_row_json(json, &n);

                row.json = g_string_chunk_insert_len(list->texts, text, (gssize)n);
        }
        body_rows_add(list, &row);
        return 0;
}

bool body_rows_read(BodyRows *list, AnswerSource *source, const char *method, json_t *parameters,
                    const char *member, BodyTest is_wanted, void *data, GError **error)
{
        Reading reading = {list, is_wanted, data};

        return answer_source_rows(source, method, parameters, member, body_rows_take_row, &reading,
                                  error);
}

/* Identifies a method or an address of a process, to count its bodies. */
typedef struct Place {
        uint64_t process; /* the pid and the generation */
        uint64_t pid_ns;
        uint64_t what;
} Place;

static guint place_hash(gconstpointer key)
{
        const Place *place = key;
        uint64_t hash = (place->what ^ place->process << 7 ^ place->pid_ns << 29) *
                        UINT64_C(0x9e3779b97f4a7c15);

        return (guint)(hash >> 32);
}

static gboolean place_equal(gconstpointer a, gconstpointer b)
{
        return !memcmp(a, b, sizeof(Place));
}

static Place place_of(const BodyRow *row, uint64_t what)
{
        return (Place){(uint64_t)(uint32_t)row->pid << 32 | row->generation, row->pid_ns, what};
}

/* The values are the counts; the keys are owned. */
static void body_rows_count_one(GHashTable *counts, Place place)
{
        gpointer n = g_hash_table_lookup(counts, &place);

        g_hash_table_insert(counts, g_memdup2(&place, sizeof(place)),
                            GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
}

static uint32_t count_of(GHashTable *counts, Place place)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(counts, &place));
}

void body_rows_count(BodyRows *list, const BodyRows *all)
{
        g_autoptr(GHashTable) versions =
                g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
        g_autoptr(GHashTable) reuses = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
        guint i;

        for (i = 0; i < all->rows->len; i++) {
                const BodyRow *row = body_rows_get(all, i);

                body_rows_count_one(versions, place_of(row, row->method_id));
                body_rows_count_one(reuses, place_of(row, row->start));
        }
        for (i = 0; i < list->rows->len; i++) {
                BodyRow *row = body_rows_get(list, i);

                row->n_versions = count_of(versions, place_of(row, row->method_id));
                row->n_reuses = count_of(reuses, place_of(row, row->start));
        }
}
