/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Search: the .NET processes of the machine, or those that some processes start, each found once
 *
 * Reading what a process has mapped is dear, so that is done while a process is young, when it has
 * become another program, or when a port is noticed. A look at all of a thousand processes that are
 * not young reads their number and little else. A user's processes are read for a part of the time
 * only, whatever they have mapped.
 */

#include "attach/port-watch.h"
#include "attach/process-filter.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Search Search;

typedef struct SearchScope {
        bool is_whole_machine;       /* else only the roots and what they start */
        uid_t uid;                   /* whose processes; PROCESSES_ANY_USER */
        const ProcessFilter *filter; /* borrowed; NULL: none */
        /* The processes of USER take so long to read that some are put off: called once for each
         * user. NULL: not wanted. */
        void (*slow)(uid_t user, void *data);
        /* The kernel refuses to show the mappings of a process of USER: called once for each user.
         * NULL: not wanted. */
        void (*hidden)(uid_t user, void *data);
        void *data;
} SearchScope;

Search *search_new(const SearchScope *scope);
/* NULL is fine. */
void search_free(Search *search);

/*
 * The .NET processes that no look before has found: an array of pid_t, which the caller owns. One
 * that runs another program since then is found again.
 */
GArray *search_look(Search *search);

/*
 * Borrowed: readable when a runtime may have started, long before a look would have found it. -1:
 * that cannot be noticed, and looks alone have to do; or not again within SEARCH_REST_MS, since
 * files may be made all the time.
 */
int search_fd(const Search *search);
#define SEARCH_REST_MS PORT_WATCH_REST_MS
/* After search_fd() was readable. True: it is time to look. */
bool search_take_ports(Search *search);

/* Was PID found, and is what it was found for? */
bool search_has(const Search *search, pid_t pid);

/* The owner of PID, which was found. */
uid_t search_owner(const Search *search, pid_t pid);

/* PID is a root from now on. */
void search_add_root(Search *search, pid_t pid);
/* Is PID, which was found, a root, or does it descend from one? */
bool search_descends(const Search *search, pid_t pid);

/*
 * PID was found, and could not be attached: its runtime is mapped a moment before its port opens.
 * True: a later look finds it again. False: that was tried often enough.
 */
bool search_retry(Search *search, pid_t pid);
