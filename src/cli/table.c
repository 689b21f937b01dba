/* SPDX-License-Identifier: MIT */
#include "cli/table.h"
#include "cli/output.h"

struct Table {
        GPtrArray *cells; /* owned strings, row by row; the headings are the first row */
        guint n_columns;
};

Table *table_new(const char *const *headings)
{
        Table *table = g_new0(Table, 1);

        table->cells = g_ptr_array_new_with_free_func(g_free);
        table->n_columns = g_strv_length((char **)headings);
        for (; *headings; headings++)
                table_add(table, g_strdup(*headings));
        return table;
}

void table_free(Table *table)
{
        if (!table)
                return;
        g_ptr_array_unref(table->cells);
        g_free(table);
}

void table_add(Table *table, char *text)
{
        g_ptr_array_add(table->cells, text);
}

void table_print(const Table *table)
{
        g_autofree glong *widths = g_new0(glong, table->n_columns);
        guint i;

        for (i = 0; i < table->cells->len; i++) {
                glong *width = &widths[i % table->n_columns];

                *width = MAX(*width, g_utf8_strlen(table->cells->pdata[i], -1));
        }
        for (i = 0; i < table->cells->len; i++) {
                const char *text = table->cells->pdata[i];
                guint column = i % table->n_columns;

                /* Nothing behind the last one: lines have no blanks at their end. */
                if (column == table->n_columns - 1)
                        output_print("%s\n", text);
                else
                        output_print("%s%*s", text,
                                     (int)(widths[column] - g_utf8_strlen(text, -1) + 2), "");
        }
}
