/* SPDX-License-Identifier: MIT */

/*
 * clrsym perf: names the managed frames of a perf.data
 *
 * perf script runs twice, each time with clrsym's filter. The first run is a survey: which clock
 * was used, and where each process has possibly managed code. That is compared with the trace
 * before anything is named. In the second run the filter names frames: it prints text or folded
 * stacks itself; for the other formats it sends its samples to this program.
 */

#include "cli/answer-source.h"
#include "cli/perf-clock.h"
#include "cli/perf-match.h"
#include "cli/perf-profile.h"
#include "cli/perf-program.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "nettrace/file.h"
#include "perf/counts.h"
#include "util/atomic-file.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_INPUT "perf.data"
/* One in so many managed frames. */
#define UNLISTED_SHARE 20

/*
 * Output formats, by the ending of the output's name. To add one that needs all samples at once:
 * a writer in src/profile (profile.h, writers.h, FORMS in write.c), nothing here. To add one that
 * the filter can print while perf reads: a PerfForm in plugins/perf (form.h, settings.h, FORMS in
 * dlfilter.c), and a row here.
 */
typedef enum PerfForm {
        FORM_TEXT,
        FORM_FOLDED,
        FORM_PROFILE, /* by src/profile */
        _FORM_MAX,
} PerfForm;

static const struct {
        const char *ending; /* NULL: the other rows and src/profile decide */
        const char *format; /* the filter's setting */
} FORMS[_FORM_MAX] = {
        [FORM_TEXT] = {NULL, "text"},
        [FORM_FOLDED] = {".folded", "folded"},
        [FORM_PROFILE] = {NULL, "stream"},
};

typedef struct PerfVerb {
        const Options *options;
        const char *input;
        const char *output; /* NULL: stdout */
        PerfForm form;
        PerfPrograms programs;
        Recording *recording; /* owned */
        GString *line;        /* owned: the incomplete last line of perf's output */
        clrsym *handle;       /* owned */
        char *directory;      /* owned: holds the snapshot; NULL: there is none */
        char *snapshot;       /* owned: is read instead of the trace */
        const char *event;    /* NULL: all */
        PerfClock clock;
        bool has_images;  /* this machine's files can be those of the recording */
        char *report;     /* owned: the filter's counts */
        GArray *maps;     /* owned: of ProcessMap */
        GPtrArray *notes; /* owned strings: for stderr */
} PerfVerb;

static void print_notes(PerfVerb *verb)
{
        guint i;

        for (i = 0; i < verb->notes->len; i++)
                fprintf(stderr, "clrsym: %s\n", (char *)g_ptr_array_index(verb->notes, i));
        g_ptr_array_set_size(verb->notes, 0);
}

static bool take_line_bytes(const char *bytes, size_t n, void *data)
{
        PerfVerb *verb = data;
        const char *end;

        while ((end = memchr(bytes, '\n', n))) {
                g_string_append_len(verb->line, bytes, end - bytes);
                recording_take_line(verb->recording, verb->line->str);
                g_string_truncate(verb->line, 0);
                n -= (size_t)(end - bytes) + 1;
                bytes = end + 1;
        }
        g_string_append_len(verb->line, bytes, (gssize)n);
        return true;
}

static bool take_survey(PerfVerb *verb, const char *report, GError **error)
{
        g_auto(GStrv) lines = g_strsplit(report, "\n", -1);
        size_t i;

        for (i = 0; lines[i]; i++)
                if (*lines[i] && !recording_take_survey(verb->recording, lines[i])) {
                        g_set_error(error, PERF_ERROR, 0,
                                    "%s, perf's filter, is of another version than this program",
                                    verb->programs.filter);
                        return false;
                }
        recording_finish(verb->recording);
        return true;
}

