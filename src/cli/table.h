/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Table: columns for people, each as wide as its widest cell
 *
 * On a terminal lines are no longer than it is wide: the last column takes what the others leave,
 * and is cut; where they would leave too little, the least important are left out.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Column {
        const char *heading; /* static */
        bool is_right;       /* numbers */
        /* 0: always shown. Else, on a terminal that is too narrow, left out: the largest first. */
        unsigned rank;
        unsigned max; /* columns that it has on a terminal at most; 0: as many as it needs */
} Column;

typedef struct Table Table;

/* COLUMNS is borrowed. */
Table *table_new(const Column *columns, guint n_columns);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* The next cell, row by row. NULL and "" are shown as "-"; what is not printable, as escapes. */
void table_add(Table *table, const char *text);
void table_add_format(Table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A time in ns as "S.NNNNNNNNN". */
void table_add_time(Table *table, bool is_known, guint64 time);
void table_print(const Table *table);
