/* SPDX-License-Identifier: MIT */
#include "cli/perf-stacks.h"

#include "unwind/stack-file.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>

/* One stack in so many. */
#define CUT_SHARE 50

char *perf_stacks_unwind(const char *input, const char *directory, GPtrArray *notes)
{
        g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        g_autoptr(GError) error = NULL;
        StackCounts counts;

        if (fd < 0 || !stack_file_unwind(input, fd, &counts, &error)) {
                g_ptr_array_add(notes,
                                g_strdup_printf("callers are missing in the stacks of %s: %s",
                                                input, error ? error->message : g_strerror(errno)));
                return NULL;
        }
        if (counts.n_cut > counts.n_samples / CUT_SHARE)
                g_ptr_array_add(
                        notes,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " stacks are longer than what perf copied of them: record "
                                        "with --call-graph dwarf,32768",
                                        (guint64)counts.n_cut, (guint64)counts.n_samples));
        return g_steal_pointer(&path);
}
