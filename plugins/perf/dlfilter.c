/* SPDX-License-Identifier: MIT */

/*
 * dlfilter-clrsym: perf script's filter that prints its samples with managed frames named
 *
 * perf calls filter_event() for each sample, in the order of time. Only during that call does it
 * know the mappings and the names of threads. So each frame is looked up in perf at once; frames
 * that may be managed wait, with their samples, for clrsym's answers. perf itself prints nothing of
 * these samples.
 */

#include "chain.h"
#include "perf/empty-symbols.h"
#include "perf/namer.h"
#include "perf-map.h"
#include "survey.h"

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
        Survey survey;       /* FORM_SURVEY: the samples are not named */
        const char *event;   /* borrowed: the event name of the last sample */
        uint32_t event_text; /* the number of that name */
        bool has_sample;     /* a sample has come */
        bool has_failed;     /* and the reason was printed */
        PerfMap map;
        EmptySymbols empty;
} Filter;

/* perf fills it in before start(). */
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
        survey_deinit(&filter->survey);
        empty_symbols_deinit(&filter->empty);
        free(filter);
}

/* A TextOutFn: perf's own buffer is written at its end, without an error. */
static int filter_write(void *data, const void *bytes, size_t n)
{
        return fwrite(bytes, 1, n, stdout) == n ? 0 : errno ? errno : EIO;
}

int start(void **data, void *ctx)
{
        Filter *filter = calloc(1, sizeof(*filter));
        char **arguments;
        int n = 0, r = 0;

        if (!filter)
                return FILTER_FAIL;
        arguments = perf_dlfilter_fns.args(ctx, &n);
        filter->survey = (Survey){.frames = &filter->namer.frames, .clock_id = -1};
        if (!namer_init(&filter->namer, arguments, arguments ? n : 0, filter_write, NULL))
                r = filter_fail(filter);
        if (r < 0)
                filter_free(filter);
        else
                *data = filter;
        return r;
}

/* Names and prints the samples of the batch. */
static int filter_flush(Filter *filter)
{
        filter->event = NULL; /* its number may be forgotten */
        return namer_flush(&filter->namer) ? 0 : filter_fail(filter);
}

