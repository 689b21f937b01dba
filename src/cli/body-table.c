/* SPDX-License-Identifier: MIT */
#include "cli/body-table.h"

#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"

#define HEX "0x%" G_GINT64_MODIFIER "x"

static void add_pid(Table *table, const BodyRow *row)
{
        if (row->pid_ns)
                table_add_format(table, "%" G_GUINT64_FORMAT ":%" G_GINT32_FORMAT,
                                 (guint64)row->pid_ns, row->pid);
        else
                table_add_format(table, "%" G_GINT32_FORMAT, row->pid);
}

static void add_address(Table *table, const BodyRow *row)
{
        table_add_format(table, HEX, (guint64)row->start);
}

static void add_size(Table *table, const BodyRow *row)
{
        if (row->size)
                table_add_format(table, "%" G_GUINT32_FORMAT, row->size);
        else
                table_add(table, NULL);
}

static void add_version(Table *table, const BodyRow *row)
{
        table_add_format(table, "%" G_GUINT32_FORMAT, row->rejit_id);
}

static void add_il_version(Table *table, const BodyRow *row)
{
        if (row->has_il_version)
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)row->il_version);
        else
                table_add(table, NULL);
}

static void add_tier(Table *table, const BodyRow *row)
{
        table_add(table, row->tier);
}

static void add_jit_time(Table *table, const BodyRow *row)
{
        if (row->jit_us)
                table_add_format(table, "%" G_GUINT32_FORMAT ".%03" G_GUINT32_FORMAT,
                                 row->jit_us / 1000, row->jit_us % 1000);
        else
                table_add(table, NULL);
}

static void add_loaded(Table *table, const BodyRow *row)
{
        table_add_time(table, row->loaded != CLRSYM_NO_TIME, row->loaded);
}

static void add_unloaded(Table *table, const BodyRow *row)
{
        table_add_time(table, row->unloaded != CLRSYM_ALIVE, row->unloaded);
}

static void add_versions(Table *table, const BodyRow *row)
{
        table_add_format(table, "%" G_GUINT32_FORMAT, row->n_versions);
}

static void add_reuses(Table *table, const BodyRow *row)
{
        table_add_format(table, "%" G_GUINT32_FORMAT, row->n_reuses);
}

static void add_il_size(Table *table, const BodyRow *row)
{
        if (row->il_size)
                table_add_format(table, "%" G_GUINT32_FORMAT, row->il_size);
        else
                table_add(table, NULL);
}

static void add_module(Table *table, const BodyRow *row)
{
        table_add(table, row->module);
}

static void add_source(Table *table, const BodyRow *row)
{
        table_add(table, row->source);
}

static void add_method(Table *table, const BodyRow *row)
{
        table_add(table, row->shown);
}

/* Ranks: columns that identify the row are left out last. */
static const struct {
        Column column;
        void (*add)(Table *table, const BodyRow *row);
} COLUMNS[_BODY_COLUMN_MAX] = {
        [BODY_PID] = {{"PID", true, 1, 0}, add_pid},
        [BODY_ADDR] = {{"ADDR", false, 0, 0}, add_address},
        [BODY_SIZE] = {{"SIZE", true, 3, 0}, add_size},
        [BODY_VER] = {{"VER", true, 4, 0}, add_version},
        [BODY_IL] = {{"IL", true, 9, 0}, add_il_version},
        [BODY_TIER] = {{"TIER", false, 2, 0}, add_tier},
        [BODY_JIT_MS] = {{"JIT-MS", true, 8, 0}, add_jit_time},
        [BODY_LOADED] = {{"LOADED", true, 5, 0}, add_loaded},
        [BODY_UNLOADED] = {{"UNLOADED", true, 6, 0}, add_unloaded},
        [BODY_VERSIONS] = {{"VERSIONS", true, 0, 0}, add_versions},
        [BODY_REUSE] = {{"REUSE", true, 0, 0}, add_reuses},
        [BODY_IL_SIZE] = {{"IL-SIZE", true, 0, 0}, add_il_size},
        [BODY_MODULE] = {{"MODULE", false, 7, 28}, add_module},
        [BODY_LINE] = {{"LINE", false, 0, 0}, add_source},
        [BODY_METHOD] = {{"METHOD", false, 0, 0}, add_method},
};

