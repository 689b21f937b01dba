/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Link: where questions are answered: by a daemon, or in this process from a trace
 */

#include "cli/json-span.h"
#include "cli/options.h"

typedef struct Link Link;

Link *link_open(const Options *options, GError **error);
void link_free(Link *link);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Link, link_free)

/*
 * Calls METHOD (without the interface) with PARAMETERS, a JSON object, and returns the parameters
 * of the reply, borrowed until the next call. WAIT_MS is how long the daemon was told that it may
 * wait.
 */
bool link_call(Link *link, const char *method, const char *parameters, unsigned wait_ms,
               JsonSpan *ret_parameters, GError **error);

/* Calls, and prints each element of the array MEMBER of the reply on a line of its own. */
bool link_print_lines(Link *link, const char *method, const char *parameters, const char *member,
                      GError **error);

/* Everything that goes wrong here ends the program with a message: one kind is enough. */
#define LINK_ERROR (g_quark_from_static_string("clrsym-link"))
