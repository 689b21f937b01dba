/* SPDX-License-Identifier: MIT */
#include "cli/perf-stacks.h"

#include "unwind/stack-file.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>

/* One stack in so many. */
#define BAD_SHARE 50

static void stacks_note(const StackCounts *counts, GPtrArray *notes)
{
        const uint64_t bad = counts->n_samples / BAD_SHARE;

        if (counts->n_cut > bad)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " stacks are longer than what perf copied of them: record "
                                        "with --call-graph dwarf,32768",
                                        (guint64)counts->n_cut, (guint64)counts->n_samples));
        if (counts->n_missing > bad)
                g_ptr_array_add(
                        notes, g_strdup_printf(
                                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                       " stacks can lack callers: %s is not the file any more that "
                                       "was recorded",
                                       (guint64)counts->n_missing, (guint64)counts->n_samples,
                                       counts->missing));
}

char *perf_stacks_unwind(const char *input, const char *directory, GPtrArray *notes)
{
        g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        g_autoptr(GError) error = NULL;
        g_auto(StackCounts) counts = {0};

        if (fd < 0 || !stack_file_unwind(input, fd, &counts, &error)) {
                g_ptr_array_add(notes,
                                g_strdup_printf("callers are missing in the stacks of %s: %s",
                                                input, error ? error->message : g_strerror(errno)));
                return NULL;
        }
        stacks_note(&counts, notes);
        return g_steal_pointer(&path);
}
