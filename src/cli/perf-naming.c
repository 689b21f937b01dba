/* SPDX-License-Identifier: MIT */

/*
 * The recording is read three times (unwind/sample-file.h). The second reading finds the clock, and
 * the addresses of each process that may be managed code. These are compared with the trace before
 * any frame is named. The third reading names frames, once for each text output and once for all
 * other outputs.
 */

#include "cli/perf-naming.h"

#include "cli/answer-source.h"
#include "cli/method-codes.h"
#include "cli/naming-settings.h"
#include "cli/output-form.h"
#include "cli/collect-input.h"
#include "cli/perf-clock.h"
#include "cli/perf-event-choice.h"
#include "cli/perf-input.h"
#include "cli/perf-match.h"
#include "cli/perf-nettrace.h"
#include "cli/perf-outputs.h"
#include "cli/perf-profile.h"
#include "cli/perf-run.h"
#include "cli/perf-stacks.h"
#include "cli/perf-summary.h"
#include "cli/progress.h"
#include "cli/saved-profile.h"
#include "perf/counts.h"
#include "perf/chain.h"
#include "symbols/code-places.h"
#include "unwind/sample-file.h"
#include "util/atomic-file.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Naming {
        const PerfNaming *job;     /* borrowed */
        const Options *options;    /* options of the job */
        const char *input;         /* input of the job */
        FormType form;             /* form of the current output */
        bool is_nettrace;          /* samples of the runtime, in a .nettrace file */
        bool is_collect;           /* samples of dotnet-trace collect-linux */
        RecorderSymbols *recorder; /* owned: names of collect-linux; NULL: another recorder */
        SampleFile file;           /* reader of perf's samples, unless IS_NETTRACE */
        KernelSymbols *kernel;     /* owned, and the two below, for FILE */
        DebugFiles *debug;
        DebugFinder finder; /* of DEBUG */
        CodePlaces *places;
        ChainNamer chains;    /* during a run */
        Recording *recording; /* owned */
        clrsym *handle;       /* owned; NULL: neither a daemon nor a trace */
        const char *event;    /* NULL: all events */
        PerfClock clock;
        bool has_no_events; /* neither a daemon nor a trace: see naming_note_no_events() */
        bool has_images;    /* this machine's files can be those of the recording */
        bool may_run;       /* the processes can still run here */
        Counts counts;      /* counts of the last run */
        GArray *maps;       /* owned: of ProcessMap */
        GPtrArray *notes;   /* owned strings: for stderr */
        Progress progress;  /* of the readings of FILE */
        uint64_t n_joined;  /* samples of continued methods with their awaiting methods */
        uint64_t n_apart;   /* samples of continued methods without them */
        bool has_failed;    /* an output failed */
        bool is_to_rescue;  /* an output failed, and not because its reader closed it */
} Naming;

static void print_notes(Naming *naming)
{
        guint i;

        for (i = 0; i < naming->notes->len && !naming->job->is_quiet; i++)
                message_print("clrsym", "%s", (const char *)g_ptr_array_index(naming->notes, i));
        g_ptr_array_set_size(naming->notes, 0);
}

static void naming_take_record(void *data, const struct perf_event_header *record, uint64_t time)
{
        Naming *naming = data;

        recording_take_record(naming->recording, record, time);
        kernel_symbols_take(naming->kernel, record);
}

/* Adds possible addresses of managed code, from the callers of SAMPLE. */
static void naming_add_addresses(Naming *naming, RecordingProcess *process,
                                 const PerfSample *sample)
{
        Chain chain = chain_of(sample->chain, sample->n_chain);
        ChainLink link;
        unsigned n = 0;

        if (!chain_has_links(chain))
                chain = chain_of(&sample->ip, 1);
        /* A deep stack counts as one of many samples. */
        while (n++ < RECORDING_MAX_ADDRESSES / 4 && chain_next(&chain, &link)) {
                const char *dso = link.is_user ? code_places_find_dso(naming->places, sample->pid,
                                                                      sample->time, link.address)
                                               : NULL;
                const MappingKind kind = mapping_kind_of_dso(dso);

                if (kind == MAPPING_JITTED || kind == MAPPING_IMAGE)
                        recording_process_add(process, link.address, sample->time);
        }
}

