/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Table: columns for people, each as wide as its widest cell
 */

#include <glib.h>

typedef struct Table Table;

/* HEADINGS ends with NULL. */
Table *table_new(const char *const *headings);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* Takes over TEXT: the next cell, row by row. */
void table_add(Table *table, char *text);
void table_print(const Table *table);
