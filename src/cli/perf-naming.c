/* SPDX-License-Identifier: MIT */

/*
 * perf script runs twice, each time with clrsym's filter. The first run is a survey: which clock
 * was used, and where each process has possibly managed code. That is compared with the trace
 * before anything is named. In the second run the filter names frames: it prints text or folded
 * stacks itself; for the other formats it sends its samples to this program.
 */

#include "cli/perf-naming.h"

#include "cli/answer-source.h"
#include "cli/method-codes.h"
#include "cli/perf-clock.h"
#include "cli/perf-input.h"
#include "cli/perf-match.h"
#include "cli/perf-nettrace.h"
#include "cli/perf-profile.h"
#include "cli/perf-program.h"
#include "cli/perf-stacks.h"
#include "cli/perf-summary.h"
#include "cli/progress.h"
#include "cli/saved-profile.h"
#include "nettrace/file.h"
#include "perf/counts.h"
#include "perf/osr-callers.h"
#include "perf/settings.h"
#include "unwind/stack-file.h"
#include "util/atomic-file.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/message.h"
#include "util/remove-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * What the filter is to print, as its setting. To add a format of files: a writer in src/profile
 * (profile.h, writers.h, FORMS in write.c), nothing here.
 */
static const char *const FORMS[_FORM_MAX] = {
        [FORM_TEXT] = "text", [FORM_STREAM] = "stream", /* src/profile writes it */
};

typedef struct Naming {
        const PerfNaming *job;  /* borrowed */
        const Options *options; /* of the job */
        const char *input;      /* the same */
        FormType form;          /* of what is written now */
        bool is_nettrace;       /* the samples are those of the runtime, in a .nettrace file */
        PerfPrograms programs;
        Recording *recording; /* owned */
        GString *line;        /* owned: the incomplete last line of perf's output */
        clrsym *handle;       /* owned; NULL: there is no daemon, and no trace */
        char *directory;      /* owned: holds the snapshot and the cache; NULL: there is none */
        char *snapshot;       /* owned: is read instead of the trace */
        PerfStacks stacks;    /* its samples are read instead of the input, if there are any */
        char *cache; /* owned: with debug files that perf does not find; NULL: there are none */
        const char *event; /* NULL: all */
        PerfClock clock;
        bool has_no_events; /* neither a daemon nor a trace: see naming_note_no_daemon() */
        bool has_images;    /* this machine's files can be those of the recording */
        char *report;       /* owned: the filter's counts */
        GArray *maps;       /* owned: of ProcessMap */
        GPtrArray *notes;   /* owned strings: for stderr */
        bool has_failed;    /* an output is not written */
        bool is_to_rescue;  /* for another reason than that its reader went away */
} Naming;

/* The file that perf reads. */
static const char *naming_samples(const Naming *naming)
{
        return naming->stacks.samples ? naming->stacks.samples : naming->input;
}

static void print_notes(Naming *naming)
{
        guint i;

        for (i = 0; i < naming->notes->len && !naming->job->is_quiet; i++)
                message_print("clrsym", "%s", (const char *)g_ptr_array_index(naming->notes, i));
        g_ptr_array_set_size(naming->notes, 0);
}

static bool take_line_bytes(const char *bytes, size_t n, void *data)
{
        Naming *naming = data;
        const char *end;

        while ((end = memchr(bytes, '\n', n))) {
                g_string_append_len(naming->line, bytes, end - bytes);
                recording_take_line(naming->recording, naming->line->str);
                g_string_truncate(naming->line, 0);
                n -= (size_t)(end - bytes) + 1;
                bytes = end + 1;
        }
        g_string_append_len(naming->line, bytes, (gssize)n);
        return true;
}

static bool take_survey(Naming *naming, const char *report, GError **error)
{
        g_auto(GStrv) lines = g_strsplit(report, "\n", -1);
        size_t i;

        for (i = 0; lines[i]; i++)
                if (*lines[i] && !recording_take_survey(naming->recording, lines[i])) {
                        g_set_error(error, PERF_ERROR, 0,
                                    "%s, perf's filter, is of another version than this program",
                                    naming->programs.filter);
                        return false;
                }
        recording_finish(naming->recording);
        return true;
}

