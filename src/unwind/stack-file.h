/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A perf.data file with copies of stacks becomes one with callers
 *
 * perf script cannot unwind .NET code, which has no DWARF, and its filters see no stack that was
 * not unwound by the kernel. So the callers are found here: by call frame information where a file
 * has it, by the machine code of .NET methods, and by frame pointers elsewhere. All else of the
 * file stays as it is.
 */

#include "unwind/call-frames.h"
#include "unwind/method-finder.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct StackCounts {
        uint64_t n_samples; /* with a copy of the stack */
        uint64_t n_cut;     /* the copy ends before the callers do */
        uint64_t n_missing; /* with frames of a file that is not there, or is another one now */
        char *missing;      /* owned: the path of that with most such frames; NULL: none */
        uint64_t n_spent;   /* of processes whose files cost too much to be read */
        char *spent;        /* owned: the process with most such frames; NULL: none */
        bool is_aside;      /* other events have no copies: their samples are those of interest */
        uint64_t n_hidden;  /* rows of callers that were written */
        uint64_t n_hidden_left; /* rows that were too many */
} StackCounts;

void stack_counts_deinit(StackCounts *counts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StackCounts, stack_counts_deinit)

/* Sources besides the recording and the mapped files; all borrowed. */
typedef struct StackSources {
        const MethodFinder *methods; /* NULL: the code of compiled methods is not known */
        const DebugFinder *debug;    /* NULL: no debug files are to be used */
} StackSources;

/* Do samples of the file have copies of stacks? False also if it cannot be read. */
bool stack_file_is(const char *path);

/*
 * Writes the file to FD, and to HIDDEN_FD the callers that its frames can hide
 * (perf/osr-callers.h). x86-64 only: false elsewhere.
 */
bool stack_file_unwind(const char *path, const StackSources *sources, int fd, int hidden_fd,
                       StackCounts *ret_counts, GError **error);