static void naming_take_sample(void *data, const PerfAttr *event, const PerfSample *sample)
{
        Naming *naming = data;
        RecordingProcess *process;
        char buffer[THREAD_NAME_SIZE];

        recording_take_sample(naming->recording, event, sample,
                              sample_file_comm(&naming->file, sample->tid, sample->time, buffer));
        process = recording_wants_addresses(naming->recording, sample);
        if (process)
                naming_add_addresses(naming, process, sample);
}

static void naming_note_stacks_found(Naming *naming)
{
        g_auto(StackCounts) counts = {0};
        const SampleFile *file = &naming->file;

        if (file->walk) {
                stack_walk_count(file->walk, &counts);
                perf_stacks_note(&counts, naming->job->stack_memory != NULL, naming->notes);
        }
        if (file->data.is_cut)
                g_ptr_array_add(naming->notes,
                                g_strdup_printf("%s is truncated: its last samples are missing",
                                                naming->input));
        if (file->n_damaged)
                g_ptr_array_add(naming->notes,
                                g_strdup_printf("%" G_GUINT64_FORMAT
                                                " samples of %s are damaged and left out",
                                                (guint64)file->n_damaged, naming->input));
}

static int on_progress(uint64_t n_read, uint64_t n_total, void *data)
{
        return perf_caught_signal() ? 1 : progress_show(n_read, n_total, data);
}

/* The trace with the events: the given one, or a .nettrace file itself. NULL: a daemon has them. */
static const char *naming_trace(const Naming *naming)
{
        const Options *options = naming->options;

        return options->trace || options->socket || !naming->is_nettrace || naming->job->round
                       ? options->trace
                       : naming->input;
}

/* NULL: the code of methods is not known. */
static MethodCodes *naming_codes(const Naming *naming)
{
        const JitMemory *memory = naming->job->memory;
        const int64_t ahead = proc_own_clock_ahead();

        if (!naming->handle)
                return NULL;
        if (memory)
                return method_codes_new(naming->handle, memory, ahead);
        return naming->may_run ? method_codes_new_of_running(naming->handle, ahead) : NULL;
}

/* Does the first two readings. */
static bool naming_survey(Naming *naming, GError **error)
{
        const SampleFileCalls calls = {naming_take_record, naming_take_sample, naming};
        g_autoptr(MethodCodes) codes = naming_codes(naming);
        StackSources sources = {.debug = &naming->finder,
                                .frames = naming->job->frames,
                                .memory = naming->job->stack_memory};
        MethodFinder methods;
        bool ok;

        if (codes) {
                methods = method_codes_finder(codes);
                sources.methods = &methods;
        }
        ok = sample_file_scan(&naming->file, &sources, &calls, error);
        progress_end_reading(&naming->progress);
        ok = ok && sample_file_walk(&naming->file, &calls, error);
        progress_end_reading(&naming->progress);
        if (!ok) {
                g_prefix_error(error, "cannot read the recording %s: ", naming->input);
                return false;
        }
        naming_note_stacks_found(naming);
        g_clear_pointer(&naming->file.walk, stack_walk_free);
        recording_finish(naming->recording);
        if (naming->recording->processes->len)
                return true;
        g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "%s has no samples: record again",
                    naming->input);
        return false;
}

static bool naming_choose_event(Naming *naming, GError **error)
{
        const EventChoice choice = {
                .recording = naming->recording,
                .input = naming->input,
                .wanted = naming->options->event,
                .is_nettrace = naming->is_nettrace,
                .is_single = naming->form != FORM_TEXT,
                .preferred = naming->is_collect ? COLLECT_CPU_EVENT : NULL,
        };

        return event_choose(&choice, naming->notes, &naming->event, error);
}

static void naming_note_no_events(Naming *naming, const char *why)
{
        /* clrsym stack has reported the failure. */
        if (!naming->job->sink)
                g_ptr_array_add(
                        naming->notes,
                        perf_input_no_events(naming->is_collect, why ? why : "no daemon answers"));
}

