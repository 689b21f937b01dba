/* SPDX-License-Identifier: MIT */
#include "perf/counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *name;
        const char *reason; /* text in the summary; NULL: not in the summary */
} ROWS[_COUNT_MAX] = {
        [COUNT_SAMPLES] = {"samples", NULL},
        [COUNT_OTHER_SAMPLES] = {"other-samples", NULL},
        [COUNT_OUTSIDE] = {"outside", NULL},
        [COUNT_FRAMES] = {"frames", NULL},
        [COUNT_RUNTIME_UNNAMED] = {"runtime-unnamed", NULL},
        [COUNT_JITTED] = {"jitted", NULL},
        [COUNT_JITTED_NAMED] = {"jitted-named", NULL},
        [COUNT_IMAGE] = {"image", NULL},
        [COUNT_IMAGE_NAMED] = {"image-named", NULL},
        [COUNT_ELSEWHERE_NAMED] = {"elsewhere-named", NULL},
        [COUNT_MANAGED_UNNAMED] = {"managed-unnamed", NULL},
        [COUNT_MARKED] = {"marked", NULL},
        [COUNT_MARKED_GAP] = {"marked-gap", NULL},
        [COUNT_MARKED_PENDING] = {"marked-pending", NULL},
        [COUNT_OSR_CALLERS] = {"osr-callers", NULL},
        [COUNT_OSR_SURE] = {"osr-sure", NULL},
        [COUNT_OSR_LIKELY] = {"osr-likely", NULL},
        [COUNT_HIDDEN_CALLERS] = {"hidden-callers", NULL},
        [COUNT_NO_PROCESS] = {"no-process", "of unknown processes"},
        [COUNT_NO_METHOD] = {"no-method", "unknown"},
        [COUNT_UNLOADED] = {"unloaded", "unloaded before"},
        [COUNT_NOT_YET] = {"not-yet", "not loaded yet"},
        [COUNT_AMBIGUOUS] = {"ambiguous", "ambiguous"},
        [COUNT_PENDING] = {"pending", "later than the trace"},
        [COUNT_EVICTED] = {"evicted", "forgotten because memory was full"},
        [COUNT_CLOCK] = {"clock", "not named because of the clock"},
        [COUNT_RECORDER] = {"recorder", "with a name by the recorder only"},
        [COUNT_SEVERAL] = {"several", "with several names by the recorder"},
        [COUNT_STACK_WHOLE] = {"stack-whole", NULL},
        [COUNT_STACK_CUT_FRAMES] = {"stack-cut-frames",
                                    "cut at the limit of frames (kernel.perf_event_max_stack)"},
        [COUNT_STACK_CUT_COPY] = {"stack-cut-copy", "longer than what perf copied"},
        [COUNT_STACK_TORN] = {"stack-torn", "without a managed caller"},
        [COUNT_LINE_FOUND] = {"line-found", NULL},
        [COUNT_LINE_NO_METHOD] = {"line-no-method", "of no method"},
        [COUNT_LINE_NO_MODULE] = {"line-no-module", "in no assembly"},
        [COUNT_LINE_NO_IL] = {"line-no-il", "without an IL offset"},
        [COUNT_LINE_OTHER_IL] = {"line-other-il",
                                 "whose IL a profiler or hot reload may have replaced"},
        [COUNT_LINE_NO_PDB] = {"line-no-pdb", "compiled without a PDB"},
        [COUNT_LINE_PDB_MISSING] = {"line-pdb-missing", "whose PDB was not found"},
        [COUNT_LINE_PDB_OTHER] = {"line-pdb-other",
                                  "for which only PDBs of other builds are there"},
        [COUNT_LINE_PDB_WINDOWS] = {"line-pdb-windows", "with a PDB for Windows"},
        [COUNT_LINE_PDB_DAMAGED] = {"line-pdb-damaged", "with a damaged PDB"},
        [COUNT_LINE_NONE] = {"line-none", "of code that the compiler made up"},
        [COUNT_LINE_TOO_MUCH] = {"line-too-much", "of processes whose files take too much to read"},
};

const char *count_name(Count count)
{
        return ROWS[count].name;
}

uint64_t counts_managed(const Counts *counts)
{
        return counts->n[COUNT_JITTED] + counts->n[COUNT_IMAGE] + counts->n[COUNT_ELSEWHERE_NAMED] +
               counts->n[COUNT_MANAGED_UNNAMED];
}

uint64_t counts_named(const Counts *counts)
{
        return counts->n[COUNT_JITTED_NAMED] + counts->n[COUNT_IMAGE_NAMED] +
               counts->n[COUNT_ELSEWHERE_NAMED];
}

typedef struct Line {
        char *buffer;
        size_t size, n;
} Line;

static void __attribute__((format(printf, 2, 3))) counts_add(Line *line, const char *format, ...)
{
        size_t room = line->n < line->size ? line->size - line->n : 0;
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = vsnprintf(room ? line->buffer + line->n : NULL, room, format, arguments);
        va_end(arguments);
        line->n += n > 0 ? (size_t)n : 0;
}

