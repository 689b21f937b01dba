/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * List table: a list of the daemon's, an object a row, as a table or as JSON
 */

#include "cli/answer-source.h"
#include "cli/table.h"

typedef struct ListColumn {
        Column column;
        const char *member; /* of a row: a string, a number, or an array of words */
} ListColumn;

typedef struct ListTable {
        const char *method;
        const char *member; /* the array in the reply */
        /* Members of a row: the times at which its life begins and ends. */
        const char *from, *to;
        const ListColumn *fields;
        unsigned n_fields;
} ListTable;

/* Calls with PARAMETERS, which it takes over. With --at, prints only rows alive at that time. */
bool list_table_print(const ListTable *list, AnswerSource *source, json_t *parameters,
                      const Options *options, GError **error);
