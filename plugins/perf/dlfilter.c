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
#include "perf/form.h"
#include "perf/batch-resolver.h"
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

static const Form *const FORMS[_FORM_MAX] = {
        [FORM_TEXT] = &form_text,
        [FORM_FOLDED] = &form_folded,
        [FORM_STREAM] = &form_stream,
};

typedef struct Filter {
        Settings settings;
        Frames frames;
        Images images;
        BatchResolver resolver;
        Batch batch;
        Survey survey; /* FORM_SURVEY */
        TextOut out;
        const Form *form; /* NULL: FORM_SURVEY */
        void *form_state;
        FormContext context;
        const char *event;   /* borrowed: the event name of the last sample */
        uint32_t event_text; /* the number of that name */
        bool has_sample;     /* a sample has come */
        bool has_failed;     /* and the reason was printed */
} Filter;

/* perf fills it in before start(). */
EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;

EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
EXPORT const char *filter_description(const char **long_description);

static int filter_fail(Filter *filter, const char *message)
{
        if (!filter->has_failed)
                fprintf(stderr, "clrsym: %s\n", message);
        filter->has_failed = true;
        return FILTER_FAIL;
}

static int fail_no_memory(Filter *filter)
{
        return filter_fail(filter, "no memory left");
}

static int fail_errno(Filter *filter, int error)
{
        char text[200];

        snprintf(text, sizeof(text), "cannot write the output: %s", strerror(error));
        return filter_fail(filter, text);
}

static void filter_free(Filter *filter)
{
        if (!filter)
                return;
        if (filter->form)
                filter->form->free(filter->form_state);
        batch_resolver_deinit(&filter->resolver);
        images_deinit(&filter->images);
        survey_deinit(&filter->survey);
        batch_deinit(&filter->batch);
        frames_deinit(&filter->frames);
        text_out_deinit(&filter->out);
        settings_deinit(&filter->settings);
        free(filter);
}

static int open_form(Filter *filter)
{
        char *message = NULL;
        int r;

        filter->form = FORMS[filter->settings.form];
        filter->survey = (Survey){.frames = &filter->frames, .clock_id = -1};
        filter->context = (FormContext){&filter->settings, &filter->frames, &filter->out};
        if (!frames_init(&filter->frames, filter->settings.style) || !text_out_init(&filter->out))
                return fail_no_memory(filter);
        if (!filter->form)
                return 0;
        filter->form_state = filter->form->new ();
        if (!filter->form_state)
                return fail_no_memory(filter);
        if (!images_init(&filter->images, filter->settings.mappings_fd))
                return filter_fail(filter, "--dlarg mappings: there are no mappings");
        r = batch_resolver_init(&filter->resolver, &filter->settings, &filter->frames,
                                &filter->images, &message);
        if (r < 0)
                filter_fail(filter, message ? message : strerror(-r));
        free(message);
        return r < 0 ? FILTER_FAIL : 0;
}

int start(void **data, void *ctx)
{
        Filter *filter = calloc(1, sizeof(*filter));
        char reason[500];
        char **arguments;
        int n = 0, r;

        if (!filter)
                return FILTER_FAIL;
        arguments = perf_dlfilter_fns.args(ctx, &n);
        if (settings_read(&filter->settings, arguments, arguments ? n : 0, reason, sizeof(reason)))
                r = open_form(filter);
        else
                r = filter_fail(filter, reason);
        if (r < 0)
                filter_free(filter);
        else
                *data = filter;
        return r;
}

/* Names and prints the samples of the batch. */
static int filter_flush(Filter *filter)
{
        int r = batch_resolver_run(&filter->resolver, &filter->batch);
        size_t i;

        if (r == -ENOMEM)
                return fail_no_memory(filter);
        if (r < 0)
                return filter_fail(filter, clrsym_message(filter->resolver.handle));
        for (i = 0; i < filter->batch.n_samples; i++) {
                const BatchSample *sample = &filter->batch.samples[i];

                if (!filter->form->add(filter->form_state, &filter->context, sample,
                                       filter->batch.entries + sample->first))
                        return fail_no_memory(filter);
        }
        batch_clear(&filter->batch);
        if (frames_is_full(&filter->frames)) {
                if (!filter->form->forget(filter->form_state, &filter->context))
                        return fail_no_memory(filter);
                frames_clear(&filter->frames);
                filter->event = NULL;
        }
        if (!text_out_flush(&filter->out))
                return fail_errno(filter, filter->out.error);
        return 0;
}

/* At the first sample: perf gives no information on the recording before it. */
static void look_at_recording(Filter *filter, const struct perf_event_attr *attr)
{
        bool is_monotonic = attr && attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;

        filter->has_sample = true;
        filter->resolver.has_exact_clock = is_monotonic && !filter->settings.has_clock;
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
        if (is_monotonic || filter->settings.has_clock || !filter->form)
                return;
        fprintf(stderr,
                "clrsym: recorded with another clock than the trace's: code that was not there for "
                "%" PRIu64 " ms around is not named. To fix that: perf record -k mono -g ...\n",
                filter->settings.clock_slack / 1000000);
}

/* INDEX_NONE if there is no memory. */
static uint32_t event_text(Filter *filter, const char *event)
{
        if (!filter->event || filter->event != event) {
                filter->event_text = frames_text(&filter->frames, event);
                filter->event = event;
        }
        return filter->event_text;
}

