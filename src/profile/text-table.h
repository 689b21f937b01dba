/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * TextTable: each text once, by numbers; number 0 is the empty text
 */

#include <glib.h>
#include <stdint.h>

typedef struct TextTable {
        GPtrArray *texts;  /* owned, in the order of their numbers */
        GHashTable *index; /* owned: text (of TEXTS) -> number */
} TextTable;

void text_table_init(TextTable *table);
void text_table_deinit(TextTable *table);
/* The number of TEXT, which is copied if it is new. */
uint32_t text_table_number(TextTable *table, const char *text);
