/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call: one call under way, and the methods that there are
 */

#include "core/time-text.h"
#include "query/parameters.h"
#include "query/query.h"

typedef struct Call {
        const QueryContext *context;
        const json_t *parameters; /* borrowed, maybe NULL */
        bool is_more;             /* the caller takes several replies */
        QueryProgress *progress;
        GString *out;      /* parameters of the reply */
        const char *wrong; /* name of the parameter that is wrong, if one is (static) */
        const char *error; /* or the name of another error (static), */
        const char *error_key, *error_value; /* with this parameter */
        QueryNext next;
} Call;

/* False with the call's `wrong` set. */
bool call_get_filter(Call *call, ProcessFilter *ret_filter);
/* A parameter that is a time: text, or integer ns. Absent: false, with WRONG as it was. */
bool call_get_time(Call *call, const char *name, uint64_t *ret_time);
/* What "now" and times of day mean for what is asked. */
void call_time_context(const Call *call, TimeContext *ret_context);

/* NULL, or what is wrong with the time (static). */
const char *time_from_json(const json_t *node, const TimeContext *times, uint64_t *ret_time);

/* The methods, by file. */
void call_resolve(Call *call);
void call_parse_time(Call *call);
void call_list_processes(Call *call);
void call_list_methods(Call *call);
void call_list_modules(Call *call);
void call_history(Call *call);
void call_versions(Call *call);
void call_jit_statistics(Call *call);
void call_status(Call *call);
void call_metrics(Call *call);
void call_watch(Call *call);
void call_bulk(Call *call);
void call_get_info(Call *call);
void call_get_interface_description(Call *call);
