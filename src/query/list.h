/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * List: a reply with rows, process by process
 *
 * A caller that accepts several replies gets a list in parts. Each part continues after the last
 * row of the previous part, even if the tracker has changed: a known process keeps its serial, and
 * a known body or module keeps its number. If a turn ends within a part, or within the only reply,
 * the list continues in the same way.
 */

#include "query/call.h"

/* The place of a row. A history goes backwards: later rows are done. */
typedef struct ListPlace {
        uint64_t serial; /* of its process */
        uint32_t number; /* of the body or module */
        uint64_t time;   /* of the body */
} ListPlace;

typedef struct List {
        Call *call;
        unsigned n_looks;
        ListPlace at; /* the next row, where the list continues */
} List;

/* Begins the reply, unless it has begun: an object whose MEMBER is the array of rows. */
void list_begin(List *list, Call *call, const char *member);
/* False if the turn ends before the list's next row. */
bool list_has_time(List *list);
/* False if the list ends before this row: the part is full, the turn is over, or it is too long. */
bool list_row(List *list);
void list_end(List *list);

/* Appends the rows of one process, from item FIRST on. False if the list ends. */
typedef bool (*ListProcess)(List *list, const Process *process, uint32_t first, const void *data);

/* Appends the rows of all processes that match FILTER and that the viewer sees, and ends LIST. */
void list_processes(List *list, const ProcessFilter *filter, ListProcess list_process,
                    const void *data);