static bool open_handle(Naming *naming, GError **error)
{
        Progress progress;
        clrsym_options how = {
                .socket = naming->options->socket,
                .trace = naming_trace(naming),
                .progress = on_progress,
                .data = &progress,
        };
        char *message = NULL;
        int r;

        if (naming->handle || naming->has_no_events)
                return true;
        progress_init(&progress, how.trace);
        r = clrsym_open(&naming->handle, &how, &message);
        progress_end(&progress);
        naming->has_no_events = (r == -ENOENT || r == -ECONNREFUSED) && !how.trace && !how.socket;
        if (naming->has_no_events) {
                naming_note_no_events(naming, message);
                r = 0;
        } else if (r < 0)
                g_set_error(error, PERF_ERROR, 0, "%s", message ? message : g_strerror(-r));
        else if (options_has(naming->options, OPTION_VERBOSE))
                answer_source_print_note(how.trace, clrsym_note(naming->handle));
        free(message);
        return r >= 0;
}

static GPtrArray *naming_settings(const Naming *naming)
{
        const NamingSettings settings = {
                .options = naming->options,
                .recording = naming->recording,
                .maps = naming->maps,
                .clock = naming->is_nettrace ? NULL : &naming->clock,
                .trace = naming_trace(naming),
                .event = naming->event,
                .has_no_events = naming->has_no_events,
                .is_over = naming->job->is_over,
        };

        return naming_settings_new(&settings);
}