static bool naming_survey(Naming *naming, GError **error)
{
        static const char *const ARGUMENTS[] = {"--ns",
                                                "--header",
                                                "--show-mmap-events",
                                                "--show-namespace-events",
                                                "--show-lost-events",
                                                NULL};
        g_autoptr(GPtrArray) settings = g_ptr_array_new();
        const PerfRun run = {
                .input = naming_samples(naming),
                .arguments = ARGUMENTS,
                .settings = settings,
                .is_forced = options_has(naming->options, OPTION_FORCE),
                .output_fd = -1,
                .fn = take_line_bytes,
                .data = naming,
        };
        PerfResult result;
        bool ok;

        g_ptr_array_add(settings, (char *)"format=survey");
        ok = perf_run(&naming->programs, &run, &result, error) &&
             take_survey(naming, result.report, error);
        perf_result_deinit(&result);
        if (ok && naming->recording->processes->len == 0) {
                g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "%s has no samples: record again",
                            naming->input);
                return false;
        }
        return ok;
}

static bool choose_event(Naming *naming, GError **error)
{
        const GPtrArray *events = naming->recording->events;
        const RecordingEvent *most = NULL;
        g_autoptr(GString) names = g_string_new(NULL);
        guint i, n = 0;

        naming->event = naming->options->event;
        for (i = 0; i < events->len; i++) {
                const RecordingEvent *event = g_ptr_array_index(events, i);

                if (g_str_has_prefix(event->name, OSR_COPIES_EVENT))
                        continue;
                g_string_append_printf(names, "%s%s (%" G_GUINT64_FORMAT " samples)",
                                       n++ ? ", " : "", event->name, (guint64)event->n_samples);
                if (naming->event && !strcmp(naming->event, event->name))
                        return true;
                if (!most || event->n_samples > most->n_samples)
                        most = event;
        }
        if (naming->event) {
                g_set_error(error, PERF_ERROR, 0, "no event %s in %s, but %s", naming->event,
                            naming->input, names->str);
                return false;
        }
        if (!most) {
                g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "%s has no samples: record again",
                            naming->input);
                return false;
        }
        /* Text names the event of each sample; stacks that are added up need one event. */
        if (n == 1 || naming->form != FORM_TEXT)
                naming->event = most->name;
        if (n > 1 && naming->form != FORM_TEXT)
                g_ptr_array_add(naming->notes,
                                g_strdup_printf("of several events only %s: choose with --event: "
                                                "%s",
                                                naming->event, names->str));
        return true;
}

static void note_stacks(Naming *naming)
{
        static const struct {
                const char *stacks, *note;
        } ROWS[] = {
                {"none", "without stacks: record them with perf record -k mono -g ..."},
                {"dwarf",
                 "with --call-graph dwarf, and its stacks could not be unwound: .NET code keeps "
                 "frame pointers, so record with perf record -k mono -g"},
                {"lbr",
                 "with --call-graph lbr, whose stacks perf's filters see in the kernel only: .NET "
                 "code keeps frame pointers, so record with perf record -k mono -g"},
        };
        size_t i;

        /* clrsym record prints it before the recording. */
        for (i = 0; i < G_N_ELEMENTS(ROWS) && !naming->job->is_over; i++)
                if (!g_strcmp0(naming->recording->stacks, ROWS[i].stacks))
                        g_ptr_array_add(
                                naming->notes,
                                g_strdup_printf("%s was recorded %s", naming->input, ROWS[i].note));
}

static int on_progress(uint64_t n_read, uint64_t n_total, void *data)
{
        return perf_caught_signal() ? 1 : progress_show(n_read, n_total, data);
}

/* A file that opens at once. */
static bool is_snapshot(const char *trace)
{
        FD_AUTO int fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st;

        return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !nettrace_file_is(fd);
}

/* For files that are removed at the end, if there is no $TMPDIR. */
static const char *const OTHER_PLACES[] = {"/tmp", "/var/tmp", "/dev/shm"};

