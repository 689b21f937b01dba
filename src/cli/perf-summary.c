/* SPDX-License-Identifier: MIT */
#include "cli/perf-summary.h"

#include "util/message.h"
#include "util/proc.h"

#include <inttypes.h>
#include <string.h>

/* One in so many managed frames. */
#define UNLISTED_SHARE 20
/* One in so many frames. */
#define RUNTIME_SHARE 50
/* One in so many named frames. */
#define MARKED_SHARE 100

/* The path under which this process can open a recorded process's file, through that process's root
 * directory if it is another one. */
static char *summary_path_from_here(const PerfSummary *summary, const char *path)
{
        const GPtrArray *processes = summary->recording->processes;
        guint i;

        if (g_file_test(path, G_FILE_TEST_EXISTS) || !summary->has_images)
                return g_strdup(path);
        for (i = 0; i < processes->len; i++) {
                const RecordingProcess *process = processes->pdata[i];
                g_autofree char *found = g_strdup_printf("/proc/%d/root%s", process->pid, path);

                if (g_file_test(found, G_FILE_TEST_EXISTS))
                        return g_steal_pointer(&found);
        }
        return g_strdup(path);
}

/* Prints advice if the runtime's own code has no names. */
static void summary_print_runtime(const PerfSummary *summary, const Counts *counts)
{
        const GArray *binaries = summary->recording->binaries;
        g_autofree char *from_here = NULL;
        const char *library = NULL;
        guint i;

        if (counts->n[COUNT_RUNTIME_UNNAMED] <= counts->n[COUNT_FRAMES] / RUNTIME_SHARE)
                return;
        for (i = 0; i < binaries->len && !library; i++)
                if (g_str_has_suffix(g_array_index(binaries, Binary, i).path, "/libcoreclr.so"))
                        library = g_array_index(binaries, Binary, i).path;
        from_here = library ? summary_path_from_here(summary, library) : NULL;
        message_print("clrsym",
                      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                      " frames are in libcoreclr.so and libclrjit.so, which have no symbols here: "
                      "dotnet-symbol --symbols -o DIR %s gets them; then add --symbols DIR",
                      (guint64)counts->n[COUNT_RUNTIME_UNNAMED], (guint64)counts->n[COUNT_FRAMES],
                      from_here ? from_here : "libcoreclr.so");
}

