/* SPDX-License-Identifier: MIT */
#include "cli/perf-stacks.h"

#include "moment/moment.h"
#include "unwind/call-frames.h"

/* One stack in so many. */
#define BAD_SHARE 50

void perf_stacks_note(const StackCounts *counts, bool is_deep, GPtrArray *notes)
{
        const uint64_t bad = counts->n_samples / BAD_SHARE;

        if (counts->n_cut && is_deep)
                g_ptr_array_add(
                        notes, g_strdup_printf(
                                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                       " stacks are deeper than the limits of %u frames and %d MiB "
                                       "of one, and %d MiB of all: their outermost callers are "
                                       "missing",
                                       (guint64)counts->n_cut, (guint64)counts->n_samples,
                                       STACK_WALK_MAX_DEEP, (int)(MOMENT_MAX_DEEP >> 20),
                                       (int)(MOMENT_MAX_STACKS >> 20)));
        else if (counts->n_cut > bad && !counts->is_aside)
                g_ptr_array_add(
                        notes, g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                               " stacks are longer than their copies: record with "
                                               "larger copies, up to --call-graph dwarf,65528",
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
                        notes,
                        g_strdup_printf(
                                "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                " stacks can lack callers: %s is missing here, or has changed "
                                "since the recording",
                                (guint64)counts->n_missing, (guint64)counts->n_samples,
                                counts->missing));
        if (counts->n_spent > 0)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " stacks can lack callers: the call frame information of "
                                        "%s needs more than the %d MiB that a process may cost",
                                        (guint64)counts->n_spent, (guint64)counts->n_samples,
                                        counts->spent, (int)(CALL_FRAMES_MAX_WORK >> 20)));
        if (counts->n_unread > counts->n_chains / BAD_SHARE)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " stacks can lack callers of small methods: the compiled "
                                        "code of %s could not be read, because it ended too early "
                                        "or you may not read its memory (ptrace(2))",
                                        (guint64)counts->n_unread, (guint64)counts->n_chains,
                                        counts->unread));
}

void perf_stacks_note_kind(const char *stacks, const char *input, GPtrArray *notes)
{
        static const struct {
                const char *stacks, *note;
        } ROWS[] = {
                {"none", "without stacks: record them with perf record -k mono -g ..."},
                {"dwarf",
                 "with copies of stacks and without registers, so the callers cannot be found: "
                 ".NET code keeps frame pointers, so record with perf record -k mono -g"},
                {"lbr",
                 "with --call-graph lbr, whose stacks perf's filters see in the kernel only: .NET "
                 "code keeps frame pointers, so record with perf record -k mono -g"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (!g_strcmp0(stacks, ROWS[i].stacks))
                        g_ptr_array_add(notes,
                                        g_strdup_printf("%s was recorded %s", input, ROWS[i].note));
}
