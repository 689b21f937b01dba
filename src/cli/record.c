/* SPDX-License-Identifier: MIT */

/*
 * clrsym record: records .NET programs and names the samples, with one command
 */

#include "cli/activity.h"
#include "cli/output-form.h"
#include "cli/perf-naming.h"
#include "cli/perf-outputs.h"
#include "cli/perf-run.h"
#include "cli/record-source.h"
#include "cli/record-stream.h"
#include "cli/terminal.h"
#include "cli/top-summary.h"
#include "cli/verbs.h"
#include "record/recorder.h"
#include "record/sampler.h"
#include "util/message.h"
#include "util/output-path.h"
#include "util/proc-stat.h"
#include "util/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_NAME      "clrsym-record"
#define DEFAULT_FORMAT    "html"
#define DEFAULT_FREQUENCY 499

#define NO_PERF "no perf on PATH: apt install linux-perf"

#define MAX_TITLE 80 /* bytes of a command in a title */

/* The event of perf's samples, by their time. NULL: the event with most samples. */
static const char *const SAMPLED_EVENTS[_SAMPLED_TIME_MAX] = {
        [SAMPLED_WAITS] = PROFILE_EVENT_OFF_CPU,
        [SAMPLED_BOTH] = PROFILE_EVENT_WALL,
};

static int command_status;

/* True if the ending of PATH names a form. */
static bool output_is_file(const char *path)
{
        return !perf_output_is_text(path, NULL);
}

/* NULL: perf. */
static const RecordSource *record_source(const Options *options)
{
        return options_has(options, OPTION_ALLOC) ? record_source_find(PROFILE_EVENT_ALLOC)
                                                  : options->source;
}

const char *verb_record_check(const Options *options)
{
        const bool has_command = *options->arguments != NULL, has_pids = options->targets != NULL;
        const bool is_machine = options_has(options, OPTION_ALL_CPUS);

        if (!has_command && !has_pids && !is_machine)
                return "give one of COMMAND, --pid PID and --all-cpus";
        if (options_has(options, OPTION_ALLOC) && options_has(options, OPTION_SAMPLER))
                return "give --alloc or --sampler, not both";
        if (options_has(options, OPTION_OFF_CPU) && record_source(options))
                return "--off-cpu needs perf: no --sampler, no --alloc";
        if (has_pids && is_machine)
                return "give --pid or --all-cpus, not both";
        if (!options->every)
                return options->push ? "--push needs --every SEC" : NULL;
        if (options_has(options, OPTION_OFF_CPU))
                return "give --every or --off-cpu, not both: a wait can be longer than an interval";
        if (record_source(options))
                return "--every needs perf: no --sampler, no --alloc";
        if (options->push)
                return options->outputs  ? "give --push or --output, not both"
                       : options->format ? "the store's URL decides the format: leave out --format"
                                         : NULL;
        if (!options->outputs || options->outputs->len > 1)
                return "--every needs --push URL or one --output DIR";
        /* "app.svg" was meant as a file, not as a directory. */
        return !*options->output || !strcmp(options->output, "-") || output_is_file(options->output)
                       ? "--every writes a file for each interval: give a directory (--output DIR)"
                       : NULL;
}

static bool record_writes_text(const Options *options)
{
        guint i;

        if (options->format)
                return perf_output_is_text("", options->format);
        /* With --every the output is a directory. */
        for (i = 0; options->outputs && !options->every && i < options->outputs->len; i++)
                if (perf_output_is_text(options->outputs->pdata[i], NULL))
                        return true;
        return false;
}

/* Call this when the forms of the outputs are checked. */
static bool record_check_text(const Options *options, GError **error)
{
        if ((!options_has(options, OPTION_TIERS) && !options_has(options, OPTION_EXPLAIN)) ||
            record_writes_text(options))
                return true;
        g_set_error(error, PERF_ERROR, 0,
                    "only text has what --tiers and --explain add: add --output FILE.txt");
        return false;
}

int verb_record_status(void)
{
        return command_status;
}

static void record_show_progress(const RecorderProgress *progress, void *data)
{
        g_autofree char *size = g_format_size(progress->n_bytes);
        g_autoptr(GString) line = g_string_new("clrsym: ");

        g_string_append_printf(line, "%.0f s, ", progress->seconds);
        if (progress->is_counted)
                g_string_append_printf(line, "%" G_GUINT64_FORMAT " samples, ",
                                       (guint64)progress->n_samples);
        else
                g_string_append_printf(line, "%s of samples, ", size);
        if (progress->n_lost)
                g_string_append_printf(line, "%" G_GUINT64_FORMAT " lost, ",
                                       (guint64)progress->n_lost);
        g_string_append_printf(line, "%u .NET process%s", progress->n_processes,
                               progress->n_processes == 1 ? "" : "es");
        if (progress->n_losing)
                g_string_append_printf(line, ", events of %u are lost", progress->n_losing);
        terminal_cut(line, terminal_width(STDERR_FILENO) - 1);
        fprintf(stderr, "\r%s\033[K", line->str);
}

