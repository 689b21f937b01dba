/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Search: the .NET processes of the machine, each found once
 *
 * Reading what a process has mapped is dear, so that is done while a process is young, or when it
 * has become another program.
 */

#include <glib.h>

typedef struct Search Search;

Search *search_new(void);
/* NULL is fine. */
void search_free(Search *search);

/*
 * The .NET processes that no look before has found: an array of pid_t, which the caller owns. Only
 * the user's own, unless that is root.
 */
GArray *search_look(Search *search);
