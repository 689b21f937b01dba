/* SPDX-License-Identifier: MIT */
#include "cli/body-rows.h"

#include "cli/json-field.h"
#include "cli/symbol-text.h"
#include "util/guid-text.h"

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

/* One copy of each: there are few modules and tiers, and many versions of a method. */
static const char *body_rows_keep_text(BodyRows *list, const char *text)
{
        return text ? g_string_chunk_insert_const(list->texts, text) : NULL;
}

static clrsym_tier tier_from_name(const char *name)
{
        int tier = CLRSYM_TIER_READY_TO_RUN;

        while (tier > CLRSYM_TIER_UNKNOWN && g_strcmp0(name, clrsym_tier_name(tier)))
                tier--;
        return (clrsym_tier)tier;
}

static const char *shown_name(BodyRows *list, const json_t *object)
{
        g_autoptr(GString) text = g_string_new(NULL);
        const json_t *method = field_object(object, "method");
        const json_t *target = field_object(method, "stub_for");
        const json_t *module = field_object(object, "module");
        const char *token = field_text(method, "token"), *guid = field_text(module, "pdb_guid");
        clrsym_body body = {
                .start = field_hex(object, "start"),
                .size = (uint32_t)field_number(object, "size"),
                .tier = tier_from_name(field_text(field_object(object, "version"), "tier")),
                .module_path = field_text(module, "path"),
                .token = token ? (uint32_t)field_hex(method, "token") : 0,
                .name_space = field_text(method, "namespace"),
                .name = field_text(method, "name"),
                .signature = field_text(method, "signature"),
                .method_id = field_hex(method, "id"),
                .stub_name_space = field_text(target, "namespace"),
                .stub_name = field_text(target, "name"),
                .stub_signature = field_text(target, "signature"),
                .type_args = field_text(method, "type_args"),
        };

        if (guid)
                guid_from_text(guid, strlen(guid), body.module_pdb_guid);
        symbol_text_append(text, (int32_t)field_number(object, "pid"), &body);
        return body_rows_keep_text(list, text->str);
}

/* NULL: not known. */
static const char *first_line(BodyRows *list, JsonSpan body)
{
        g_autoptr(GString) text = g_string_new(NULL);
        clrsym_line line;

        if (!list->lines || line_source_find_first(list->lines, body, &line) != CLRSYM_LINE_FOUND)
                return NULL;
        g_string_append_printf(text, "%s:%" G_GUINT32_FORMAT, line.file, line.line);
        return body_rows_keep_text(list, text->str);
}

static BodyRow row_from_json(BodyRows *list, const json_t *object)
{
        const json_t *version = field_object(object, "version");
        const json_t *il_version = json_object_get(version, "il_version");
        const char *symbol = field_text(object, "symbol"), *tier = field_text(version, "tier");
        double jit_ms = json_number_value(json_object_get(object, "jit_ms"));
        BodyRow row = {
                .pid = (int32_t)field_number(object, "pid"),
                .generation = (uint32_t)field_number(object, "generation"),
                .pid_ns = field_number(object, "pid_ns"),
                .start = field_hex(object, "start"),
                .method_id = field_hex(field_object(object, "method"), "id"),
                .unloaded = CLRSYM_ALIVE,
                .il_version = field_number(version, "il_version"),
                .has_il_version = json_is_integer(il_version),
                .size = (uint32_t)field_number(object, "size"),
                .rejit_id = (uint32_t)field_number(version, "rejit_id"),
                .jit_us = jit_ms > 0 && jit_ms < 4e6 ? (uint32_t)(jit_ms * 1000 + 0.5) : 0,
                .il_size = (uint32_t)field_number(field_object(object, "method"), "il_size"),
                .flags = (uint32_t)field_number(object, "flags"),
                .tier = body_rows_keep_text(list, tier ? tier : "?"),
                .symbol = body_rows_keep_text(list, symbol ? symbol : "?"),
                .shown = shown_name(list, object),
                .module = body_rows_keep_text(list, module_file_name(object)),
                .number = list->rows->len,
        };

        field_time(object, "loaded", &row.loaded);
        field_time(object, "unloaded", &row.unloaded);
        row.n_name = symbol_name_length(row.symbol);
        return row;
}

/* A list while it is read. */
typedef struct Reading {
        BodyRows *list;
        BodyTest is_wanted;
        void *data;
} Reading;

static void body_rows_add(BodyRows *list, BodyRow *row, JsonSpan text)
{
        const BodyRow *first = list->rows->len ? body_rows_get(list, 0) : row;

        row->source = first_line(list, text);
        if (list->keeps_json)
                row->json = g_string_chunk_insert_len(list->texts, text.at, (gssize)text.n);
        list->is_of_several |= row->pid != first->pid || row->pid_ns != first->pid_ns;
        g_array_append_val(list->rows, *row);
}

static bool body_rows_take_row(JsonSpan text, void *data)
{
        Reading *reading = data;
        json_auto_t *object = json_span_load(text);

        if (json_is_object(object)) {
                BodyRow row = row_from_json(reading->list, object);

                if (!reading->is_wanted || reading->is_wanted(&row, reading->data))
                        body_rows_add(reading->list, &row, text);
        }
        return true;
}

bool body_rows_read(BodyRows *list, AnswerSource *source, const char *method, json_t *parameters,
                    const char *member, BodyTest is_wanted, void *data, GError **error)
{
        Reading reading = {list, is_wanted, data};

        return answer_source_rows(source, method, parameters, member, body_rows_take_row, &reading,
                                  error);
}

/* A method or an address of a process, of which bodies are counted. */
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
