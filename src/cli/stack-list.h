/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack list: the threads of a process with their named frames
 *
 * Where a method continues after an await, its callers on the stack are not its awaiting methods.
 * The list inserts the known awaiting methods there, and a frame that marks the place.
 */

#include "cli/perf-async.h"
#include "cli/stack-registers.h"
#include "perf/sample-sink.h"

#include <glib.h>
#include <stdbool.h>

typedef struct StackList {
        GArray *frames;  /* owned, of NamedFrame, by the sink's numbers; owns its strings */
        GArray *threads; /* owned, of ListedThread */
        GArray *entries; /* owned, of Entry: for the next sample */
        bool is_physical;
        /* For chains: */
        Profile *profile;      /* owned: of the frames */
        PerfAsync async;       /* the owner of the chains sets them */
        GArray *numbers;       /* owned, uint32_t: numbers in PROFILE, by FRAMES */
        GArray *awaiting;      /* owned, of NamedFrame: frames of chains, as FRAMES */
        GHashTable *by_number; /* owned: number in PROFILE -> index in AWAITING + 1 */
} StackList;

/* What a list shows: options of its printing. */
typedef struct StackView {
        bool is_json;
        const StackRegisters
                *registers; /* borrowed, JSON: registers of the frames; NULL: not shown */
        bool is_each;       /* text: do not fold threads with equal stacks, and recursive frames */
        bool has_tier;      /* text */
        bool has_source;    /* text */
} StackView;

/* IS_PHYSICAL: list calls only. */
void stack_list_init(StackList *list, bool is_physical);
void stack_list_deinit(StackList *list);

/* The sink adds samples to LIST. */
SampleSink stack_list_sink(StackList *list);
/* Prints to stdout, in the order of thread ids. */
void stack_list_print(StackList *list, const StackView *view);
