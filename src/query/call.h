/* SPDX-License-Identifier: MIT */
#pragma once

/* Call: one call being answered, and all methods */

#include "query/parameters.h"
#include "query/query.h"
#include "util/time-text.h"

typedef struct Call {
        const QueryContext *context;
        const json_t *parameters; /* borrowed, maybe NULL */
        GString **queries; /* borrowed; owned or NULL, to be taken: their text, without the array's
                              brackets; the parameters have none then */
        bool is_more;      /* the caller accepts several replies */
        QueryProgress *progress;
        GString *out;                        /* the reply so far; a continued call appends to it */
        const char *wrong;                   /* name of the invalid parameter, or NULL (static) */
        const char *error;                   /* or the name of another error (static) */
        const char *error_key, *error_value; /* its parameter, or NULL */
        QueryNext next;
        bool has_times; /* `times` is set: few calls need it */
        TimeContext times;
} Call;

/* False, with `wrong` set, if a parameter is invalid. */
bool call_get_filter(Call *call, ProcessFilter *ret_filter);
/*
 * A parameter that is a time: text, or integer ns. False if it is absent; or, with `wrong` set, if
 * it is invalid.
 */
bool call_get_time(Call *call, const char *name, uint64_t *ret_time);

/* NULL, or the error of the time (static). */
const char *call_time_from_json(Call *call, const json_t *node, uint64_t *ret_time);

/* True if other clients' turn has come: the call continues with QUERY_AGAIN. */
bool call_is_turn_over(const Call *call);
/* Sets the error of a reply that is too long; INSTEAD is the remedy (static). */
bool call_is_too_long(Call *call, const char *instead);

/* Sets the error of a call, or of a query in it, that call_text_parse() has found too large. */
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
