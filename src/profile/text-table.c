/* SPDX-License-Identifier: MIT */
#include "profile/text-table.h"

void text_table_init(TextTable *table)
{
        *table = (TextTable){g_ptr_array_new_with_free_func(g_free),
                             g_hash_table_new(g_str_hash, g_str_equal)};
        text_table_number(table, "");
}

void text_table_deinit(TextTable *table)
{
        g_hash_table_unref(table->index);
        g_ptr_array_unref(table->texts);
}

uint32_t text_table_number(TextTable *table, const char *text)
{
        const guint number = table->texts->len;
        gpointer known;

        if (g_hash_table_lookup_extended(table->index, text, NULL, &known))
                return GPOINTER_TO_UINT(known);
        g_ptr_array_add(table->texts, g_strdup(text));
        g_hash_table_insert(table->index, g_ptr_array_index(table->texts, number),
                            GUINT_TO_POINTER(number));
        return number;
}
