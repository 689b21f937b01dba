/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Link: where questions are answered, a daemon or a trace, and what was answered, as it stands
 */

#include "cli/json-span.h"
#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <jansson.h>

typedef struct Link Link;

/* Of a trace. */
typedef enum LinkFlags {
        LINK_PLAIN = 0,
        LINK_JIT_EVENTS = 1, /* take those about the JIT's work, too */
        LINK_SAVE = 2,       /* write a snapshot to options->output */
} LinkFlags;

Link *link_open(const Options *options, LinkFlags flags, GError **error);
void link_free(Link *link);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Link, link_free)

/* For what the functions below do not do. */
clrsym *link_handle(Link *link);
/* ERROR from what the library says about its last call. */
void link_set_error(Link *link, GError **error);

/* {"pid":..., "pid_ns":...}, or {} if no process is named. The caller's. */
json_t *link_parameters(const Options *options);

/*
 * Calls METHOD with PARAMETERS, which it takes over, and returns the parameters of the reply,
 * borrowed until the next call. WAIT_MS is how long the daemon was told that it may wait.
 */
bool link_call(Link *link, const char *method, json_t *parameters, unsigned wait_ms,
               JsonSpan *ret_parameters, GError **error);

/* False: no more of them. ROW is valid during the call. */
typedef bool (*LinkRowFn)(JsonSpan row, void *data);

/* Calls, and hands on each element of the array MEMBER of the replies. Takes over PARAMETERS. */
bool link_rows(Link *link, const char *method, json_t *parameters, const char *member, LinkRowFn fn,
               void *data, GError **error);
/* The same, and prints each on a line of its own. */
bool link_print_rows(Link *link, const char *method, json_t *parameters, const char *member,
                     GError **error);

/* TEXT as people write times, to ns. */
bool link_time(Link *link, const char *text, uint64_t *ret_time, GError **error);

/* Everything that goes wrong here ends the program with a message: one kind is enough. */
#define LINK_ERROR (g_quark_from_static_string("clrsym-link"))