static void record_end_progress(bool is_shown)
{
        if (is_shown)
                fputs("\r\033[K", stderr);
}

static void record_note(const char *message, void *data)
{
        message_print("clrsym", "%s", message);
}

/* "dotnet run", "processes 12, 14" */
static char *record_title(const Options *options)
{
        GString *title = g_string_new(NULL);
        guint i;

        if (*options->arguments) {
                g_autofree char *command = g_strjoinv(" ", options->arguments);

                g_string_append(title, command);
                if (title->len > MAX_TITLE) {
                        g_string_truncate(title, MAX_TITLE);
                        g_string_append(title, "...");
                }
        } else if (options->targets) {
                for (i = 0; i < options->targets->len; i++)
                        g_string_append_printf(title, "%s%d", i ? ", " : "process ",
                                               (int)g_array_index(options->targets, pid_t, i));
        } else {
                g_string_append(title, g_get_host_name());
        }
        return g_string_free(title, FALSE);
}

/* The file without --output; to be freed. */
static char *record_default_output(const Options *options)
{
        const OutputForm form = output_form("", options->format ? options->format : DEFAULT_FORMAT);

        return g_strconcat(DEFAULT_NAME, output_form_ending(form), NULL);
}

/* Writes the files, and a summary to standard error, because the command uses standard output. */
static bool record_name(const Options *options, const Recorder *recorder, GError **error)
{
        TopSummary summary = {
                .file = stderr,
                .duration = recorder_duration(recorder),
                .frequency = options->frequency ? options->frequency : DEFAULT_FREQUENCY,
                .is_whole_machine = options_has(options, OPTION_ALL_CPUS),
        };
        g_autofree char *usual = record_default_output(options);
        g_autofree char *title = record_title(options);
        const char *const usual_only[] = {usual};
        g_autoptr(GPtrArray) written = g_ptr_array_new();
        g_autoptr(GError) failure = NULL;
        const RecordSource *source = record_source(options);
        Options naming = *options;
        Activity *activity;
        PerfNaming job = {
                .options = &naming,
                .input = recorder_samples(recorder),
                .outputs = options->outputs ? (const char *const *)options->outputs->pdata
                                            : usual_only,
                .n_outputs = options->outputs ? options->outputs->len : 1,
                .format = options->format,
                .written = written,
                .title = title,
                .is_rescued = true,
                .take = top_summary_print,
                .data = &summary,
                .memory = recorder_jit_memory(recorder),
                .is_own = true,
                .is_over = true,
        };
        bool ok;

        naming.socket = recorder_socket(recorder);
        naming.event = source ? source->event : SAMPLED_EVENTS[options->time];
        /* The names are from this recording's own daemon. */
        naming.given |= OPTION_BIT(OPTION_FORCE);
        activity = activity_new(recorder, options->style);
        job.activity = activity_frames(activity);
        ok = perf_naming_run(&job, &failure);
        if (g_error_matches(failure, PERF_ERROR, PERF_NO_SAMPLES))
                g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "nothing was sampled: %s",
                            source ? source->nothing
                            : options->time == SAMPLED_WAITS
                                    ? "no thread waited"
                                    : "the recorded programs used no CPU, or ended too early");
        else if (failure)
                g_propagate_error(error, g_steal_pointer(&failure));
        if (ok)
                activity_print(activity);
        perf_outputs_print(written, options->format);
        activity_free(activity);
        return ok;
}

/* The daemon with the events is gone. */
static void record_keep(const Recorder *recorder, GError **error)
{
        g_autofree char *path = recorder_keep_samples(recorder, error);

        if (path)
                g_set_error(error, PERF_ERROR, 0,
                            "the recording's own clrsymd was killed, so the names are lost; the "
                            "samples are in %s: if another daemon or a trace has the events, "
                            "clrsym report -i %s with --socket or --trace names them",
                            path, path);
}

/* Checks before the recording that PATH can be made or written. */
static bool output_check(const char *path, GError **error)
{
        g_autofree char *directory = g_path_get_dirname(path);
        g_auto(OutputPath) found = OUTPUT_PATH_INIT;
        int r;

        if (!*path)
                r = ENOENT;
        else if ((r = -output_path_find(&found, path)) == 0)
                r = found.is_there && !S_ISREG(found.stat.st_mode)
                            ? (access(path, W_OK) < 0 ? errno : 0)
                            : (access(directory, W_OK | X_OK) < 0 ? errno : 0);
        if (r) {
                g_autofree char *why = output_path_error(path, r);

                g_set_error(error, PERF_ERROR, 0, "cannot write %s: %s", *path ? path : "\"\"",
                            why);
        }
        return r == 0;
}

