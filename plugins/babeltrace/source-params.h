/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Parameters of source.clrsym.ctf, of a component and of a query alike
 */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

typedef struct SourceParams {
        GPtrArray *inputs; /* owned paths of directories, one at least */
        bool has_others;   /* also the events that clrsym does not decode */
        char *trace_name;  /* owned; NULL: not given */
} SourceParams;

/* False with an owned *RET_ERROR: deinit is to be called all the same. */
bool source_params_init(SourceParams *source, const bt_value *params, char **ret_error);
void source_params_deinit(SourceParams *source);