static bool perf_verb_survey(PerfVerb *verb, GError **error)
{
        static const char *const ARGUMENTS[] = {"--ns",
                                                "--header",
                                                "--show-mmap-events",
                                                "--show-namespace-events",
                                                "--show-lost-events",
                                                NULL};
        g_autoptr(GPtrArray) settings = g_ptr_array_new();
        const PerfRun run = {
                .input = verb->input,
                .arguments = ARGUMENTS,
                .settings = settings,
                .output_fd = -1,
                .fn = take_line_bytes,
                .data = verb,
        };
        PerfResult result;
        bool ok;

        g_ptr_array_add(settings, (char *)"format=survey");
        ok = perf_run(&verb->programs, &run, &result, error) &&
             take_survey(verb, result.report, error);
        perf_result_deinit(&result);
        if (ok && verb->recording->processes->len == 0) {
                g_set_error(error, PERF_ERROR, 0, "%s has no samples: record again", verb->input);
                return false;
        }
        return ok;
}

static bool choose_event(PerfVerb *verb, GError **error)
{
        const GPtrArray *events = verb->recording->events;
        const RecordingEvent *most = NULL;
        g_autoptr(GString) names = g_string_new(NULL);
        guint i;

        verb->event = verb->options->event;
        for (i = 0; i < events->len; i++) {
                const RecordingEvent *event = g_ptr_array_index(events, i);

                g_string_append_printf(names, "%s%s (%" G_GUINT64_FORMAT " samples)", i ? ", " : "",
                                       event->name, (guint64)event->n_samples);
                if (verb->event && !strcmp(verb->event, event->name))
                        return true;
                if (!most || event->n_samples > most->n_samples)
                        most = event;
        }
        if (verb->event) {
                g_set_error(error, PERF_ERROR, 0, "no event %s in %s, but %s", verb->event,
                            verb->input, names->str);
                return false;
        }
        /* Text names the event of each sample; stacks that are added up need one event. */
        if (events->len == 1 || verb->form != FORM_TEXT)
                verb->event = most->name;
        if (events->len > 1 && verb->form != FORM_TEXT)
                g_ptr_array_add(verb->notes,
                                g_strdup_printf("of several events only %s: choose with --event: "
                                                "%s",
                                                verb->event, names->str));
        return true;
}

