/* SPDX-License-Identifier: MIT */
#pragma once

/* Parameters of source.clrsym.ctf, for a component and for a query */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

typedef struct SourceParams {
        GPtrArray *inputs; /* owned array of owned paths: at least one directory */
        bool has_others;   /* emit events that clrsym does not decode, too */
        char *trace_name;  /* owned; NULL: not given */
} SourceParams;

/* False: *RET_ERROR is the reason (owned by the caller). Deinitialize SOURCE in both cases. */
bool source_params_init(SourceParams *source, const bt_value *params, char **ret_error);
void source_params_deinit(SourceParams *source);