/* The mappings of assemblies, if known; NULL: no memory. */
static char *mappings_text(const Naming *naming)
{
        char *text = NULL;
        size_t n = 0;
        FILE *file;

        if (naming->is_nettrace)
                return perf_nettrace_mappings(naming->input);
        file = open_memstream(&text, &n);
        if (!file)
                return NULL;
        if (naming->has_images)
                recording_write_mappings(naming->recording, file);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

static void naming_print_summary(const Naming *naming)
{
        const PerfSummary summary = {
                .options = naming->options,
                .recording = naming->recording,
                .input = naming->input,
                .counts = &naming->counts,
                .spaces = naming->file.spaces,
                .places = naming->places,
                .kernel = naming->kernel,
                .has_images = naming->has_images,
                .is_collect = naming->is_collect,
                .is_nettrace = naming->is_nettrace,
                .is_over = naming->job->is_over,
                .has_code = naming->job->memory || naming->may_run,
                .n_joined = naming->n_joined,
                .n_apart = naming->n_apart,
                .n_waits = naming->file.n_waits,
                .n_uncertain_waits = naming->file.n_uncertain_waits,
        };

        perf_summary_print(&summary);
}

/* A CodeFinder's function. */
static bool naming_find_code(void *data, const BatchSample *sample, uint64_t address, bool is_user,
                             CodePlace *ret)
{
        const Naming *naming = data;

        return code_places_find(naming->places, sample->pid, sample->time, address, is_user, ret);
}

/* A QueuedSampleFn. */
static bool naming_name_sample(const QueuedSample *sample, void *data)
{
        Naming *naming = data;
        const PerfAttr *event = &g_array_index(naming->file.data.attrs, PerfAttr, sample->event);
        char buffer[THREAD_NAME_SIZE];
        const ChainSample row = {
                .pid = sample->pid,
                .tid = sample->tid,
                .cpu = sample->cpu,
                .ip = sample->ip,
                .time = sample->time,
                .period = sample->period,
                .comm = sample_file_comm(&naming->file, sample->tid, sample->time, buffer),
                .event = event_shown(event->name, naming->event),
                .leaf = sample->is_waiting_for_cpu ? PREEMPTED_NAME : NULL,
                .chain = sample->chain,
                .n_chain = sample->n_chain,
                .max_frames = sample_file_max_frames(&naming->file, event),
        };

        return chain_namer_add(&naming->chains, &row);
}

static bool naming_run_samples(Naming *naming, PerfRun *run, PerfResult *ret_result, GError **error)
{
        const Machine *machine = stack_walk_machine(&naming->file.data.features);
        bool ok;

        run->callers = &naming->file.callers;
        run->hiding = machine && machine->hides_callers ? OSR_HIDING : OSR_NOT_HIDING;
        naming->chains = (ChainNamer){.namer = &run->namer, .code = {naming_find_code, naming}};
        ok = perf_run_begin(run);
        run->namer.resolver.has_exact_clock = naming->clock.is_exact;
        ok = ok && sample_file_read(&naming->file, naming_name_sample, naming, error);
        progress_end_reading(&naming->progress);
        return perf_run_end(run, ok, ret_result, error);
}

/* A QueuedSampleFn: a chain that a sample needs. */
static bool naming_want_chain(const QueuedSample *sample, void *data)
{
        perf_async_want(data, sample->pid, sample->tid, sample->time);
        return true;
}

/* Names the frames of chains, as a sample for each, whose period is its number. */
static bool naming_run_chains(Naming *naming, PerfRun *run, PerfAsync *async, GError **error)
{
        PerfResult result;
        guint i;
        bool ok;

        naming->chains = (ChainNamer){.namer = &run->namer, .code = {naming_find_code, naming}};
        ok = perf_run_begin(run);
        run->namer.resolver.has_exact_clock = naming->clock.is_exact;
        for (i = 0; ok && i < async->wanted->len; i++) {
                const AsyncWanted *wanted = &g_array_index(async->wanted, AsyncWanted, i);
                const ChainSample row = {.pid = wanted->pid,
                                         .tid = wanted->pid,
                                         .cpu = NO_CPU,
                                         .ip = wanted->address,
                                         .time = wanted->time,
                                         .period = i,
                                         .comm = "",
                                         .event = naming->event,
                                         .chain = &wanted->address,
                                         .n_chain = 1,
                                         .max_frames = UINT_MAX};

                ok = chain_namer_add(&naming->chains, &row);
        }
        return perf_run_end(run, ok, &result, error);
}

static bool naming_name_chains(Naming *naming, PerfAsync *async, GError **error)
{
        const SampleSink sink = perf_async_sink(async);
        g_autoptr(GPtrArray) settings = NULL;
        g_autofree char *mappings = NULL;
        PerfRun run = {.output_fd = -1, .sink = &sink, .handle = naming->handle};
        bool ok;

        /* The samples of other .nettrace files have no chains. */
        if (!async->chains || (naming->is_nettrace && !naming->job->round))
                return true;
        async->clock_offset =
                naming->is_nettrace ? -naming->job->round->clock_ahead : naming->clock.offset;
        if (naming->is_nettrace)
                ok = perf_nettrace_want(naming->input, naming->job->round, async, &naming->progress,
                                        error);
        else
                ok = sample_file_read(&naming->file, naming_want_chain, async, error);
        progress_end_reading(&naming->progress);
        if (!ok || !async->wanted->len)
                return ok;
        settings = naming_settings(naming);
        mappings = mappings_text(naming);
        if (!mappings)
                return false;
        run.mappings = mappings;
        run.settings = settings;
        return naming->is_nettrace ? perf_nettrace_run_chains(async, naming->event, &run, error)
                                   : naming_run_chains(naming, &run, async, error);
}

static bool naming_run_output(Naming *naming, PerfRun *run, GError **error)
{
        g_autoptr(GPtrArray) settings = naming_settings(naming);
        char *mappings = mappings_text(naming);
        PerfResult result;
        bool ok;

        if (!mappings) {
                g_set_error_literal(error, PERF_ERROR, 0, "no memory left");
                return false;
        }
        run->mappings = mappings;
        run->settings = settings;
        run->handle = naming->handle;
        ok = naming->is_nettrace
                     ? perf_nettrace_run(naming->input, naming->recording, naming->event,
                                         naming->job->round, run, &naming->progress, &result, error)
                     : naming_run_samples(naming, run, &result, error);
        naming->counts = result.counts;
        if (!ok && result.is_reader_gone)
                g_clear_error(error);
        free(mappings);
        return ok;
}

/* Writes text to PATH; NULL: stdout. */
static bool write_directly(Naming *naming, const char *path, GError **error)
{
        g_auto(AtomicFile) output = ATOMIC_FILE_INIT;
        PerfRun run = {0};
        int r = atomic_file_open(&output, path);

        if (r == 0) {
                run.output_fd = output.fd;
                if (!naming_run_output(naming, &run, error)) {
                        g_prefix_error(error, "%s was not written: ", path ? path : "the text");
                        return false;
                }
                r = atomic_file_commit(&output, /* sync= */ false);
        }
        if (r < 0) {
                g_autofree char *why = output_path_error(path, -r);

                g_set_error(error, PERF_ERROR, 0, "cannot write %s: %s",
                            path ? path : "to standard output", why);
        }
        return r == 0;
}

/* The markers; naming compiled methods takes a moment. NULL: no output has markers, or none are
 * known. */
static GArray *naming_markers(const PerfNaming *job)
{
        return job->activity && output_forms_have(job->outputs, job->n_outputs, job->format,
                                                  profile_form_has_markers)
                       ? perf_activity_markers(job->activity)
                       : NULL;
}

static bool write_profiles(Naming *naming, const Profile *profile, GError **error)
{
        const PerfNaming *job = naming->job;
        const Recording *recording = naming->recording;
        g_autofree char *name = g_path_get_basename(naming->input);
        g_autoptr(GArray) markers = naming_markers(job);
        const ProfileOptions options = {
                .markers = markers,
                .title = job->title ? job->title : name,
                .event = naming->event,
                .clock_offset = perf_reference_zero(&recording->reference),
                .is_annotated = options_has(naming->options, OPTION_ANNOTATE),
        };
        bool ok = perf_outputs_write(job, profile, &options, error);

        if (job->is_rescued && (!ok || naming->is_to_rescue))
                saved_profile_rescue(profile, &options);
        return ok;
}

/* Uses the name of the main thread until a command line comes. */
static void naming_name_processes(Naming *naming, Profile *profile)
{
        const GPtrArray *processes = naming->recording->processes;
        char buffer[THREAD_NAME_SIZE];
        guint i;

        for (i = 0; !naming->is_nettrace && i < processes->len; i++) {
                const RecordingProcess *row = processes->pdata[i];

                profile_set_command(profile, row->pid,
                                    sample_file_comm(&naming->file, row->pid, row->last, buffer));
        }
}

/* For a caller with its own sink. */
static bool run_sink(Naming *naming, GError **error)
{
        const PerfNaming *job = naming->job;
        PerfRun run = {.output_fd = -1, .sink = job->sink};

        return (!job->async || naming_name_chains(naming, job->async, error)) &&
               naming_run_output(naming, &run, error);
}

static bool run_profile(Naming *naming, GError **error)
{
        PerfProfile profile;
        SampleSink sink = perf_profile_sink(&profile);
        PerfRun run = {.output_fd = -1, .sink = &sink};
        bool ok;

        perf_profile_init(&profile, naming->job->activity, naming->job->into);
        run.profile = profile.profile;
        naming_name_processes(naming, profile.profile);
        profile.is_weighed = profile_event_unit(naming->event)->is_weighed;
        profile.is_before = naming->job->is_before;
        profile.has_logical = !naming->options->is_physical;
        profile.has_physical = output_forms_have(naming->job->outputs, naming->job->n_outputs,
                                                 naming->job->format, profile_form_has_physical);
        if (naming->job->activity)
                profile.async.chains = naming->job->activity->chains;
        ok = naming_name_chains(naming, &profile.async, error) &&
             naming_run_output(naming, &run, error) &&
             write_profiles(naming, profile.profile, error);
        naming->n_joined = profile.async.n_joined;
        naming->n_apart = profile.async.n_apart;
        if (naming->job->activity) {
                naming->job->activity->n_joined += profile.async.n_joined;
                naming->job->activity->n_apart += profile.async.n_apart;
        }
        perf_profile_deinit(&profile);
        return ok;
}

static bool naming_write(Naming *naming, GError **error)
{
        const PerfNaming *job = naming->job;
        bool has_profile = job->take || job->into;
        unsigned i;

        if (job->sink)
                return run_sink(naming, error);
        for (i = 0; i < job->n_outputs; i++) {
                const char *path = perf_output_path(job->outputs[i]);
                GError *failure = NULL;

                naming->form =
                        perf_output_is_text(job->outputs[i], job->format) ? FORM_TEXT : FORM_SINK;
                has_profile |= naming->form == FORM_SINK;
                if (naming->form != FORM_TEXT)
                        continue;
                if (!write_directly(naming, path, &failure)) {
                        naming->has_failed = true;
                        naming->is_to_rescue |= failure && job->is_rescued;
                        perf_output_fail(failure, error);
                } else if (job->written) {
                        g_ptr_array_add(job->written, (gpointer)job->outputs[i]);
                }
        }
        naming->form = FORM_SINK;
        if (has_profile || naming->is_to_rescue) {
                GError *failure = NULL;

                if (!run_profile(naming, &failure)) {
                        perf_output_fail(failure, error);
                        naming->has_failed = true;
                }
        }
        return !naming->has_failed;
}

/* True unless the output is text, which shows each event. */
static bool naming_needs_one_event(const PerfNaming *job)
{
        unsigned i;

        for (i = 0; i < job->n_outputs; i++)
                if (!perf_output_is_text(job->outputs[i], job->format))
                        return true;
        return job->take || job->into || job->sink;
}

/* Counts all readings for one progress bar: one for each text, one for all other outputs, and
 * before them one of a .nettrace file, or two of others and one for chains of async methods. No bar
 * if an output is stdout, because it, or its pager, has the terminal. */
static void naming_begin_progress(Naming *naming)
{
        const PerfNaming *job = naming->job;
        unsigned n_readings = 1, i;
        bool has_bar = !job->is_quiet;

        if (!naming->is_nettrace)
                n_readings += 1 + (job->activity && job->activity->chains);
        n_readings += naming_needs_one_event(job);
        for (i = 0; i < job->n_outputs; i++) {
                n_readings += perf_output_is_text(job->outputs[i], job->format);
                has_bar = has_bar && perf_output_path(job->outputs[i]);
        }
        progress_init(&naming->progress, has_bar ? naming->input : NULL);
        naming->progress.n_readings = n_readings;
        naming->file.progress = on_progress;
        naming->file.progress_data = &naming->progress;
}

/* A .nettrace file has the clock and the code of its own process: no search is needed. */
static bool naming_run_nettrace(Naming *naming, GError **error)
{
        bool ok;

        naming_begin_progress(naming);
        ok = perf_nettrace_survey(naming->input, naming->recording, naming->maps, &naming->progress,
                                  error);
        return ok && naming_choose_event(naming, error) && open_handle(naming, error) &&
               naming_write(naming, error);
}

/* Finds the time and the processes of the recording in the events. */
static bool naming_find_processes(Naming *naming, GError **error)
{
        const Options *options = naming->options;

        if (!recording_has_times(naming->recording)) {
                g_ptr_array_add(naming->notes,
                                g_strdup_printf("the samples of %s have no time (perf record "
                                                "--timestamp adds it): only native and precompiled "
                                                "code is named, because the JIT reuses addresses",
                                                naming->input));
                naming->has_no_events = true;
        }
        if (naming->has_no_events) {
                naming->clock.is_exact = true;
                return true;
        }
        return perf_clock_find(naming->handle, naming->recording, naming->input, !options->trace,
                               options_has(options, OPTION_FORCE), &naming->clock, naming->notes,
                               error) &&
               perf_match(naming->handle, naming->recording, options,
                          naming->job->is_own ? proc_own_pid_ns() : 0, naming->clock.offset,
                          naming->maps, naming->notes, error);
}

/* Reads the file of another recorder as perf's. */
static bool naming_open_file(Naming *naming, GError **error)
{
        g_autofree char *converted = NULL;
        FD_AUTO int fd = -1;
        bool ok = true;

        if (naming->is_collect) {
                naming->recorder = recorder_symbols_new();
                fd = collect_input_open(naming->input, naming->recorder, naming->notes,
                                        &naming->recording->n_lost, error);
                ok = fd >= 0;
                converted = g_strdup_printf("/proc/self/fd/%d", fd);
        }
        if (ok && sample_file_open(&naming->file, converted ? converted : naming->input, error))
                return true;
        g_prefix_error(error, "cannot read the recording %s: ", naming->input);
        return false;
}

static bool naming_open(Naming *naming, GError **error)
{
        const bool is_forced = options_has(naming->options, OPTION_FORCE);
        bool is_of_this_boot;

        if (!perf_input_check(naming->input, is_forced, error) || !naming_open_file(naming, error))
                return false;
        naming_begin_progress(naming);
        naming->debug = debug_files_new(naming->options->symbols);
        naming->finder = debug_files_finder(naming->debug);
        naming->kernel = kernel_symbols_new(&naming->file.data.features);
        naming->places = code_places_new(naming->file.spaces, &naming->file.data.features,
                                         naming->kernel, &naming->finder);
        code_places_set_recorder(naming->places, naming->recorder);
        recording_take_header(naming->recording, &naming->file.data);
        is_of_this_boot = perf_clock_is_of_this_boot(naming->recording);
        code_places_set_boot(naming->places, is_of_this_boot);
        /* Contents identify the files of collect-linux. */
        naming->has_images = naming->is_collect || is_of_this_boot;
        naming->may_run = !naming->job->is_own && !naming->job->sink && !naming->is_collect &&
                          !naming_trace(naming) && is_of_this_boot;
        /* The code of methods needs a source of events. */
        return !(naming->job->memory || naming->may_run) || open_handle(naming, error);
}

static bool naming_run(Naming *naming, GError **error)
{
        if (!naming_open(naming, error) || !naming_survey(naming, error) ||
            !naming_choose_event(naming, error) || !open_handle(naming, error))
                return false;
        /* clrsym record prints the note before the recording; clrsym stack copies stacks itself. */
        if (!naming->job->is_over && !naming->job->sink)
                perf_stacks_note_kind(naming->recording->stacks, naming->input, naming->notes);
        if (!naming_find_processes(naming, error))
                return false;
        if (naming->job->activity)
                naming->job->activity->clock_offset = naming->clock.offset;
        print_notes(naming);
        return naming_write(naming, error);
}

static void naming_deinit(Naming *naming)
{
        clrsym_close(naming->handle);
        sample_file_close(&naming->file);
        code_places_free(naming->places);
        kernel_symbols_free(naming->kernel);
        debug_files_free(naming->debug);
        recorder_symbols_free(naming->recorder);
        recording_free(naming->recording);
        g_array_unref(naming->maps);
        g_ptr_array_unref(naming->notes);
}

bool perf_naming_run(const PerfNaming *job, GError **error)
{
        Naming naming = {
                .job = job,
                .options = job->options,
                .input = job->input,
                .form = naming_needs_one_event(job) ? FORM_SINK : FORM_TEXT,
                .is_collect = collect_input_is(job->input),
                .file.data.fd = -1,
                .recording = recording_new(),
                .maps = g_array_new(FALSE, FALSE, sizeof(ProcessMap)),
                .notes = g_ptr_array_new_with_free_func(g_free),
        };
        const bool is_saved = saved_profile_is(job->input);
        int caught;
        bool ok;

        naming.is_nettrace = !naming.is_collect && perf_nettrace_is(job->input);
        perf_catch_signals();
        ok = is_saved             ? perf_outputs_write_saved(job, error)
             : naming.is_nettrace ? naming_run_nettrace(&naming, error)
                                  : naming_run(&naming, error);
        if (ok && job->has_notes_only)
                perf_summary_print_unnamed(&naming.counts);
        else if (ok && !is_saved && !job->is_quiet)
                naming_print_summary(&naming);
        naming_deinit(&naming);
        caught = perf_caught_signal();
        if (caught && job->ends_by_signal)
                perf_end_by_signal(caught);
        return ok;
}