static void counts_add_hidden(Line *line, const Counts *counts)
{
        const uint64_t n = counts->n[COUNT_OSR_CALLERS];
        const uint64_t sure = counts->n[COUNT_OSR_SURE], likely = counts->n[COUNT_OSR_LIKELY];

        if (n)
                counts_add(line,
                           ", %" PRIu64 " callers hidden by OSR (%" PRIu64 " found, %" PRIu64
                           " by other samples ~, %" PRIu64 " unknown)",
                           n, sure, likely, n - (sure + likely < n ? sure + likely : n));
        if (counts->n[COUNT_HIDDEN_CALLERS])
                counts_add(line, ", %" PRIu64 " callers unknown (no frame pointer)",
                           counts->n[COUNT_HIDDEN_CALLERS]);
}

size_t counts_summary(const Counts *counts, char *buffer, size_t n)
{
        uint64_t managed = counts_managed(counts), named = counts_named(counts);
        Line line = {buffer, n, 0};
        unsigned i;

        counts_add(&line, "%" PRIu64 " samples, %" PRIu64 " managed frames",
                   counts->n[COUNT_SAMPLES], managed);
        if (managed) {
                /* Truncated, so that only complete naming gives 100%. */
                uint64_t share = (uint64_t)((unsigned __int128)named * 10000 / managed);

                counts_add(&line,
                           ": %" PRIu64 ".%02" PRIu64 "%% named (%" PRIu64 " of %" PRIu64
                           " jitted, %" PRIu64 " of %" PRIu64 " precompiled; %" PRIu64 " marked ~)",
                           share / 100, share % 100, counts->n[COUNT_JITTED_NAMED],
                           counts->n[COUNT_JITTED], counts->n[COUNT_IMAGE_NAMED],
                           counts->n[COUNT_IMAGE], counts->n[COUNT_MARKED]);
        }
        counts_add_hidden(&line, counts);
        for (i = 0; i < COUNT_STACK_WHOLE; i++)
                if (ROWS[i].reason && (counts->n[i] || i == COUNT_UNLOADED || i == COUNT_NO_METHOD))
                        counts_add(&line, ", %" PRIu64 " %s", counts->n[i], ROWS[i].reason);
        return line.n;
}

/* Adds the counts from FIRST to before END that are not 0, with their reasons, after SEPARATOR. */
static void counts_add_reasons(Line *line, const Counts *counts, Count first, Count end,
                               const char *separator)
{
        unsigned i;

        for (i = first; i < end; i++)
                if (counts->n[i]) {
                        counts_add(line, "%s%" PRIu64 " %s", separator, counts->n[i],
                                   ROWS[i].reason);
                        separator = ", ";
                }
}

size_t counts_summary_unnamed(const Counts *counts, char *buffer, size_t n)
{
        const uint64_t managed = counts_managed(counts), named = counts_named(counts);
        Line line = {buffer, n, 0};

        if (named >= managed)
                return 0;
        counts_add(&line, "%" PRIu64 " of %" PRIu64 " managed frames have no name", managed - named,
                   managed);
        counts_add_reasons(&line, counts, COUNT_NO_PROCESS, COUNT_STACK_WHOLE, ": ");
        return line.n;
}

size_t counts_summary_lines(const Counts *counts, char *buffer, size_t n)
{
        Line line = {buffer, n, 0};
        uint64_t all = 0;
        unsigned i;

        for (i = COUNT_LINE_FOUND; i < _COUNT_MAX; i++)
                all += counts->n[i];
        counts_add(&line, "%" PRIu64 " of %" PRIu64 " named frames have a source line",
                   counts->n[COUNT_LINE_FOUND], all);
        counts_add_reasons(&line, counts, COUNT_LINE_FOUND + 1, _COUNT_MAX, "; without one: ");
        return line.n;
}

/* In tenths of a percent. Truncated, so that only all give 100.0; at least 0.1 if N is not 0. */
static unsigned counts_tenths(uint64_t n, uint64_t all)
{
        const unsigned tenths = (unsigned)((unsigned __int128)n * 1000 / all);

        return n && !tenths ? 1 : tenths;
}

size_t counts_summary_stacks(const Counts *counts, char *buffer, size_t n)
{
        Line line = {buffer, n, 0};
        uint64_t all = 0;
        unsigned i;

        for (i = COUNT_STACK_WHOLE; i < COUNT_LINE_FOUND; i++)
                all += counts->n[i];
        if (!all)
                return 0;
        i = counts_tenths(counts->n[COUNT_STACK_WHOLE], all);
        counts_add(&line, "stacks: %u.%u %% whole", i / 10, i % 10);
        for (i = COUNT_STACK_WHOLE + 1; i < COUNT_LINE_FOUND; i++) {
                const unsigned tenths = counts_tenths(counts->n[i], all);

                if (counts->n[i])
                        counts_add(&line, ", %u.%u %% %s", tenths / 10, tenths % 10,
                                   ROWS[i].reason);
        }
        return line.n;
}
