/* SPDX-License-Identifier: MIT */
#pragma once

/* Call: a call in progress, and the functions of all methods */

#include "query/parameters.h"
#include "query/query.h"
#include "util/time-text.h"

typedef struct Call {
        const QueryContext *context;
        const json_t *parameters; /* borrowed; NULL: none */
        GString *
                *queries; /* borrowed; *queries owned: text of the parameter `queries`, without
                             brackets, which a method may take; NULL: the parameters contain them */
        bool is_more;     /* the caller accepts several replies */
        QueryProgress *progress;
        GString *out;      /* the reply so far; a continued call appends to it */
        const char *wrong; /* name of the invalid parameter (static); NULL: none */
        const char *error; /* name of another error (static); NULL: none */
        const char *error_key, *error_value; /* parameter of that error; NULL: none */
        QueryNext next;
        bool has_times; /* `times` is set, which few calls need */
        TimeContext times;
} Call;

/* False, with `wrong` set, if a parameter is invalid. */
bool call_get_filter(Call *call, ProcessFilter *ret_filter);
/*
 * Reads a parameter that is a time: text, or integer ns. False: absent; or invalid, with `wrong`
 * set.
 */
bool call_get_time(Call *call, const char *name, uint64_t *ret_time);

/* Returns NULL, or the error of the time (static). */
const char *call_time_from_json(Call *call, const json_t *node, uint64_t *ret_time);

/* True if it is the turn of other clients: the call continues with QUERY_AGAIN. */
bool call_is_turn_over(const Call *call);
/* Sets the error of a too long reply; INSTEAD is the remedy (static). */
bool call_is_too_long(Call *call, const char *instead);

/* Sets the error of a call, or of a query in it, that is too large for call_text_parse(). */
void call_refuse_size(Call *call);
/* The error for bytes that are not a call. */
#define CALL_NO_OBJECT "a call is one JSON object, in which no name occurs twice"

/* The methods. */
void call_resolve(Call *call);
void resolve_free(Resolve *resolve);
size_t resolve_size(const Resolve *resolve);
void call_parse_time(Call *call);
void call_list_processes(Call *call);
void call_list_methods(Call *call);
void call_list_modules(Call *call);
void call_list_assemblies(Call *call);
void call_history(Call *call);
void call_versions(Call *call);
void call_jit_statistics(Call *call);
void call_status(Call *call);
void call_metrics(Call *call);
void call_watch(Call *call);
void call_bulk(Call *call);
void call_get_info(Call *call);
void call_get_interface_description(Call *call);
