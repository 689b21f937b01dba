/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack list: the threads of a process with their named frames
 */

#include "cli/stack-registers.h"
#include "perf/sample-sink.h"

#include <glib.h>
#include <stdbool.h>

typedef struct StackList {
        GArray *frames;  /* owned, of NamedFrame, by the sink's numbers; with owned strings */
        GArray *threads; /* owned, of ListedThread */
        GArray *entries; /* owned, of Entry: those of the sample that comes next */
} StackList;

/* What is shown of them. */
typedef struct StackView {
        bool is_json;
        const StackRegisters *registers; /* borrowed, JSON: of the frames; NULL: not shown */
        bool is_each;                    /* text: threads with equal stacks are printed apart */
        bool has_tier;                   /* text */
        bool has_source;                 /* text */
} StackView;

void stack_list_init(StackList *list);
void stack_list_deinit(StackList *list);

/* It takes what comes next into LIST. */
SampleSink stack_list_sink(StackList *list);
/* Prints to stdout, in the order of the threads' ids. */
void stack_list_print(StackList *list, const StackView *view);
