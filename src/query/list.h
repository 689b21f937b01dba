/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * List: a reply with rows, process by process
 *
 * A caller that takes several replies gets a list in parts. Each part goes on after the last row of
 * the part before, whatever has changed meanwhile: a process has a serial number, and a body or
 * module has a number, that it keeps as long as it is known. A part, or the one reply, goes on in
 * the same way when its turn is over.
 */

#include "query/call.h"

/* The place of a row; in a history, which goes backwards, a place of which all later ones are done.
 */
typedef struct ListPlace {
        uint64_t serial; /* of its process */
        uint32_t number; /* of the body or module */
        uint64_t time;   /* of the body */
} ListPlace;

typedef struct List {
        Call *call;
        unsigned n_looks;
        ListPlace at; /* the next row: where the list goes on if it ends before that */
} List;

/* Begins the reply, unless it is begun: an object whose MEMBER is the array of rows. */
void list_begin(List *list, Call *call, const char *member);
/* False if the turn is over before the place that the list is at. */
bool list_has_time(List *list);
/* False if the list ends before this row: the part is full, the turn is over, or it is too long. */
bool list_row(List *list);
void list_end(List *list);

/* Appends the rows of one process, from item FIRST on. False if the list ends. */
typedef bool (*ListProcess)(List *list, const Process *process, uint32_t first, const void *data);

/* Appends the rows of all processes that FILTER lets through and the viewer sees, and ends LIST. */
void list_processes(List *list, const ProcessFilter *filter, ListProcess list_process,
                    const void *data);
