/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack list: the threads of a process with their named frames
 *
 * Where a method continues after an await, its callers on the stack are not the methods that await
 * it. These are listed between, as far as they are known, and a frame that shows the place.
 */

#include "cli/perf-async.h"
#include "cli/stack-registers.h"
#include "perf/sample-sink.h"

#include <glib.h>
#include <stdbool.h>

typedef struct StackList {
        GArray *frames;  /* owned, of NamedFrame, by the sink's numbers; with owned strings */
        GArray *threads; /* owned, of ListedThread */
        GArray *entries; /* owned, of Entry: those of the sample that comes next */
        bool is_physical;
        /* Otherwise: */
        Profile *profile;      /* owned: of the frames */
        PerfAsync async;       /* its chains are set by who has some */
        GArray *numbers;       /* owned, uint32_t: in the profile, of the frames */
        GArray *awaiting;      /* owned, of NamedFrame: of chains, as above */
        GHashTable *by_number; /* owned: number in the profile -> in these, plus 1 */
} StackList;

/* What is shown of them. */
typedef struct StackView {
        bool is_json;
        const StackRegisters *registers; /* borrowed, JSON: of the frames; NULL: not shown */
        bool is_each;  /* text: threads with equal stacks, and frames of a recursion, are not folded
                        */
        bool has_tier; /* text */
        bool has_source; /* text */
} StackView;

/* IS_PHYSICAL: only the calls are listed. */
void stack_list_init(StackList *list, bool is_physical);
void stack_list_deinit(StackList *list);

/* The name of thread *TID, and in *TID another id for it; NULL: it is not known. */
typedef const char *(*ThreadNameFn)(void *data, int32_t *tid);

void stack_list_name_threads(StackList *list, ThreadNameFn fn, void *data);

/* It takes what comes next into LIST. */
SampleSink stack_list_sink(StackList *list);
/* Prints to stdout, in the order of the threads' ids. */
void stack_list_print(StackList *list, const StackView *view);