static bool naming_make_directory(Naming *naming, GError **error)
{
        size_t i;

        if (!naming->directory)
                naming->directory = g_dir_make_tmp("clrsym-XXXXXX", error);
        /* $TMPDIR can be that of a program, and missing here. */
        for (i = 0; !naming->directory && i < G_N_ELEMENTS(OTHER_PLACES); i++) {
                g_autofree char *path = g_build_filename(OTHER_PLACES[i], "clrsym-XXXXXX", NULL);

                if (g_mkdtemp(path))
                        naming->directory = g_steal_pointer(&path);
        }
        if (naming->directory)
                g_clear_error(error);
        return naming->directory != NULL;
}

static void naming_note_no_events(Naming *naming, const char *why)
{
        g_ptr_array_add(
                naming->notes,
                g_strdup_printf("%s. Without events only native and precompiled code is named; "
                                "code that the JIT compiled gets its names from a daemon "
                                "that knew the program while perf recorded it, or from "
                                "the trace of that run: clrsym record does both",
                                why ? why : "no daemon answers"));
}

/* The filter opens the trace as well, in perf's process: a snapshot saves reading it twice. */
static bool open_handle(Naming *naming, GError **error)
{
        Progress progress;
        clrsym_options how = {
                .socket = naming->options->socket,
                .trace = naming->options->trace,
                .progress = on_progress,
                .data = &progress,
        };
        char *message = NULL;
        int r;

        if (naming->handle || naming->has_no_events)
                return true;
        if (how.trace && !is_snapshot(how.trace)) {
                if (!naming_make_directory(naming, error))
                        return false;
                naming->snapshot = g_build_filename(naming->directory, "snapshot", NULL);
                how.save = naming->snapshot;
        }
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

static bool naming_unwind(Naming *naming, GError **error)
{
        g_autoptr(DebugFiles) files = NULL;
        g_autoptr(MethodCodes) codes = NULL;
        StackSources sources = {0};
        MethodFinder methods;
        DebugFinder debug;

        if (!stack_file_is(naming->input))
                return true;
        if (!naming_make_directory(naming, error))
                return false;
        if (naming->job->memory && !open_handle(naming, error))
                return false;
        if (naming->job->memory && naming->handle) {
                codes = method_codes_new(naming->handle, naming->job->memory,
                                         proc_own_clock_ahead());
                methods = method_codes_finder(codes);
                sources.methods = &methods;
        }
        files = debug_files_new(naming->options->symbols);
        debug = debug_files_finder(files);
        sources.debug = &debug;
        perf_stacks_unwind(naming->input, &sources, naming->directory, &naming->stacks,
                           naming->notes);
        return true;
}

/* Native code gets its names from perf. */
static bool naming_find_debug_files(Naming *naming, GError **error)
{
        g_autoptr(GHashTable) found =
                debug_files_find(naming->recording->binaries, naming->options->symbols);

        if (g_hash_table_size(found) == 0)
                return true;
        if (!naming_make_directory(naming, error))
                return false;
        naming->cache = g_build_filename(naming->directory, "cache", NULL);
        if (g_mkdir(naming->cache, 0700) == 0)
                return debug_files_link(found, naming->cache, error);
        g_set_error(error, PERF_ERROR, 0, "cannot make %s: %s", naming->cache, g_strerror(errno));
        return false;
}

static void add_setting(GPtrArray *settings, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_setting(GPtrArray *settings, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(settings, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

/* The filter's settings. */
static GPtrArray *filter_settings(const Naming *naming)
{
        const Options *options = naming->options;
        GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);
        const char *trace = naming->snapshot ? naming->snapshot : options->trace;
        g_autoptr(GPtrArray) packed = NULL;
        guint i;

        add_setting(settings, "format=%s", FORMS[naming->form]);
        if (!naming->is_nettrace)
                add_setting(settings, "mapped-only");
        else if (!trace && !options->socket)
                trace = naming->input;
        if (trace)
                add_setting(settings, "trace=%s", trace);
        if (naming->has_no_events)
                add_setting(settings, "no-events");
        if (options->socket)
                add_setting(settings, "socket=%s", options->socket);
        if (options_has(options, OPTION_STYLE))
                add_setting(settings, "style=%s", clrsym_style_name(options->style));
        if (options_has(options, OPTION_TIERS))
                add_setting(settings, "tier");
        if (options_has(options, OPTION_EXPLAIN))
                add_setting(settings, "explain");
        if (options_has(options, OPTION_ANNOTATE))
                add_setting(settings, "annotate");
        if (naming->job->is_over)
                add_setting(settings, "wait=0");
        if (naming->stacks.hidden)
                add_setting(settings, "callers=%s", naming->stacks.hidden);
        if (naming->event)
                add_setting(settings, "event=%s", naming->event);
        if (options_has(options, OPTION_LINES))
                add_setting(settings, "lines");
        for (i = 0; options->symbols && i < options->symbols->len; i++)
                add_setting(settings, "symbols=%s", (char *)options->symbols->pdata[i]);
        if (options_has(options, OPTION_LINES) && naming->recording)
                packed = debug_files_packed(naming->recording->binaries);
        for (i = 0; packed && i < packed->len; i++)
                add_setting(settings, "program=%s", (char *)packed->pdata[i]);
        for (i = 0; options->source_maps && i < options->source_maps->len; i++)
                add_setting(settings, "source-map=%s", (char *)options->source_maps->pdata[i]);
        if (!naming->clock.is_exact && !naming->is_nettrace)
                add_setting(settings, "clock=%" PRId64 ",%" PRIu64, naming->clock.offset,
                            naming->clock.slack);
        for (i = 0; i < naming->maps->len; i++) {
                const ProcessMap *map = &g_array_index(naming->maps, ProcessMap, i);

                if (map->process.has_pid_ns)
                        add_setting(settings, "map=%" PRId32 "=%" PRIu64 ":%" PRId32, map->perf_pid,
                                    map->process.pid_ns, map->process.pid);
                else
                        add_setting(settings, "map=%" PRId32 "=%" PRId32, map->perf_pid,
                                    map->process.pid);
        }
        return settings;
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
                .report = naming->report,
                .has_images = naming->has_images,
                .is_nettrace = naming->is_nettrace,
                .is_over = naming->job->is_over,
        };

        perf_summary_print(&summary);
}

static bool run_filter(Naming *naming, PerfRun *run, GError **error)
{
        static const char *const NO_ARGUMENTS[] = {NULL};
        g_autoptr(GPtrArray) settings = filter_settings(naming);
        char *mappings = mappings_text(naming);
        PerfResult result;
        bool ok;

        if (!mappings) {
                g_set_error_literal(error, PERF_ERROR, 0, "no memory left");
                return false;
        }
        run->mappings = mappings;
        run->cache = naming->cache;
        run->is_forced = options_has(naming->options, OPTION_FORCE);
        run->input = naming_samples(naming);
        run->arguments = NO_ARGUMENTS;
        run->settings = settings;
        ok = naming->is_nettrace ? perf_nettrace_run(run, &result, error)
                                 : perf_run(&naming->programs, run, &result, error);
        if (ok) {
                message_pass_on(result.messages);
                g_free(naming->report);
                naming->report = g_steal_pointer(&result.report);
        } else if (result.is_reader_gone) {
                g_clear_error(error);
        }
        perf_result_deinit(&result);
        free(mappings);
        return ok;
}

/*
 * An output that fails does not keep the others from being written: the first error is returned,
 * and others are printed, unless a signal is the reason. FAILURE is owned; NULL: the reader is
 * gone.
 */
static void keep_failure(GError *failure, GError **error)
{
        if (!failure)
                return;
        if (!error || !*error) {
                g_propagate_error(error, failure);
                return;
        }
        if (!perf_caught_signal())
                message_print("clrsym", "%s", failure->message);
        g_error_free(failure);
}

/* The filter itself writes. PATH NULL: to stdout. */
static bool write_directly(Naming *naming, const char *path, GError **error)
{
        g_auto(AtomicFile) output = ATOMIC_FILE_INIT;
        PerfRun run = {0};
        int r = atomic_file_open(&output, path);

        if (r == 0) {
                run.output_fd = output.fd;
                if (!run_filter(naming, &run, error)) {
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

static const char *output_path(const char *output)
{
        return g_strcmp0(output, "-") ? output : NULL;
}

/* The filter prints text; all else is made of a profile. */
static FormType form_of_output(const char *output)
{
        ProfileForm form;

        return output && (profile_form_of_path(output, &form) ||
                          g_str_has_suffix(output, SAVED_ENDING))
                       ? FORM_STREAM
                       : FORM_TEXT;
}

/* All outputs that need a profile. */
static bool write_outputs(const PerfNaming *job, const Profile *profile,
                          const ProfileOptions *options, GError **error)
{
        bool ok = true;
        unsigned i;

        for (i = 0; i < job->n_outputs; i++) {
                const char *path = job->outputs[i];
                GError *failure = NULL;

                if (form_of_output(output_path(path)) != FORM_STREAM)
                        continue;
                if ((g_str_has_suffix(path, SAVED_ENDING) ? saved_profile_write : profile_write)(
                            profile, path, options, &failure))
                        continue;
                keep_failure(failure, error);
                ok = false;
        }
        if (job->take)
                job->take(profile, options, job->data);
        return ok;
}

/* The recording is over, and cannot be made again: what it has named is not lost with an output. */
static void rescue_profile(const Profile *profile, const ProfileOptions *options)
{
        /* Nobody can have prepared the name, and the file that is replaced is our own. */
        g_autofree char *path =
                g_build_filename(g_get_tmp_dir(), "clrsym-record-XXXXXX" SAVED_ENDING, NULL);
        FD_AUTO int fd = g_mkstemp_full(path, O_WRONLY | O_CLOEXEC, 0600);

        if (fd >= 0 && saved_profile_write(profile, path, options, /* error= */ NULL))
                message_print("clrsym",
                              "the named samples are in %s: clrsym report -i %s -o FILE writes "
                              "them",
                              path, path);
}

static bool write_profiles(Naming *naming, const Profile *profile, GError **error)
{
        const PerfNaming *job = naming->job;
        const Recording *recording = naming->recording;
        g_autofree char *name = g_path_get_basename(naming->input);
        const ProfileOptions options = {
                .title = job->title ? job->title : name,
                .event = naming->event,
                .clock_offset = recording->has_reference ? (int64_t)(recording->reference_tod -
                                                                     recording->reference_clock)
                                                         : 0,
                .is_annotated = options_has(naming->options, OPTION_ANNOTATE),
        };
        bool ok = write_outputs(job, profile, &options, error);

        if (job->is_rescued && (!ok || naming->is_to_rescue))
                rescue_profile(profile, &options);
        return ok;
}

static bool run_profile(Naming *naming, GError **error)
{
        PerfProfile profile;
        PerfRun run = {.output_fd = -1, .fn = perf_profile_take, .data = &profile};
        bool ok;

        perf_profile_init(&profile, naming->job->activity, naming->job->into);
        profile.is_before = naming->job->is_before;
        ok = run_filter(naming, &run, error);
        if (ok && !stream_reader_is_whole(profile.reader)) {
                g_set_error(error, PERF_ERROR, 0,
                            "what %s sends cannot be understood: it is of another version than "
                            "this program",
                            naming->programs.filter);
                ok = false;
        }
        ok = ok && write_profiles(naming, profile.profile, error);
        perf_profile_deinit(&profile);
        return ok;
}

static bool naming_write(Naming *naming, GError **error)
{
        const PerfNaming *job = naming->job;
        bool has_profile = job->take || job->into;
        unsigned i;

        for (i = 0; i < job->n_outputs; i++) {
                const char *path = output_path(job->outputs[i]);
                GError *failure = NULL;

                naming->form = form_of_output(path);
                has_profile |= naming->form == FORM_STREAM;
                if (naming->form != FORM_STREAM && !write_directly(naming, path, &failure)) {
                        naming->has_failed = true;
                        naming->is_to_rescue |= failure && job->is_rescued;
                        keep_failure(failure, error);
                }
        }
        naming->form = FORM_STREAM;
        if (has_profile || naming->is_to_rescue) {
                GError *failure = NULL;

                if (!run_profile(naming, &failure)) {
                        keep_failure(failure, error);
                        naming->has_failed = true;
                }
        }
        return !naming->has_failed;
}

/* Text shows each event; everything else is of one. */
static bool naming_needs_one_event(const PerfNaming *job)
{
        unsigned i;

        for (i = 0; i < job->n_outputs; i++)
                if (form_of_output(output_path(job->outputs[i])) != FORM_TEXT)
                        return true;
        return job->take || job->into;
}

/* Such a file has its own process's clock and code, so nothing has to be found out. */
static bool naming_run_nettrace(Naming *naming, GError **error)
{
        if (!perf_nettrace_survey(naming->input, naming->recording, naming->maps, error) ||
            !choose_event(naming, error))
                return false;
        return naming_write(naming, error);
}

/* perf has 0 or the largest number for a sample without a time. */
static bool recording_has_times(const Recording *recording)
{
        guint i;

        for (i = 0; i < recording->processes->len; i++) {
                const RecordingProcess *process = recording->processes->pdata[i];

                if (process->last && process->first != UINT64_MAX)
                        return true;
        }
        return false;
}

/* When, and as which processes, the events know the recording's processes. */
static bool naming_find_processes(Naming *naming, GError **error)
{
        const Options *options = naming->options;

        if (!recording_has_times(naming->recording)) {
                g_ptr_array_add(naming->notes,
                                g_strdup_printf("the samples of %s have no time (perf record "
                                                "--timestamp adds it): only native and precompiled "
                                                "code is named, because the JIT uses addresses "
                                                "again",
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

static bool naming_run(Naming *naming, GError **error)
{
        if (!perf_input_check(naming->input, error) ||
            !perf_programs_find(&naming->programs, error) || !naming_unwind(naming, error) ||
            !naming_survey(naming, error) || !choose_event(naming, error) ||
            !open_handle(naming, error) || !naming_find_debug_files(naming, error))
                return false;
        note_stacks(naming);
        if (!naming_find_processes(naming, error))
                return false;
        naming->has_images = perf_clock_is_of_this_boot(naming->recording);
        if (naming->job->activity)
                naming->job->activity->clock_offset = naming->clock.offset;
        print_notes(naming);
        g_clear_pointer(&naming->handle, clrsym_close);
        return naming_write(naming, error);
}

/* Its samples have names already, so it needs neither perf nor a daemon. */
static bool naming_run_saved(const PerfNaming *job, GError **error)
{
        const SavedTarget target = {job->into, job->is_before};
        SavedProfile saved;
        unsigned i;
        bool ok;

        for (i = 0; i < job->n_outputs; i++)
                if (form_of_output(output_path(job->outputs[i])) != FORM_STREAM) {
                        g_set_error(error, PERF_ERROR, 0,
                                    "%s has named samples, but not their addresses: write it to "
                                    "a file .html, .svg, .folded, .speedscope.json or .pb.gz "
                                    "(--output)",
                                    job->input);
                        return false;
                }
        if (!saved_profile_read(job->input, &target, &saved, error))
                return false;
        saved.options.is_annotated = options_has(job->options, OPTION_ANNOTATE);
        ok = write_outputs(job, saved.samples.profile, &saved.options, error);
        saved_profile_clear(&saved);
        return ok;
}

bool perf_naming_run(const PerfNaming *job, GError **error)
{
        Naming naming = {
                .job = job,
                .options = job->options,
                .input = job->input,
                .form = naming_needs_one_event(job) ? FORM_STREAM : FORM_TEXT,
                .is_nettrace = perf_nettrace_is(job->input),
                .recording = recording_new(),
                .line = g_string_new(NULL),
                .maps = g_array_new(FALSE, FALSE, sizeof(ProcessMap)),
                .notes = g_ptr_array_new_with_free_func(g_free),
        };
        const bool is_saved = saved_profile_is(job->input);
        int caught;
        bool ok;

        perf_catch_signals();
        ok = is_saved             ? naming_run_saved(job, error)
             : naming.is_nettrace ? naming_run_nettrace(&naming, error)
                                  : naming_run(&naming, error);
        clrsym_close(naming.handle);
        if (ok && !is_saved && !job->is_quiet)
                naming_print_summary(&naming);
        if (naming.directory)
                remove_tree(naming.directory);
        recording_free(naming.recording);
        perf_programs_deinit(&naming.programs);
        g_string_free(naming.line, TRUE);
        g_array_unref(naming.maps);
        g_ptr_array_unref(naming.notes);
        g_free(naming.report);
        g_free(naming.snapshot);
        perf_stacks_deinit(&naming.stacks);
        g_free(naming.cache);
        g_free(naming.directory);
        caught = perf_caught_signal();
        if (caught && job->ends_by_signal)
                perf_end_by_signal(caught);
        return ok;
}
