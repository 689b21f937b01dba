/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Table: columns for people, each as wide as its widest cell
 *
 * On a terminal no line exceeds the terminal's width: the last column gets the remaining width, and
 * is cut. If too little remains, the least important columns are left out.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Column {
        const char *heading; /* static */
        bool is_right;       /* right-aligned, for numbers */
        /* 0: always shown. On a narrow terminal, the column with the largest rank is left out
         * first. */
        unsigned rank;
        unsigned max; /* maximum width on a terminal; 0: no limit */
} Column;

typedef struct Table Table;

/* COLUMNS is borrowed. */
Table *table_new(const Column *columns, guint n_columns);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/*
 * Adds the next cell, row by row. NULL and "" are shown as "-"; unprintable characters as escapes.
 */
void table_add(Table *table, const char *text);
void table_add_format(Table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A time in ns as "S.NNNNNNNNN". */
void table_add_time(Table *table, bool is_known, guint64 time);
void table_print(const Table *table);