static bool add_sample(Filter *filter, const struct perf_dlfilter_sample *sample,
                       const struct perf_event_attr *attr, void *ctx)
{
        const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
        BatchSample *added = batch_add_sample(&filter->batch);

        if (!added)
                return false;
        added->pid = sample->pid;
        added->tid = sample->tid;
        added->cpu = attr && attr->sample_type & PERF_SAMPLE_CPU ? sample->cpu : NO_CPU;
        added->time = sample->time;
        added->period = sample->period;
        added->has_chain = sample->raw_callchain_nr > 0;
        added->comm = frames_text(&filter->frames, al && al->comm ? al->comm : "");
        added->event = event_text(filter, sample->event);
        return added->comm != INDEX_NONE && added->event != INDEX_NONE;
}

static bool add_link(Filter *filter, const ChainLink *link, void *ctx)
{
        struct perf_dlfilter_al al = {.size = sizeof(al)};
        bool is_known = perf_dlfilter_fns.resolve_address(ctx, link->ip, &al) == 0;
        MappingKind mapping = is_known ? mapping_kind_of_dso(al.dso) : MAPPING_NOWHERE;
        StreamKind kind = !link->is_user || (is_known && al.is_kernel_ip)      ? STREAM_KERNEL
                          : (is_known && al.sym) || mapping == MAPPING_LIBRARY ? STREAM_NATIVE
                                                                               : STREAM_UNKNOWN;
        Entry *entry = batch_add_entry(&filter->batch);
        ImageAddress where;

        if (!entry)
                return false;
        entry->ip = link->ip;
        entry->offset = is_known && al.sym ? al.symoff : 0;
        entry->frame = frames_symbol(&filter->frames, kind, is_known ? al.sym : NULL,
                                     is_known ? al.dso : NULL);
        if (entry->frame == INDEX_NONE)
                return false;
        if (mapping == MAPPING_LIBRARY && !al.sym && mapping_is_of_runtime(al.dso))
                filter->resolver.counts.n[COUNT_RUNTIME_UNNAMED]++;
        if (kind == STREAM_KERNEL ||
            !mapping_kind_may_be_managed(mapping, is_known ? al.sym : NULL))
                return true;
        where = (ImageAddress){link->address, is_known ? al.dso : NULL, link->ip - al.addr};
        return batch_resolver_add(&filter->resolver, &filter->batch, &where, mapping);
}

static bool add_chain(Filter *filter, Chain chain, void *ctx)
{
        ChainLink link;

        while (chain_next(&chain, &link)) {
                filter->resolver.counts.n[COUNT_FRAMES]++;
                if (!add_link(filter, &link, ctx))
                        return false;
        }
        return true;
}

static bool survey_chain(Filter *filter, Chain chain, uint64_t time, void *ctx)
{
        ChainLink link;

        while (chain_next(&chain, &link)) {
                struct perf_dlfilter_al al = {.size = sizeof(al)};
                MappingKind mapping;

                if (!link.is_user || perf_dlfilter_fns.resolve_address(ctx, link.ip, &al) != 0)
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
        if (filter->settings.event && strcmp(sample->event, filter->settings.event) != 0) {
                filter->resolver.counts.n[COUNT_OTHER_SAMPLES]++;
                return FILTER_DROP;
        }
        /* Stacks were not recorded, or only their kernel part. */
        if (!chain_has_links(chain))
                chain = chain_of(&ip, 1);
        filter->resolver.counts.n[COUNT_SAMPLES]++;
        ok = add_sample(filter, sample, attr, ctx);
        if (ok && filter->form) {
                ok = add_chain(filter, chain, ctx);
        } else if (ok) {
                ok = survey_sample(&filter->survey, filter->batch.samples) &&
                     (sample->pid <= 0 || survey_chain(filter, chain, sample->time, ctx));
                batch_clear(&filter->batch);
        }
        if (!ok)
                return fail_no_memory(filter);
        if (filter->form && batch_is_full(&filter->batch) && filter_flush(filter) < 0)
                return FILTER_FAIL;
        return FILTER_DROP;
}

static void filter_report(const Filter *filter)
{
        char text[1000];
        FILE *file;
        unsigned i;
        int fd;

        if (filter->settings.report_fd < 0) {
                counts_summary(&filter->resolver.counts, text, sizeof(text));
                fprintf(stderr, "clrsym: %s\n", text);
                return;
        }
        fd = dup(filter->settings.report_fd);
        file = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (!file) {
                if (fd >= 0)
                        close(fd);
                return;
        }
        if (filter->form)
                for (i = 0; i < _COUNT_MAX; i++)
                        fprintf(file, "%s %" PRIu64 "\n", count_name((Count)i),
                                filter->resolver.counts.n[i]);
        else
                survey_write(&filter->survey, file);
        fclose(file);
}

int stop(void *data, void *ctx)
{
        Filter *filter = data;
        int r = 0;

        if (!filter)
                return 0;
        if (filter->form && !filter->has_failed) {
                r = filter_flush(filter);
                if (r == 0 && !filter->form->end(filter->form_state, &filter->context))
                        r = fail_no_memory(filter);
                /* perf's own buffer is written at its end, without an error. */
                if (r == 0 && (!text_out_flush(&filter->out) || fflush(stdout) != 0))
                        r = fail_errno(filter, filter->out.error ? filter->out.error : errno);
        }
        if (!filter->has_failed) {
                images_report(&filter->images);
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
                "  --dlarg annotate           folded: _[j] after managed names, _[k] kernel\n"
                "  --dlarg event=NAME         only samples of this event\n"
                "  --dlarg map=PERFPID=NS:PID what perf calls PERFPID is PID of pid namespace NS\n"
                "  --dlarg clock=OFFSET,SLACK ns: add to perf's times, and how wrong they may be\n"
                "`clrsym perf` finds out what is to be given, see clrsym-perf(1).";

        if (long_description)
                *long_description = LONG;
        return "Names .NET methods: clrsym";
}
