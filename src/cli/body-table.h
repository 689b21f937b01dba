/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body table: bodies for people, or as JSON
 */

#include "cli/body-list.h"

typedef enum BodyColumn {
        BODY_PID, /* shown if there are several */
        BODY_ADDR,
        BODY_SIZE,
        BODY_VER,
        BODY_IL,
        BODY_TIER,
        BODY_JIT_MS,
        BODY_LOADED,
        BODY_UNLOADED,
        BODY_VERSIONS, /* shown if asked for, as is the next */
        BODY_REUSE,
        BODY_MODULE,
        BODY_METHOD,
        _BODY_COLUMN_MAX,
} BodyColumn;

#define BODY_COLUMN_BIT(column) (1u << (column))

/* The columns IMPORTANT (BODY_COLUMN_BITs) are shown, however narrow the terminal is. */
void body_table_print(const BodyList *list, unsigned important);

/*
 * Prints what METHOD answers for each argument, which is the call's parameter KEY, beside the
 * process that is named; IL_VERSION, too, if it was given.
 */
bool body_table_print_each(const Options *options, const char *method, const char *key,
                           GError **error);