void body_table_print(const BodyRows *list, unsigned important)
{
        unsigned hidden = (BODY_COLUMN_BIT(BODY_VERSIONS) | BODY_COLUMN_BIT(BODY_REUSE) |
                           BODY_COLUMN_BIT(BODY_IL_SIZE)) &
                          ~important;
        BodyColumn shown[_BODY_COLUMN_MAX];
        Column columns[_BODY_COLUMN_MAX];
        g_autoptr(Table) table = NULL;
        guint i, n = 0, row;

        if (!list->is_of_several)
                hidden |= BODY_COLUMN_BIT(BODY_PID);
        if (!list->lines)
                hidden |= BODY_COLUMN_BIT(BODY_LINE);
        for (i = 0; i < _BODY_COLUMN_MAX; i++) {
                if (hidden & BODY_COLUMN_BIT(i))
                        continue;
                columns[n] = COLUMNS[i].column;
                if (important & BODY_COLUMN_BIT(i))
                        columns[n].rank = 0;
                shown[n++] = (BodyColumn)i;
        }
        table = table_new(columns, n);
        for (row = 0; row < list->rows->len; row++)
                for (i = 0; i < n; i++)
                        COLUMNS[shown[i]].add(table, body_rows_get(list, row));
        table_print(table);
}

/* The row, with the first line of its method. */
static int print_with_line(clrsym_row *row, void *data)
{
        g_autoptr(GString) text = g_string_new(NULL);
        int r = line_source_append_body(data, text, row);

        if (r < 0)
                return r;
        output_line(text->str, text->len);
        return output_error() ? 1 : 0;
}

static bool print_json(AnswerSource *source, LineSource *lines, const char *method,
                       json_t *parameters, GError **error)
{
        return lines ? answer_source_rows(source, method, parameters, "bodies", print_with_line,
                                          lines, error)
                     : answer_source_print_rows(source, method, parameters, "bodies", error);
}

bool body_table_print_each(const Options *options, const char *method, const char *key,
                           const char *none, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        g_autoptr(BodyRows) list = body_rows_new(false);
        const bool is_json = options_has(options, OPTION_JSON);
        uint64_t time;
        char **argument;

        if (!source || (options->at && !answer_source_time(source, options->at, &time, error)))
                return false;
        if (options_has(options, OPTION_LINES))
                list->lines = line_source_new(options);
        for (argument = options->arguments; *argument; argument++) {
                g_autofree char *text = g_utf8_make_valid(*argument, -1);
                json_t *parameters = answer_source_parameters(options);
                const guint n_before = list->rows->len;
                bool ok;

                json_object_set_new(parameters, key, json_string(text));
                if (options->at)
                        json_object_set_new(parameters, "time", json_integer((json_int_t)time));
                if (options_has(options, OPTION_IL_VERSION))
                        json_object_set_new(parameters, "il_version",
                                            json_integer((json_int_t)options->il_version));
                ok = is_json ? print_json(source, list->lines, method, parameters, error)
                             : body_rows_read(list, source, method, parameters, "bodies",
                                              /* is_wanted= */ NULL, /* data= */ NULL, error);
                if (!ok)
                        return false;
                if (!is_json && list->rows->len == n_before)
                        answer_source_print_hint(text, none);
        }
        if (!is_json)
                body_table_print(list, /* important= */ 0);
        return true;
}

bool verb_history(const Options *options, GError **error)
{
        return body_table_print_each(options, "History", "addr",
                                     "no code is known to have been there: clrsym resolve says why",
                                     error);
}

bool verb_versions(const Options *options, GError **error)
{
        return body_table_print_each(options, "Versions", "method",
                                     "no code of such a method: a METHOD is Namespace.Type.Method, "
                                     "as clrsym methods lists it",
                                     error);
}
