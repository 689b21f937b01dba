/* SPDX-License-Identifier: MIT */
#include "cli/perf-stacks.h"

#include "unwind/call-frames.h"
#include "unwind/stack-file.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>

/* One stack in so many. */
#define BAD_SHARE 50

static void stacks_note(const StackCounts *counts, GPtrArray *notes)
{
        const uint64_t bad = counts->n_samples / BAD_SHARE;

        if (counts->n_cut > bad && !counts->is_aside)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " stacks are longer than what perf copied of them: record "
                                        "with --call-graph dwarf,32768",
                                        (guint64)counts->n_cut, (guint64)counts->n_samples));
        if (counts->n_hidden_left)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf(
                                "%" G_GUINT64_FORMAT " callers of methods that were "
                                "replaced on the stack (OSR) were left out, of %" G_GUINT64_FORMAT
                                ": record for a shorter time",
                                (guint64)counts->n_hidden_left,
                                (guint64)(counts->n_hidden_left + counts->n_hidden)));
        if (counts->n_missing > bad && !counts->is_aside)
                g_ptr_array_add(
                        notes, g_strdup_printf(
                                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                       " stacks can lack callers: %s is not the file any more that "
                                       "was recorded",
                                       (guint64)counts->n_missing, (guint64)counts->n_samples,
                                       counts->missing));
        if (counts->n_spent > 0)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf(
                                "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                " stacks can lack callers: to read the call frame information of %s"
                                " takes more than the %d MiB that a process may cost",
                                (guint64)counts->n_spent, (guint64)counts->n_samples, counts->spent,
                                (int)(CALL_FRAMES_MAX_WORK >> 20)));
}

void perf_stacks_unwind(const char *input, const StackSources *sources, const char *directory,
                        PerfStacks *ret_stacks, GPtrArray *notes)
{
        enum { FLAGS = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC };
        g_auto(PerfStacks) stacks = {
                .samples = g_build_filename(directory, "perf.data", NULL),
                .hidden = g_build_filename(directory, "callers", NULL),
        };
        FD_AUTO int fd = open(stacks.samples, FLAGS, 0600);
        FD_AUTO int hidden_fd = open(stacks.hidden, FLAGS, 0600);
        g_autoptr(GError) error = NULL;
        g_auto(StackCounts) counts = {0};

        *ret_stacks = (PerfStacks){0};
        if (fd < 0 || hidden_fd < 0 ||
            !stack_file_unwind(input, sources, fd, hidden_fd, &counts, &error)) {
                g_ptr_array_add(notes,
                                g_strdup_printf("callers are missing in the stacks of %s: %s",
                                                input, error ? error->message : g_strerror(errno)));
                return;
        }
        stacks_note(&counts, notes);
        *ret_stacks = stacks;
        stacks = (PerfStacks){0};
}

void perf_stacks_deinit(PerfStacks *stacks)
{
        g_clear_pointer(&stacks->samples, g_free);
        g_clear_pointer(&stacks->hidden, g_free);
}