/* Prints why names are uncertain, unless only a few late events are the reason. */
static void summary_print_marked(const Counts *counts)
{
        static const struct {
                Count count;
                const char *reason;
        } MARKS[] = {
                {COUNT_MARKED_GAP, "events of their processes from before or at that time are "
                                   "missing, because they were lost or came before the session"},
                {COUNT_MARKED_PENDING,
                 "not all events of that time had arrived when they were named"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(MARKS); i++)
                if (counts->n[MARKS[i].count] > counts_named(counts) / MARKED_SHARE)
                        message_print("clrsym", "%" G_GUINT64_FORMAT " frames are marked ~: %s",
                                      (guint64)counts->n[MARKS[i].count], MARKS[i].reason);
}

/* Explains frames without a line, which look like those of a recording without --lines. */
static void summary_print_lines(const Counts *counts)
{
        const bool can_have_more =
                counts->n[COUNT_LINE_PDB_MISSING] || counts->n[COUNT_LINE_PDB_OTHER];
        char text[1000];

        counts_summary_lines(counts, text, sizeof(text));
        message_print("clrsym", "%s%s", text,
                      can_have_more ? "; directories with PDBs can be given: --symbols DIR" : "");
}

/* Bytes of /proc/PID/comm, at most. */
#define MAX_COMM 64

/* True if a recorded process is still running, on this machine. */
static bool summary_can_attach(const PerfSummary *summary)
{
        const GPtrArray *processes = summary->recording->processes;
        guint i;

        if (!summary->has_images || summary->is_nettrace || summary->is_over)
                return false;
        for (i = 0; i < processes->len; i++) {
                const RecordingProcess *process = processes->pdata[i];
                g_autofree char *comm = NULL;
                size_t n;

                comm = proc_read_file(process->pid, "comm", MAX_COMM, &n);
                if (process->addresses->len && comm && !strcmp(g_strchomp(comm), process->comm))
                        return true;
        }
        return false;
}

/* Callers of async methods. */
static void summary_print_async(const PerfSummary *summary)
{
        if (summary->n_joined)
                message_print("clrsym",
                              "%" PRIu64 " samples are of methods that continue after an await, "
                              "%" PRIu64 " of them with the methods that await them",
                              summary->n_joined + summary->n_apart, summary->n_joined);
        else if (summary->n_apart)
                message_print("clrsym",
                              "%" PRIu64 " samples are of methods that continue after an await, "
                              "without the methods that await them: only clrsym record of .NET 11 "
                              "or later records these",
                              summary->n_apart);
}

/* Waits that are not shown. */
static void summary_print_waits(const PerfSummary *summary)
{
        if (summary->n_uncertain_waits)
                message_print("clrsym",
                              "%" PRIu64 " of %" PRIu64 " waits are left out: perf lost records of "
                              "switches between threads",
                              summary->n_uncertain_waits, summary->n_waits);
        if (summary->recording->n_lost && summary->n_waits)
                message_print("clrsym",
                              "perf lost %" PRIu64 " events: waits can be missing; record with "
                              "--call-graph dwarf,4096, or for a shorter time",
                              summary->recording->n_lost);
}

/* Frame pointers skip callers of methods without one. */
static void summary_print_no_code(const PerfSummary *summary, const Counts *counts)
{
        const char *stacks = summary->recording->stacks;
        const bool has_stacks = stacks && (!strcmp(stacks, "frames") || !strcmp(stacks, "copies"));

        if (!summary->has_code && !summary->is_nettrace && has_stacks && counts->n[COUNT_JITTED])
                message_print("clrsym",
                              "callers of small methods can be missing: %s has no compiled code; "
                              "clrsym record keeps it, and clrsym report reads it, without "
                              "--trace, while the program still runs",
                              summary->input);
}

static const char *const FILE_REASONS[] = {
        [FILE_GONE] = "the recorded file is gone, or cannot be read, or another one is there now",
        [FILE_TWIN] = "several files were there during the recording, for example of containers, "
                      "and the recorded one is gone, or cannot be read",
        [FILE_CHANGED] = "the file was changed after the program had mapped it",
};

/* Prints why native code and kernel code can lack names. */
static void summary_print_native(const PerfSummary *summary)
{
        const int32_t costly = summary->places ? code_places_costly_process(summary->places) : 0;
        const char *name = costly ? address_spaces_name(summary->spaces, costly) : NULL;
        const MappedFile *missing;
        FileReason reason;

        if (costly)
                message_print("clrsym",
                              "names of native code of %s (%d) can be missing: the tables of "
                              "symbols of its files are larger than the %d MiB that are read for "
                              "a process",
                              name ? name : "a process", costly,
                              (int)(FILE_SYMBOLS_MAX_WORK >> 20));
        /* Other recorders have names of their own. */
        missing = summary->places && !summary->is_collect
                          ? code_places_missing(summary->places, &reason)
                          : NULL;
        if (missing)
                message_print("clrsym", "native code of %s has no names: %s", missing->path,
                              FILE_REASONS[reason]);
        if (summary->kernel && kernel_symbols_reason(summary->kernel))
                message_print("clrsym", "%skernel code has no names: %s",
                              summary->is_collect ? "other " : "",
                              kernel_symbols_reason(summary->kernel));
}

void perf_summary_print_unnamed(const Counts *counts)
{
        char text[1000];

        if (counts_summary_unnamed(counts, text, sizeof(text)))
                message_print("clrsym", "%s", text);
}

void perf_summary_print(const PerfSummary *summary)
{
        const Counts *counts = summary->counts;
        char text[1000];
        uint64_t n_unlisted;

        summary_print_native(summary);
        summary_print_async(summary);
        summary_print_waits(summary);
        n_unlisted =
                counts->n[COUNT_IMAGE] - MIN(counts->n[COUNT_IMAGE], counts->n[COUNT_IMAGE_NAMED]);
        if (n_unlisted > counts_managed(counts) / UNLISTED_SHARE) {
                if (!summary->has_images)
                        message_print("clrsym",
                                      "%s was recorded on another machine, before the last boot, "
                                      "or without -k mono: precompiled code was not looked up in "
                                      "the assemblies on this machine",
                                      summary->input);
                message_print("clrsym",
                              "%" G_GUINT64_FORMAT " frames of precompiled code are unknown: a "
                              "process lists such code when it ends%s",
                              (guint64)n_unlisted,
                              summary_can_attach(summary)
                                      ? "; to list it now, run clrsym attach PID, then this "
                                        "command again"
                                      : "");
        }
        if (counts->n[COUNT_MANAGED_UNNAMED] > counts_managed(counts) / UNLISTED_SHARE &&
            !summary->options->socket)
                message_print(
                        "clrsym",
                        "%" G_GUINT64_FORMAT
                        " frames have no name: %s has no list of the code that was there before "
                        "(rundown): give --trace with a recording of the process that has one",
                        (guint64)counts->n[COUNT_MANAGED_UNNAMED], summary->input);
        summary_print_marked(counts);
        if (counts->n[COUNT_OUTSIDE])
                message_print("clrsym",
                              "%" G_GUINT64_FORMAT " samples are of processes outside of the pid "
                              "namespace that perf ran in: record outside of the container",
                              (guint64)counts->n[COUNT_OUTSIDE]);
        summary_print_runtime(summary, counts);
        summary_print_no_code(summary, counts);
        if (options_has(summary->options, OPTION_LINES))
                summary_print_lines(counts);
        if (counts_summary_stacks(counts, text, sizeof(text)))
                message_print("clrsym", "%s", text);
        counts_summary(counts, text, sizeof(text));
        message_print("clrsym", "%s, %" G_GUINT64_FORMAT " events lost by %s", text,
                      (guint64)summary->recording->n_lost,
                      summary->is_nettrace  ? "the session"
                      : summary->is_collect ? "the recorder"
                                            : "perf");
}
