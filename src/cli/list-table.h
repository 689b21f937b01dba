/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * List table: a list of the daemon, printed as a table or as JSON
 */

#include "cli/answer-source.h"
#include "cli/table.h"

typedef struct ListColumn {
        Column column;
        const char *member; /* member of a row: a string, a number, or an array of words */
} ListColumn;

typedef struct ListTable {
        const char *method;
        const char *member; /* the array in the reply */
        /* Members of a row with the begin and the end of its life. */
        const char *from, *to;
        const ListColumn *fields;
        unsigned n_fields;
} ListTable;

/* Calls the daemon with PARAMETERS, which it takes over. With --at, prints only rows alive at that
 * time. */
bool list_table_print(const ListTable *list, AnswerSource *source, json_t *parameters,
                      const Options *options, GError **error);
