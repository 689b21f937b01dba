/* SPDX-License-Identifier: MIT */
#include "symbols/symbol-table.h"

#include <string.h>

/* Symbols can be nested: this many symbols that begin before an address are compared. */
#define MAX_NESTED 16u

#define PAGE UINT64_C(4096)

typedef struct SymbolRow {
        uint64_t start, end; /* END is excluded; that of a symbol without a size is START */
        uint32_t name;       /* its place among the names */
        uint32_t rank;       /* of SymbolRank */
} SymbolRow;

void symbol_table_init(SymbolTable *table)
{
        table->rows = g_array_new(FALSE, FALSE, sizeof(SymbolRow));
        table->names = g_byte_array_new();
}

void symbol_table_deinit(SymbolTable *table)
{
        g_clear_pointer(&table->rows, g_array_unref);
        g_clear_pointer(&table->names, g_byte_array_unref);
}

void symbol_table_add(SymbolTable *table, uint64_t start, uint64_t size, const char *name,
                      unsigned rank)
{
        const SymbolRow row = {.start = start,
                               .end = start + MIN(size, UINT64_MAX - start),
                               .name = table->names->len,
                               .rank = rank};
        const size_t n = strlen(name) + 1;

        if (table->rows->len == G_MAXINT32 || n > (size_t)G_MAXINT32 - table->names->len)
                return;
        g_array_append_val(table->rows, row);
        g_byte_array_append(table->names, (const uint8_t *)name, (guint)n);
}

static const char *table_name(const SymbolTable *table, const SymbolRow *row)
{
        return (const char *)table->names->data + row->name;
}

static size_t name_underscores(const char *name)
{
        return strspn(name, "_");
}

/* Less than 0: A is the better name of two at one address. */
static int symbol_row_compare_names(const SymbolTable *table, const SymbolRow *a,
                                    const SymbolRow *b)
{
        const bool has_size = a->end > a->start;
        size_t x, y;

        if (has_size != (b->end > b->start))
                return has_size ? -1 : 1;
        if (!has_size)
                return (a->name < b->name) - (a->name > b->name);
        if ((a->rank ^ b->rank) & SYMBOL_WEAK)
                return a->rank & SYMBOL_WEAK ? 1 : -1;
        if ((a->rank ^ b->rank) & SYMBOL_LOCAL)
                return a->rank & SYMBOL_LOCAL ? 1 : -1;
        x = name_underscores(table_name(table, a));
        y = name_underscores(table_name(table, b));
        if (x != y)
                return x < y ? -1 : 1;
        x = strlen(table_name(table, a));
        y = strlen(table_name(table, b));
        if (x != y)
                return x > y ? -1 : 1;
        return (a->name > b->name) - (a->name < b->name);
}

static int symbol_row_compare(gconstpointer one, gconstpointer other, gpointer data)
{
        const SymbolRow *a = one, *b = other;

        return a->start != b->start ? (a->start > b->start) - (a->start < b->start)
                                    : symbol_row_compare_names(data, a, b);
}

void symbol_table_sort(SymbolTable *table, bool is_extended)
{
        SymbolRow *rows = (SymbolRow *)(void *)table->rows->data;
        uint64_t end = 0; /* of the symbols so far */
        guint n = 0, i;

        g_array_sort_with_data(table->rows, symbol_row_compare, table);
        for (i = 0; i < table->rows->len; i++) {
                const bool is_label = rows[i].end == rows[i].start;

                if ((n && rows[n - 1].start == rows[i].start) || (is_label && rows[i].start < end))
                        continue;
                end = MAX(end, rows[i].end);
                rows[n++] = rows[i];
        }
        g_array_set_size(table->rows, n);
        for (i = 0; is_extended && i < n; i++)
                if (rows[i].end == rows[i].start)
                        rows[i].end = i + 1 < n ? rows[i + 1].start
                                                : (rows[i].start | (PAGE - 1)) + 1 + PAGE;
}

void symbol_table_move(SymbolTable *table, uint64_t by)
{
        guint i;

        for (i = 0; i < table->rows->len; i++) {
                SymbolRow *row = &g_array_index(table->rows, SymbolRow, i);

                row->start += by;
                row->end += by;
        }
}

const char *symbol_table_find(const SymbolTable *table, uint64_t address, uint64_t *ret_start)
{
        const SymbolRow *rows = (const SymbolRow *)(const void *)table->rows->data;
        guint low = 0, high = table->rows->len, n;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (rows[middle].start <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (n = 0; low > 0 && n < MAX_NESTED; low--, n++)
                if (address < rows[low - 1].end || address == rows[low - 1].start) {
                        *ret_start = rows[low - 1].start;
                        return table_name(table, &rows[low - 1]);
                }
        return NULL;
}

size_t symbol_table_size(const SymbolTable *table)
{
        return table->rows ? table->rows->len * sizeof(SymbolRow) + table->names->len : 0;
}