/* At the first sample: perf gives no information on the recording before it. */
static void look_at_recording(Filter *filter, const struct perf_event_attr *attr)
{
        bool is_monotonic = attr && attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;

        filter->has_sample = true;
        filter->namer.resolver.has_exact_clock = is_monotonic && !filter->namer.settings.has_clock;
        if (attr && attr->use_clockid)
                filter->survey.clock_id = attr->clockid;
        if (!attr || !(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
                filter->survey.stacks = "none";
        else if (attr->sample_type & PERF_SAMPLE_STACK_USER)
                filter->survey.stacks = "dwarf";
        else if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
                 attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
                filter->survey.stacks = "lbr";
        else
                filter->survey.stacks = "frames";
        if (is_monotonic || filter->namer.settings.has_clock || !filter->namer.form)
                return;
        fprintf(stderr,
                "clrsym: recorded with another clock than the trace's: code that was not there for "
                "%" PRIu64 " ms around is not named. To fix that: perf record -k mono -g ...\n",
                filter->namer.settings.clock_slack / 1000000);
}

/* INDEX_NONE if there is no memory. */
static uint32_t event_text(Filter *filter, const char *event)
{
        if (!filter->event || filter->event != event) {
                filter->event_text = frames_text(&filter->namer.frames, event);
                filter->event = event;
        }
        return filter->event_text;
}

static bool add_sample(Filter *filter, const struct perf_dlfilter_sample *sample,
                       const struct perf_event_attr *attr, void *ctx)
{
        const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
        BatchSample *added = batch_add_sample(&filter->namer.batch);

        if (!added)
                return false;
        added->pid = sample->pid;
        added->tid = sample->tid;
        added->cpu = attr && attr->sample_type & PERF_SAMPLE_CPU ? sample->cpu : NO_CPU;
        added->time = sample->time;
        added->period = sample->period;
        added->has_chain = sample->raw_callchain_nr > 0;
        added->comm = frames_text(&filter->namer.frames, al && al->comm ? al->comm : "");
        added->event = event_text(filter, sample->event);
        return added->comm != INDEX_NONE && added->event != INDEX_NONE;
}

static bool add_link(Filter *filter, const ChainLink *link, EntryRole role, void *ctx)
{
        struct perf_dlfilter_al al = {.size = sizeof(al)};
        /* A call that does not return can be the last instruction of a function. */
        bool is_known = perf_dlfilter_fns.resolve_address(ctx, link->address, &al) == 0;
        const BatchSample *sample = &filter->namer.batch.samples[filter->namer.batch.n_samples - 1];
        MappingKind mapping = is_known ? mapping_kind_of_dso(al.dso) : MAPPING_NOWHERE;
        /* Code of a file is native, with or without a symbol, unless an assembly in it has it. */
        bool is_of_file =
                mapping == MAPPING_LIBRARY || (mapping == MAPPING_OTHER && *al.dso == '/');
        StreamKind kind = !link->is_user || (is_known && al.is_kernel_ip) ? STREAM_KERNEL
                          : (is_known && al.sym) || is_of_file            ? STREAM_NATIVE
                                                                          : STREAM_UNKNOWN;
        Entry *entry = batch_add_entry(&filter->namer.batch);
        ImageAddress where;

        if (!entry)
                return false;
        if (is_known && al.sym && perf_map_is_stale(&filter->map, al.dso, sample->pid)) {
                al.sym = NULL;
                kind = STREAM_UNKNOWN;
        }
        if (is_known && al.sym && al.symoff && link->is_user && !al.is_kernel_ip &&
            empty_symbols_have(&filter->empty, al.dso, al.sym))
                al.sym = NULL;
        entry->ip = link->ip;
        /* What is in no mapping is not code. */
        entry->role = role != ENTRY_FRAME && !is_known ? ENTRY_DROPPED : role;
        entry->offset = is_known && al.sym ? al.symoff + (uint32_t)(link->ip - link->address) : 0;
        entry->frame = frames_symbol(&filter->namer.frames, kind, is_known ? al.sym : NULL,
                                     is_known ? al.dso : NULL);
        if (entry->frame == INDEX_NONE)
                return false;
        if (entry->role == ENTRY_DROPPED)
                return true;
        if (mapping == MAPPING_LIBRARY && !al.sym && mapping_is_of_runtime(al.dso))
                filter->namer.resolver.counts.n[COUNT_RUNTIME_UNNAMED]++;
        if (kind == STREAM_KERNEL ||
            !mapping_kind_may_be_managed(mapping, is_known ? al.sym : NULL))
                return true;
        where = (ImageAddress){link->address, is_known ? al.dso : NULL, link->address - al.addr};
        return batch_resolver_add(&filter->namer.resolver, &filter->namer.batch, &where, mapping);
}

/* The callers that LINK can hide, if it is the slot of a method that was replaced. */
static bool add_hidden(Filter *filter, const ChainLink *link, Chain rest, void *ctx)
{
        const BatchSample *sample = &filter->namer.batch.samples[filter->namer.batch.n_samples - 1];
        OsrCaller key = {
                .time = sample->time, .slot = link->ip, .pid = sample->pid, .tid = sample->tid};
        uint64_t callers[OSR_CALLERS_EACH];
        ChainLink next;
        bool is_own;
        size_t n, i;

        if (!link->is_user || link->ip == link->address || !chain_next(&rest, &next))
                return true;
        key.next = next.ip;
        n = osr_callers_find(&filter->namer.resolver.callers, &key, callers, &is_own);
        for (i = 0; i < n; i++) {
                const ChainLink caller = {
                        .ip = callers[i], .address = callers[i] - 1, .is_user = true};

                if (!add_link(filter, &caller, is_own ? ENTRY_SURE_CALLER : ENTRY_LIKELY_CALLER,
                              ctx))
                        return false;
        }
        return true;
}

/* A caller that frame pointers do not show. */
static bool add_unknown(Filter *filter)
{
        Entry *entry = batch_add_entry(&filter->namer.batch);

        if (!entry)
                return false;
        entry->role = ENTRY_UNKNOWN;
        return batch_resolver_set_unknown(&filter->namer.resolver, entry);
}

/* perf's own limit, unless another one was recorded. */
#define MAX_FRAMES 127

static bool add_chain(Filter *filter, Chain chain, void *ctx)
{
        const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);
        const unsigned max = attr && attr->sample_max_stack ? attr->sample_max_stack : MAX_FRAMES;
        unsigned n = 0;
        ChainLink link;

        while (chain_next(&chain, &link)) {
                n++;
                filter->namer.resolver.counts.n[COUNT_FRAMES]++;
                if ((link.is_after_hidden && !add_unknown(filter)) ||
                    !add_link(filter, &link, ENTRY_FRAME, ctx) ||
                    !add_hidden(filter, &link, chain, ctx))
                        return false;
        }
        filter->namer.batch.samples[filter->namer.batch.n_samples - 1].cut =
                chain.is_torn                  ? STACK_TORN
                : chain.is_cut                 ? STACK_CUT_COPY
                : chain.is_limited || n == max ? STACK_CUT_FRAMES
                                               : STACK_WHOLE;
        return true;
}

static bool survey_chain(Filter *filter, Chain chain, uint64_t time, void *ctx)
{
        ChainLink link;

        while (chain_next(&chain, &link)) {
                struct perf_dlfilter_al al = {.size = sizeof(al)};
                MappingKind mapping;

                if (!link.is_user || perf_dlfilter_fns.resolve_address(ctx, link.address, &al) != 0)
                        continue;
                mapping = mapping_kind_of_dso(al.dso);
                if ((mapping == MAPPING_JITTED || mapping == MAPPING_IMAGE) &&
                    !survey_address(&filter->survey, link.address, time))
                        return false;
        }
        return true;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
        Filter *filter = data;
        const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);
        Chain chain = chain_of((const uint64_t *)sample->raw_callchain, sample->raw_callchain_nr);
        const uint64_t ip = sample->ip;
        bool ok;

        if (!filter->has_sample)
                look_at_recording(filter, attr);
        if (filter->has_failed)
                return FILTER_FAIL;
        if (filter->namer.settings.event
                    ? strcmp(sample->event, filter->namer.settings.event) != 0
                    : !strncmp(sample->event, OSR_COPIES_EVENT, strlen(OSR_COPIES_EVENT))) {
                filter->namer.resolver.counts.n[COUNT_OTHER_SAMPLES]++;
                return FILTER_DROP;
        }
        /* Stacks were not recorded, or only their kernel part. */
        if (!chain_has_links(chain))
                chain = chain_of(&ip, 1);
        filter->namer.resolver.counts.n[COUNT_SAMPLES]++;
        ok = add_sample(filter, sample, attr, ctx);
        if (ok && filter->namer.form) {
                ok = add_chain(filter, chain, ctx);
        } else if (ok) {
                ok = survey_sample(&filter->survey, filter->namer.batch.samples) &&
                     (sample->pid <= 0 || survey_chain(filter, chain, sample->time, ctx));
                batch_clear(&filter->namer.batch);
        }
        if (!ok) {
                namer_fail_no_memory(&filter->namer);
                return filter_fail(filter);
        }
        if (filter->namer.form && namer_is_full(&filter->namer) && filter_flush(filter) < 0)
                return FILTER_FAIL;
        return FILTER_DROP;
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
        if (filter->namer.form)
                for (i = 0; i < _COUNT_MAX; i++)
                        fprintf(file, "%s %" PRIu64 "\n", count_name((Count)i),
                                filter->namer.resolver.counts.n[i]);
        else
                survey_write(&filter->survey, file);
        fclose(file);
}

int stop(void *data, void *ctx)
{
        Filter *filter = data;
        char line[300];
        int r = 0;

        if (!filter)
                return 0;
        if (filter->namer.form && !filter->has_failed) {
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
