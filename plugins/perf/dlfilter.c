/* SPDX-License-Identifier: MIT */

/*
 * dlfilter-clrsym: a filter of perf script that names managed frames, and prints the samples itself
 *
 * perf calls filter_event() for each sample, in order of time, and knows mappings and names of
 * threads only during that call. So the filter looks up each frame in perf at once. Frames that may
 * be managed wait, with their samples, for clrsym's answers. perf itself does not print these
 * samples.
 */

#include "perf/empty-symbols.h"
#include "perf/chain-namer.h"
#include "perf/perf-map.h"

#include <perf/perf_dlfilter.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
        FILTER_FAIL = -1,
        FILTER_DROP = 1,
};

typedef struct Filter {
        Namer namer;
        ChainNamer chains;
        bool has_sample; /* there was a sample */
        bool has_failed; /* the reason was printed */
        PerfMap map;
        EmptySymbols empty;
        void *context; /* of perf, valid during a call */
} Filter;

/* perf sets it before start(). */
EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;

EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
EXPORT const char *filter_description(const char **long_description);

/* Prints the reason. */
static int filter_fail(Filter *filter)
{
        if (!filter->has_failed)
                fprintf(stderr, "clrsym: %s\n", filter->namer.message);
        filter->has_failed = true;
        return FILTER_FAIL;
}

static void filter_free(Filter *filter)
{
        if (!filter)
                return;
        namer_deinit(&filter->namer);
        empty_symbols_deinit(&filter->empty);
        free(filter);
}

/* A TextOutFn. perf writes its own buffer at its end, and reports no error. */
static int filter_write(void *data, const void *bytes, size_t n)
{
        return fwrite(bytes, 1, n, stdout) == n ? 0 : errno ? errno : EIO;
}

/* A CodeFinder's function, by perf's mappings and symbols. */
static bool filter_find(void *data, const BatchSample *sample, uint64_t address, bool is_user,
                        CodePlace *ret)
{
        struct perf_dlfilter_al al = {.size = sizeof(al)};
        Filter *filter = data;

        if (perf_dlfilter_fns.resolve_address(filter->context, address, &al) != 0)
                return false;
        *ret = (CodePlace){
                .dso = al.dso,
                .symbol = al.sym,
                .start = address - al.symoff,
                .base = address - al.addr,
                .is_kernel = al.is_kernel_ip,
                .kind = mapping_kind_of_dso(al.dso),
        };
        if (al.sym && perf_map_is_stale(&filter->map, al.dso, sample->pid))
                ret->symbol = NULL;
        if (ret->symbol && al.symoff && is_user && !al.is_kernel_ip &&
            empty_symbols_have(&filter->empty, al.dso, al.sym))
                ret->symbol = NULL;
        return true;
}

int start(void **data, void *ctx)
{
        Filter *filter = calloc(1, sizeof(*filter));
        const NamerTarget target = {.write = filter_write};
        char **arguments;
        int n = 0, r = 0;

        if (!filter)
                return FILTER_FAIL;
        arguments = perf_dlfilter_fns.args(ctx, &n);
        filter->chains = (ChainNamer){.namer = &filter->namer, .code = {filter_find, filter}};
        if (!namer_init(&filter->namer, arguments, arguments ? n : 0, &target))
                r = filter_fail(filter);
        if (r < 0)
                filter_free(filter);
        else
                *data = filter;
        return r;
}

/* Call it at the first sample: before that, perf has no information about the recording. */
static void look_at_recording(Filter *filter, const struct perf_event_attr *attr)
{
        bool is_monotonic = attr && attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;

        filter->has_sample = true;
        filter->namer.resolver.has_exact_clock = is_monotonic && !filter->namer.settings.has_clock;
        if (is_monotonic || filter->namer.settings.has_clock)
                return;
        fprintf(stderr,
                "clrsym: recorded with another clock than the trace's: code that was not there "
                "%" PRIu64
                " ms before and after has no name. To fix that: perf record -k mono -g ...\n",
                filter->namer.settings.clock_slack / 1000000);
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
        const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);
        const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
        const ChainSample row = {
                .pid = sample->pid,
                .tid = sample->tid,
                .cpu = attr && attr->sample_type & PERF_SAMPLE_CPU ? sample->cpu : NO_CPU,
                .ip = sample->ip,
                .time = sample->time,
                .period = sample->period,
                .comm = al && al->comm ? al->comm : "",
                .event = sample->event,
                .chain = (const uint64_t *)sample->raw_callchain,
                .n_chain = sample->raw_callchain_nr,
                .max_frames =
                        attr && attr->sample_max_stack ? attr->sample_max_stack : CHAIN_MAX_FRAMES,
        };
        Filter *filter = data;

        if (!filter->has_sample)
                look_at_recording(filter, attr);
        if (filter->has_failed)
                return FILTER_FAIL;
        filter->context = ctx;
        return chain_namer_add(&filter->chains, &row) ? FILTER_DROP : filter_fail(filter);
}

static void filter_report(const Filter *filter)
{
        char text[1000];
        FILE *file;
        unsigned i;
        int fd;

        if (filter->namer.settings.report_fd < 0) {
                counts_summary(&filter->namer.resolver.counts, text, sizeof(text));
                fprintf(stderr, "clrsym: %s\n", text);
                return;
        }
        fd = dup(filter->namer.settings.report_fd);
        file = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (!file) {
                if (fd >= 0)
                        close(fd);
                return;
        }
        for (i = 0; i < _COUNT_MAX; i++)
                fprintf(file, "%s %" PRIu64 "\n", count_name((Count)i),
                        filter->namer.resolver.counts.n[i]);
        fclose(file);
}

int stop(void *data, void *ctx)
{
        Filter *filter = data;
        char line[300];
        int r = 0;

        if (!filter)
                return 0;
        if (!filter->has_failed) {
                bool ok = namer_end(&filter->namer) &&
                          (fflush(stdout) == 0 || namer_fail_write(&filter->namer, errno));

                r = ok ? 0 : filter_fail(filter);
        }
        if (!filter->has_failed) {
                images_report(&filter->namer.images);
                if (namer_report_costly(&filter->namer, line, sizeof(line)))
                        fprintf(stderr, "clrsym: %s\n", line);
                filter_report(filter);
        }
        if (filter->has_failed)
                r = FILTER_FAIL;
        filter_free(filter);
        return r;
}

const char *filter_description(const char **long_description)
{
        static const char LONG[] =
                "Prints samples as perf script does, with .NET methods named by clrsym.\n"
                "  --dlarg trace=DIR          named from this LTTng trace, or snapshot of one\n"
                "  --dlarg socket=PATH        named by the clrsymd there (else the usual one)\n"
                "  --dlarg format=folded      prints folded stacks instead\n"
                "  --dlarg style=STYLE        of names: csharp, clr (the runtime's) or short\n"
                "  --dlarg tier               with the tier of the code\n"
                "  --dlarg explain            with the source of each name\n"
                "  --dlarg annotate           folded: _[j] after managed names, _[k] kernel\n"
                "  --dlarg event=NAME         only samples of this event\n"
                "  --dlarg map=PERFPID=NS:PID what perf calls PERFPID is PID of pid namespace NS\n"
                "  --dlarg clock=OFFSET,SLACK ns: add to perf's times, and how wrong they may be\n"
                "`clrsym report` finds out what is to be given, see clrsym-report(1).";

        if (long_description)
                *long_description = LONG;
        return "Names .NET methods: clrsym";
}
