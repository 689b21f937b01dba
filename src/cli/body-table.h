/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body table: native code bodies as a table or as JSON
 */

#include "cli/body-rows.h"

typedef enum BodyColumn {
        BODY_PID, /* shown if there are several processes */
        BODY_ADDR,
        BODY_SIZE,
        BODY_VER,
        BODY_IL,
        BODY_TIER,
        BODY_JIT_MS,
        BODY_LOADED,
        BODY_UNLOADED,
        BODY_VERSIONS, /* this and the next two are shown on request */
        BODY_REUSE,
        BODY_IL_SIZE,
        BODY_MODULE,
        BODY_LINE, /* shown with --lines */
        BODY_METHOD,
        _BODY_COLUMN_MAX,
} BodyColumn;

#define BODY_COLUMN_BIT(column) (1u << (column))

/* The columns in IMPORTANT (BODY_COLUMN_BITs) are always shown, however narrow the terminal is. */
void body_table_print(const BodyRows *list, unsigned important);

/*
 * Calls METHOD for each argument, as the parameter KEY, and prints the bodies of the replies.
 * Passes on the given process and IL version. NONE is the hint for an argument without a body.
 */
bool body_table_print_each(const Options *options, const char *method, const char *key,
                           const char *none, GError **error);
