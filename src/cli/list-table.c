/* SPDX-License-Identifier: MIT */
#include "cli/list-table.h"

#include "cli/json-field.h"
#include "cli/output.h"

typedef struct Printing {
        const ListTable *list;
        Table *table; /* NULL: as JSON */
        bool has_time;
        uint64_t time;
} Printing;

/* True if the row was alive at the requested time. A row without a begin is alive from the start, a
 * row without an end still is. */
static bool is_there(const Printing *printing, const json_t *row)
{
        uint64_t from = 0, to = UINT64_MAX;

        field_time(row, printing->list->from, &from);
        field_time(row, printing->list->to, &to);
        return !printing->has_time || (from <= printing->time && printing->time < to);
}

static void add_words(Table *table, const json_t *words)
{
        g_autoptr(GString) text = g_string_new(NULL);
        size_t i;

        for (i = 0; i < json_array_size(words); i++) {
                const char *word = json_string_value(json_array_get(words, i));

                g_string_append_printf(text, "%s%s", i ? "," : "", word ? word : "?");
        }
        table_add(table, text->len ? text->str : NULL);
}

static void add_cell(Table *table, const json_t *value)
{
        if (json_is_integer(value))
                table_add_format(table, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else if (json_is_array(value))
                add_words(table, value);
        else
                table_add(table, json_string_value(value));
}

static int list_table_take_row(clrsym_row *text, void *data)
{
        const Printing *printing = data;
        const ListTable *list = printing->list;
        size_t n;
        const char *json = clrsym_row_json(text, &n);
        json_auto_t *row = json_loadb(json, n, 0, NULL);
        unsigned i;

        if (is_there(printing, row)) {
                for (i = 0; printing->table && i < list->n_fields; i++)
                        add_cell(printing->table, json_object_get(row, list->fields[i].member));
                if (!printing->table)
                        output_line(json, n);
        }
        return 0;
}

bool list_table_print(const ListTable *list, AnswerSource *source, json_t *parameters,
                      const Options *options, GError **error)
{
        g_autofree Column *columns = g_new(Column, list->n_fields);
        g_autoptr(Table) table = NULL;
        Printing printing = {.list = list, .has_time = options->at != NULL};
        unsigned i;

        if (options->at && !answer_source_time(source, options->at, &printing.time, error)) {
                json_decref(parameters);
                return false;
        }
        for (i = 0; i < list->n_fields; i++)
                columns[i] = list->fields[i].column;
        if (!options_has(options, OPTION_JSON))
                printing.table = table = table_new(columns, list->n_fields);
        if (!answer_source_rows(source, list->method, parameters, list->member, list_table_take_row,
                                &printing, error))
                return false;
        if (table)
                table_print(table);
        return true;
}