static bool record_check_outputs(const Options *options, GError **error)
{
        g_autofree char *usual = record_default_output(options);
        unsigned i;

        if (!options->outputs)
                return output_check(usual, error);
        for (i = 0; i < options->outputs->len; i++)
                if (strcmp(options->outputs->pdata[i], "-") != 0 &&
                    !output_check(options->outputs->pdata[i], error))
                        return false;
        return true;
}

/* Names and passes on parts until the recording ends. */
static bool record_continuously(const Options *options, RecorderSettings *settings, GError **error)
{
        RecordStream *stream = record_stream_new(options, error);
        Recorder *recorder = NULL;
        bool ok;

        if (!stream)
                return false;
        settings->interval = options->every;
        settings->part = record_stream_take;
        settings->data = stream;
        recorder = recorder_new(settings, error);
        if (recorder)
                record_stream_begin(stream, recorder);
        ok = recorder && recorder_run(recorder, error);
        record_end_progress(settings->progress != NULL);
        /* If the recording failed, ERROR has its reason already. */
        ok = record_stream_free(stream, ok ? error : NULL) && ok;
        if (recorder)
                command_status = recorder_status(recorder);
        recorder_free(recorder);
        return ok;
}

static bool record_once(const Options *options, const RecorderSettings *settings, GError **error)
{
        Recorder *recorder =
                record_check_outputs(options, error) ? recorder_new(settings, error) : NULL;
        bool ok = recorder && recorder_run(recorder, error);

        record_end_progress(settings->progress != NULL);
        if (ok && !recorder_has_daemon(recorder)) {
                record_keep(recorder, error);
                ok = false;
        }
        ok = ok && record_name(options, recorder, error);
        if (recorder)
                command_status = recorder_status(recorder);
        recorder_free(recorder);
        return ok;
}

/* False: PID is a thread, or a kernel thread. A missing PID is refused later. */
static bool record_check_pid(pid_t pid, GError **error)
{
        size_t n;
        g_autofree char *status = proc_read_file(pid, "status", PROC_MAX_STATUS, &n);
        uint32_t process;

        if (!status || proc_status_numbers(status, "Tgid", &process, 1) != 1)
                return true;
        if (process != (uint32_t)pid)
                g_set_error(error, PERF_ERROR, 0,
                            "%d is a thread of process %d: give --pid %d, which records all of its "
                            "threads",
                            (int)pid, (int)process, (int)process);
        else if (!strstr(status, "\nVmSize:") && !strstr(status, "\nState:\tZ"))
                g_set_error(
                        error, PERF_ERROR, 0,
                        "%d is a thread of the kernel: --all-cpus records it, with all programs",
                        (int)pid);
        else
                return true;
        return false;
}

static bool record_check_pids(const GArray *pids, GError **error)
{
        guint i;

        for (i = 0; pids && i < pids->len; i++)
                if (!record_check_pid(g_array_index(pids, pid_t, i), error))
                        return false;
        return true;
}

bool verb_record(const Options *options, GError **error)
{
        const bool is_shown = isatty(STDERR_FILENO);
        g_autofree char *frequency = g_strdup_printf(
                "%" G_GUINT64_FORMAT, options->frequency ? options->frequency : DEFAULT_FREQUENCY);
        /* An endless recording must write little: frame pointers are smaller than copies. */
        g_autofree char *call_graph = options->call_graph ? g_strdup(options->call_graph)
                                      : options->every    ? g_strdup("fp")
                                                          : sampler_call_graph(frequency);
        const RecordSource *source = record_source(options);
        g_autofree char *perf = source ? NULL : g_find_program_in_path("perf");
        RecorderSettings settings = {
                .frequency = frequency,
                .call_graph = call_graph,
                .time = options->time,
                .has_chains = !options->is_physical,
                .seconds = options->seconds,
                .is_whole_machine = options_has(options, OPTION_ALL_CPUS),
                .pids = options->targets ? (const pid_t *)(const void *)options->targets->data
                                         : NULL,
                .n_pids = options->targets ? options->targets->len : 0,
                .command = options->arguments,
                .progress = is_shown ? record_show_progress : NULL,
                .note = record_note,
        };

        /* With --every the output is a directory. */
        if ((!options->every && !output_forms_check(options->outputs, options->format, error)) ||
            !record_check_text(options, error) || !record_check_pids(options->targets, error))
                return false;
        settings.perf = perf;
        settings.samples = source ? source->samples : EVENTPIPE_SAMPLES_THREADS;
        if (!perf)
                settings.no_perf = source ? NULL : NO_PERF;
        if (!perf && options->time != SAMPLED_CPU) {
                g_set_error_literal(error, PERF_ERROR, 0, NO_PERF "; " WAITS_ADVICE);
                return false;
        }
        if (!perf && options->every) {
                g_set_error_literal(error, PERF_ERROR, 0, NO_PERF);
                return false;
        }
        return options->every ? record_continuously(options, &settings, error)
                              : record_once(options, &settings, error);
}
