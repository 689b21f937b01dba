/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Search: the .NET processes of the machine, or those that some processes start, each found once
 *
 * Reading the mappings of a process is expensive, so the search does it only while a process is
 * young, when it runs another program, or when a port appears. A scan of a thousand processes that
 * are not young reads little besides their pids. Reading a user's processes has a limited share of
 * time, whatever they have mapped.
 */

#include "attach/port-watch.h"
#include "attach/process-filter.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Search Search;

typedef struct SearchScope {
        bool is_whole_machine;       /* false: only the roots and their descendants */
        uid_t uid;                   /* user of the processes; PROCESSES_ANY_USER */
        const ProcessFilter *filter; /* borrowed; NULL: none */
        /* Reading the processes of USER takes so long that some are postponed: called once for each
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
 * Returns newly found .NET processes: an array of pid_t, which the caller owns. A process that runs
 * another program since is found again.
 */
GArray *search_look(Search *search);

/*
 * Borrowed: readable when a runtime may have started, long before a scan would find it. -1: not
 * supported, so that scans must suffice, or within SEARCH_REST_MS of the last time, because files
 * may be made all the time.
 */
int search_fd(const Search *search);
#define SEARCH_REST_MS PORT_WATCH_REST_MS
/* Call this when search_fd() is readable. True: a scan is due. */
bool search_take_ports(Search *search);

/* True if PID was found and still runs the same program. */
bool search_has(const Search *search, pid_t pid);

/* The owner of the found process PID. */
uid_t search_owner(const Search *search, pid_t pid);

/* Makes PID a root. */
void search_add_root(Search *search, pid_t pid);
/* True if the found process PID is a root, or descends from one. */
bool search_descends(const Search *search, pid_t pid);

/*
 * Call this if the found process PID could not be attached, because its runtime is mapped a moment
 * before its port opens. True: a later scan finds it again. False: no more retries.
 */
bool search_retry(Search *search, pid_t pid);
