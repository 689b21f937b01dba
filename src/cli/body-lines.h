/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lists of bodies, for people or as JSON: what methods, history and versions print
 */

#include "cli/link.h"

/* Calls METHOD and prints the bodies in the array MEMBER of the reply. */
bool body_lines_print(Link *link, const Options *options, const char *method,
                      const char *parameters, const char *member, GError **error);

/* The same for each argument, which is the call's parameter KEY; of one process, or of all. */
bool body_lines_print_each(Link *link, const Options *options, const char *method, const char *key,
                           GError **error);
