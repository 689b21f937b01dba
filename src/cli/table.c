/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include "cli/output.h"
#include "cli/terminal.h"
#include "util/printable-string.h"
#include "util/seconds-text.h"

#include <string.h>
#include <unistd.h>

/*
 * libsmartcols (2.38) was tried: it cuts the last column to nothing, without a mark, where this
 * table leaves out less important columns; it escapes all but ASCII in the C locale; and it needs
 * 117 bytes for a cell of 7 characters, this table 16. `clrsym methods --unloaded` has millions of
 * cells.
 */

#define GAP 2
/* The minimum width of the last column before other columns are left out. */
#define MIN_LAST 24
/* A truncated cell has room for a letter and the mark. */
#define MIN_CUT 4

struct Table {
        const Column *columns; /* borrowed */
        guint n_columns;
        GPtrArray *cells;    /* borrowed from TEXTS, row by row; headings come first */
        GStringChunk *texts; /* owned: there can be millions of them */
        GString *cell;       /* owned: the current cell */
};

/* The layout of a printed table. */
typedef struct Layout {
        unsigned *widths; /* owned, by column; 0: left out */
        unsigned width;   /* width of the terminal; 0: not a terminal */
} Layout;

Table *table_new(const Column *columns, guint n_columns)
{
        Table *table = g_new0(Table, 1);
        guint i;

        table->columns = columns;
        table->n_columns = n_columns;
        table->cells = g_ptr_array_new();
        table->texts = g_string_chunk_new(4096);
        table->cell = g_string_new(NULL);
        for (i = 0; i < n_columns; i++)
                table_add(table, columns[i].heading);
        return table;
}

void table_free(Table *table)
{
        if (!table)
                return;
        g_ptr_array_unref(table->cells);
        g_string_chunk_free(table->texts);
        g_string_free(table->cell, TRUE);
        g_free(table);
}

void table_add(Table *table, const char *text)
{
        g_string_truncate(table->cell, 0);
        printable_append(table->cell, text && *text ? text : "-");
        g_ptr_array_add(table->cells, g_string_chunk_insert_len(table->texts, table->cell->str,
                                                                (gssize)table->cell->len));
}

void table_add_format(Table *table, const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        table_add(table, text);
}

void table_add_time(Table *table, bool is_known, guint64 time)
{
        char text[SECONDS_TEXT_SIZE];

        table_add(table, is_known ? seconds_to_text(time, text) : NULL);
}

static void layout_measure(const Table *table, Layout *layout)
{
        guint i;

        for (i = 0; i < table->cells->len; i++) {
                const Column *column = &table->columns[i % table->n_columns];
                unsigned *width = &layout->widths[i % table->n_columns];
                unsigned n = terminal_columns(table->cells->pdata[i]);

                if (layout->width && column->max)
                        n = MIN(n, column->max);
                *width = MAX(*width, n);
        }
}

/* The width of all columns but the last. */
static unsigned layout_sum_others(const Table *table, const Layout *layout)
{
        unsigned sum = 0;
        guint i;

        for (i = 0; i < table->n_columns - 1; i++)
                sum += layout->widths[i] ? layout->widths[i] + GAP : 0;
        return sum;
}

/* Leaves out the least important column; false if none remains. */
static bool layout_leave_out(const Table *table, Layout *layout)
{
        guint i, worst = 0;

        for (i = 0; i < table->n_columns - 1; i++)
                if (layout->widths[i] &&
                    (!layout->widths[worst] || table->columns[i].rank > table->columns[worst].rank))
                        worst = i;
        if (!table->columns[worst].rank || !layout->widths[worst])
                return false;
        layout->widths[worst] = 0;
        return true;
}

static void layout_fit(const Table *table, Layout *layout)
{
        unsigned *last = &layout->widths[table->n_columns - 1];
        unsigned others;

        while ((others = layout_sum_others(table, layout)) + MIN(*last, MIN_LAST) > layout->width &&
               layout_leave_out(table, layout))
                ;
        if (others + *last > layout->width)
                *last = others + MIN_CUT < layout->width ? layout->width - others : MIN_CUT;
}

static void append_row(const Table *table, const Layout *layout, guint row, GString *line)
{
        guint i;

        for (i = 0; i < table->n_columns; i++) {
                unsigned width = layout->widths[i], n;

                if (!width)
                        continue;
                g_string_assign(table->cell, table->cells->pdata[row * table->n_columns + i]);
                if (layout->width)
                        terminal_cut(table->cell, width);
                n = width - MIN(width, terminal_columns(table->cell->str));
                if (table->columns[i].is_right)
                        g_string_append_printf(line, "%*s", (int)n, "");
                g_string_append_len(line, table->cell->str, (gssize)table->cell->len);
                /* Lines have no blanks at their end. */
                if (i < table->n_columns - 1)
                        g_string_append_printf(
                                line, "%*s", (int)(GAP + (table->columns[i].is_right ? 0 : n)), "");
        }
}

void table_print(const Table *table)
{
        g_autofree unsigned *widths = g_new0(unsigned, table->n_columns);
        Layout layout = {.widths = widths, .width = terminal_width(STDOUT_FILENO)};
        g_autoptr(GString) line = g_string_new(NULL);
        guint row;

        layout_measure(table, &layout);
        if (layout.width)
                layout_fit(table, &layout);
        for (row = 0; row < table->cells->len / table->n_columns; row++) {
                g_string_truncate(line, 0);
                append_row(table, &layout, row, line);
                output_line(line->str, line->len);
        }
}
