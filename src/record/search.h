/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Search: the .NET processes of the machine, or those that some processes start, each found once
 *
 * Reading what a process has mapped is dear, so that is done while a process is young, or when it
 * has become another program.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Search Search;

/* Finds the processes of the machine, or else the roots and what they start. */
Search *search_new(bool is_whole_machine);
/* NULL is fine. */
void search_free(Search *search);

/*
 * The .NET processes that no look before has found: an array of pid_t, which the caller owns. Only
 * the user's own, unless that is root.
 */
GArray *search_look(Search *search);

/* PID is a root from now on. */
void search_add_root(Search *search, pid_t pid);
/* Is PID, which was found, a root, or does it descend from one? */
bool search_descends(const Search *search, pid_t pid);

/*
 * PID was found, and could not be attached: its runtime is mapped a moment before its port opens.
 * True: a later look finds it again. False: that was tried often enough.
 */
bool search_retry(Search *search, pid_t pid);