static void note_stacks(PerfVerb *verb)
{
        static const struct {
                const char *stacks, *note;
        } ROWS[] = {
                {"none", "without stacks: record them with perf record -k mono -g ..."},
                {"dwarf",
                 "with --call-graph dwarf, whose stacks perf's filters see in the kernel only: "
                 ".NET code keeps frame pointers, so record with perf record -k mono -g"},
                {"lbr",
                 "with --call-graph lbr, whose stacks perf's filters see in the kernel only: .NET "
                 "code keeps frame pointers, so record with perf record -k mono -g"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (!g_strcmp0(verb->recording->stacks, ROWS[i].stacks))
                        g_ptr_array_add(verb->notes, g_strdup_printf("%s was recorded %s",
                                                                     verb->input, ROWS[i].note));
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

/* The filter opens the trace as well, in perf's process: a snapshot saves reading it twice. */
static bool open_handle(PerfVerb *verb, GError **error)
{
        Progress progress;
        clrsym_options how = {
                .socket = verb->options->socket,
                .trace = verb->options->trace,
                .progress = on_progress,
                .data = &progress,
        };
        char *message = NULL;
        int r;

        if (how.trace && !is_snapshot(how.trace)) {
                verb->directory = g_dir_make_tmp("clrsym-XXXXXX", error);
                if (!verb->directory)
                        return false;
                verb->snapshot = g_build_filename(verb->directory, "snapshot", NULL);
                how.save = verb->snapshot;
        }
        progress_init(&progress, how.trace);
        r = clrsym_open(&verb->handle, &how, &message);
        progress_end(&progress);
        if (r < 0)
                g_set_error(error, PERF_ERROR, 0, "%s", message ? message : g_strerror(-r));
        else if (options_has(verb->options, OPTION_VERBOSE))
                answer_source_print_note(how.trace, clrsym_note(verb->handle));
        free(message);
        return r >= 0;
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
static GPtrArray *filter_settings(const PerfVerb *verb)
{
        const Options *options = verb->options;
        GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);
        const char *trace = verb->snapshot ? verb->snapshot : options->trace;
        guint i;

        add_setting(settings, "format=%s", FORMS[verb->form].format);
        add_setting(settings, "mapped-only");
        if (trace)
                add_setting(settings, "trace=%s", trace);
        if (options->socket)
                add_setting(settings, "socket=%s", options->socket);
        if (options_has(options, OPTION_STYLE))
                add_setting(settings, "style=%s", clrsym_style_name(options->style));
        if (options_has(options, OPTION_TIERS))
                add_setting(settings, "tier");
        if (options_has(options, OPTION_ANNOTATE))
                add_setting(settings, "annotate");
        if (verb->event)
                add_setting(settings, "event=%s", verb->event);
        if (!verb->clock.is_exact)
                add_setting(settings, "clock=%" PRId64 ",%" PRIu64, verb->clock.offset,
                            verb->clock.slack);
        for (i = 0; i < verb->maps->len; i++) {
                const ProcessMap *map = &g_array_index(verb->maps, ProcessMap, i);

                if (map->process.has_pid_ns)
                        add_setting(settings, "map=%" PRId32 "=%" PRIu64 ":%" PRId32, map->perf_pid,
                                    map->process.pid_ns, map->process.pid);
                else
                        add_setting(settings, "map=%" PRId32 "=%" PRId32, map->perf_pid,
                                    map->process.pid);
        }
        return settings;
}

/* The mappings of the processes that are named, if known; NULL: no memory. */
static char *mappings_text(const PerfVerb *verb)
{
        char *text = NULL;
        size_t n = 0;
        FILE *file = open_memstream(&text, &n);
        guint i;

        if (!file)
                return NULL;
        for (i = 0; i < verb->maps->len && verb->has_images; i++)
                recording_write_mappings(verb->recording,
                                         g_array_index(verb->maps, ProcessMap, i).perf_pid, file);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

/* Prints the messages of perf and of the filter. */
static void pass_on(const char *messages)
{
        g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);
        size_t i;

        for (i = 0; lines[i]; i++)
                if (*lines[i])
                        fprintf(stderr, "%s\n", lines[i]);
}

static void print_summary(const PerfVerb *verb)
{
        g_auto(GStrv) lines = g_strsplit(verb->report, "\n", -1);
        Counts counts = {0};
        char text[1000];
        uint64_t n_unlisted;
        size_t i;

        for (i = 0; lines[i]; i++)
                counts_take_line(&counts, lines[i]);
        n_unlisted =
                counts.n[COUNT_IMAGE] - MIN(counts.n[COUNT_IMAGE], counts.n[COUNT_IMAGE_NAMED]);
        if (n_unlisted > counts_managed(&counts) / UNLISTED_SHARE) {
                if (!verb->has_images)
                        fprintf(stderr,
                                "clrsym: %s was recorded on another machine, before the last boot, "
                                "or without -k mono: precompiled code was not looked up in the "
                                "assemblies that are here now\n",
                                verb->input);
                fprintf(stderr,
                        "clrsym: %" G_GUINT64_FORMAT
                        " frames of precompiled code are unknown: a process lists such code when "
                        "it ends; to list it now, run clrsym attach PID, then this command again\n",
                        (guint64)n_unlisted);
        }
        counts_summary(&counts, text, sizeof(text));
        fprintf(stderr, "clrsym: %s, %" G_GUINT64_FORMAT " events lost by perf\n", text,
                (guint64)verb->recording->n_lost);
}

static bool run_filter(PerfVerb *verb, PerfRun *run, GError **error)
{
        static const char *const NO_ARGUMENTS[] = {NULL};
        g_autoptr(GPtrArray) settings = filter_settings(verb);
        char *mappings = mappings_text(verb);
        PerfResult result;
        bool ok;

        if (!mappings) {
                g_set_error_literal(error, PERF_ERROR, 0, "no memory left");
                return false;
        }
        run->mappings = mappings;
        run->input = verb->input;
        run->arguments = NO_ARGUMENTS;
        run->settings = settings;
        ok = perf_run(&verb->programs, run, &result, error);
        if (ok) {
                pass_on(result.messages);
                verb->report = g_steal_pointer(&result.report);
        } else if (result.is_reader_gone) {
                g_clear_error(error);
        }
        perf_result_deinit(&result);
        free(mappings);
        return ok;
}

/* The filter itself writes. */
static bool write_directly(PerfVerb *verb, GError **error)
{
        g_auto(AtomicFile) output = ATOMIC_FILE_INIT;
        PerfRun run = {0};
        int r = atomic_file_open(&output, verb->output);

        if (r == 0) {
                run.output_fd = output.fd;
                if (!run_filter(verb, &run, error))
                        return false;
                r = atomic_file_commit(&output, /* sync= */ false);
        }
        if (r < 0)
                g_set_error(error, PERF_ERROR, 0, "cannot write %s: %s",
                            verb->output ? verb->output : "to standard output", g_strerror(-r));
        return r == 0;
}

static bool write_profile(PerfVerb *verb, GError **error)
{
        const Recording *recording = verb->recording;
        g_autofree char *title = g_path_get_basename(verb->input);
        const ProfileOptions options = {
                .title = title,
                .event = verb->event,
                .clock_offset = recording->has_reference ? (int64_t)(recording->reference_tod -
                                                                     recording->reference_clock)
                                                         : 0,
        };
        PerfProfile profile;
        PerfRun run = {.output_fd = -1, .fn = perf_profile_take, .data = &profile};
        bool ok;

        perf_profile_init(&profile);
        ok = run_filter(verb, &run, error);
        if (ok && !stream_reader_is_whole(profile.reader)) {
                g_set_error(error, PERF_ERROR, 0,
                            "what %s sends cannot be understood: it is of another version than "
                            "this program",
                            verb->programs.filter);
                ok = false;
        }
        ok = ok && profile_write(profile.profile, verb->output, &options, error);
        perf_profile_deinit(&profile);
        return ok;
}

static bool perf_verb_run(PerfVerb *verb, GError **error)
{
        const Options *options = verb->options;

        if (!perf_programs_find(&verb->programs, error) || !perf_verb_survey(verb, error) ||
            !choose_event(verb, error) || !open_handle(verb, error))
                return false;
        note_stacks(verb);
        if (!perf_clock_find(verb->handle, verb->recording, verb->input,
                             options_has(options, OPTION_FORCE), &verb->clock, verb->notes,
                             error) ||
            !perf_match(verb->handle, verb->recording, options, verb->clock.offset, verb->maps,
                        verb->notes, error))
                return false;
        verb->has_images = perf_clock_is_of_this_boot(verb->recording);
        print_notes(verb);
        g_clear_pointer(&verb->handle, clrsym_close);
        return verb->form == FORM_PROFILE ? write_profile(verb, error)
                                          : write_directly(verb, error);
}

static PerfForm form_of_output(const char *output)
{
        ProfileForm form;
        unsigned i;

        for (i = 0; output && i < _FORM_MAX; i++)
                if (FORMS[i].ending && g_str_has_suffix(output, FORMS[i].ending))
                        return (PerfForm)i;
        return output && profile_form_of_path(output, &form) ? FORM_PROFILE : FORM_TEXT;
}

static void remove_snapshot(PerfVerb *verb)
{
        if (verb->snapshot)
                g_unlink(verb->snapshot);
        if (verb->directory)
                g_rmdir(verb->directory);
}

bool verb_perf(const Options *options, GError **error)
{
        PerfVerb verb = {
                .options = options,
                .input = options->input ? options->input : DEFAULT_INPUT,
                .output = g_strcmp0(options->output, "-") ? options->output : NULL,
                .recording = recording_new(),
                .line = g_string_new(NULL),
                .maps = g_array_new(FALSE, FALSE, sizeof(ProcessMap)),
                .notes = g_ptr_array_new_with_free_func(g_free),
        };
        int caught;
        bool ok;

        verb.form = form_of_output(verb.output);
        perf_catch_signals();
        ok = perf_verb_run(&verb, error);
        clrsym_close(verb.handle);
        if (ok)
                print_summary(&verb);
        remove_snapshot(&verb);
        recording_free(verb.recording);
        perf_programs_deinit(&verb.programs);
        g_string_free(verb.line, TRUE);
        g_array_unref(verb.maps);
        g_ptr_array_unref(verb.notes);
        g_free(verb.report);
        g_free(verb.snapshot);
        g_free(verb.directory);
        caught = perf_caught_signal();
        if (caught)
                perf_end_by_signal(caught);
        return ok;
}
