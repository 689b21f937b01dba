/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include "attach/holder-client.h"
#include "record/runtime-sampler.h"
#include "record/sampler.h"
#include "record/scratch.h"
#include "record/services.h"
#include "record/spawn.h"
#include "record/subjects.h"
#include "record/tally.h"
#include "unwind/narrow.h"
#include "util/child.h"
#include "util/fd.h"
#include "util/proc-stat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_VARIABLE "DOTNET_DiagnosticPorts"
/* Bytes of async events that a thread buffers: the minimum of .NET 11. */
#define ASYNC_BUFFER_VARIABLE "DOTNET_AsyncProfiler_EventBufferSize"
#define ASYNC_BUFFER_SIZE     "1024"

/* ms */
#define LOOK_MS 100
/* us */
#define PROGRESS_INTERVAL (500 * G_TIME_SPAN_MILLISECOND)
/* A process that is killed is known up to its last event, so an idle process is asked for one. */
#define HORIZON_INTERVAL G_TIME_SPAN_SECOND
/* us for the command to end, after Ctrl-C or the end of the time. */
#define COMMAND_LIMIT (5 * G_TIME_SPAN_SECOND)
/* us for a recorded process to end, after perf failed: a guess. */
#define ENDING_LIMIT (100 * G_TIME_SPAN_MILLISECOND)
#define ENDING_PAUSE (5 * G_TIME_SPAN_MILLISECOND)

struct Recorder {
        RecorderSettings settings;
        Scratch *scratch;        /* owned */
        Services *services;      /* owned */
        Sampler *sampler;        /* owned; NULL: none */
        Tally *tally;            /* owned; NULL: samples are not counted */
        ProcessScope *scope;     /* owned; NULL: all samples are wanted */
        RuntimeSampler *runtime; /* owned: if perf cannot be used; or NULL */
        GArray *fds;             /* owned, of struct pollfd: of the runtimes, and of signals */
        SpawnCommand command;
        int command_status; /* of waitpid() */
        unsigned n_parts;
        bool is_refused;    /* perf failed to restart, which was printed */
        bool is_detached;   /* the holder has ended too early, which was printed */
        Subjects *subjects; /* owned */
        JitMemory *memory;  /* owned */
        gint64 begin;       /* us of g_get_monotonic_time() */
        gint64 duration;    /* us; 0: not over */
        gint64 next_progress, next_part, next_follow, next_horizon;
        int signal_fd;
        sigset_t old_signals;
};

static void recorder_note(const Recorder *recorder, const char *message)
{
        if (recorder->settings.note)
                recorder->settings.note(message, recorder->settings.data);
}

/* The holder */

/* The holder's attachments; NULL: it does not answer. The caller frees it. */
static json_t *recorder_attachments(const Recorder *recorder)
{
        const Request request = {.verb = REQUEST_LIST};
        int fd = holder_client_ask_in(recorder->services->holder_path, &request, NULL);
        json_auto_t *answer = fd >= 0 ? holder_client_answer(fd, NULL) : NULL;

        return json_incref(json_object_get(answer, "attachments"));
}

/* Requests something of the holder for all attachments. */
static void recorder_want(const Recorder *recorder, RequestVerb verb)
{
        const Request request = {.verb = verb};
        int fd = holder_client_ask_in(recorder->services->holder_path, &request, NULL);

        if (fd >= 0)
                json_decref(holder_client_answer(fd, NULL));
}

static void recorder_count_attached(const Recorder *recorder, RecorderProgress *progress)
{
        json_auto_t *attachments = recorder_attachments(recorder);
        const json_t *attachment;
        size_t i;

        progress->n_processes = (unsigned)json_array_size(attachments);
        json_array_foreach(attachments, i, attachment) progress->n_losing +=
                json_is_number(json_object_get(attachment, "lost_since"));
}

/* The command */

/*
 * The command's runtimes connect to our holder, besides the ports in the environment. No runtime
 * waits: a program that inherits the variable can run where the socket does not exist, as a user
 * who may not connect, or after the recording. A program that ends by itself loses the async events
 * in its threads' buffers.
 */
static char **recorder_environment(const Recorder *recorder)
{
        const char *before = g_getenv(PORT_VARIABLE);
        g_autofree char *value =
                g_strdup_printf("%s%s%s,nosuspend", before ? before : "",
                                before && *before ? ";" : "", recorder->services->port);
        char **environment = g_environ_setenv(g_get_environ(), PORT_VARIABLE, value, TRUE);

        return recorder->settings.has_chains
                       ? g_environ_setenv(environment, ASYNC_BUFFER_VARIABLE, ASYNC_BUFFER_SIZE,
                                          /* overwrite= */ FALSE)
                       : environment;
}

static bool recorder_has_command(const Recorder *recorder)
{
        return recorder->settings.command && *recorder->settings.command;
}

static bool recorder_prepare_command(Recorder *recorder, GError **error)
{
        g_auto(GStrv) environment = recorder_environment(recorder);

        if (!recorder_has_command(recorder))
                return true;
        if (!spawn_command(recorder->settings.command, environment, &recorder->command, error))
                return false;
        subjects_add_command(recorder->subjects, recorder->command.pid);
        return true;
}

static bool recorder_command_is_over(Recorder *recorder)
{
        if (recorder->command.pid &&
            child_wait(recorder->command.pid, 0, -1, &recorder->command_status))
                recorder->command.pid = 0;
        return !recorder->command.pid;
}

/* All signals so far were handled. */
static void recorder_take_signals(const Recorder *recorder)
{
        struct signalfd_siginfo info;

        while (recorder->signal_fd >= 0 && read(recorder->signal_fd, &info, sizeof(info)) > 0)
                ;
}

static bool recorder_is_interrupted(const Recorder *recorder)
{
        return spawn_is_woken(recorder->signal_fd);
}

/* Ctrl-C on the terminal has reached it, too: it has a moment to end by itself. */
static void recorder_end_command(Recorder *recorder, bool is_interrupted)
{
        const gint64 deadline = g_get_monotonic_time() + (is_interrupted ? COMMAND_LIMIT / 10 : 0);

        if (!recorder->command.pid)
                return;
        if (!child_wait(recorder->command.pid, deadline, recorder->signal_fd,
                        &recorder->command_status)) {
                recorder_take_signals(recorder);
                kill(recorder->command.pid, SIGTERM);
                if (!child_wait(recorder->command.pid, g_get_monotonic_time() + COMMAND_LIMIT,
                                recorder->signal_fd, &recorder->command_status)) {
                        kill(recorder->command.pid, SIGKILL);
                        child_wait(recorder->command.pid, G_MAXINT64, -1,
                                   &recorder->command_status);
                }
        }
        recorder->command.pid = 0;
}

/* Recording */

static bool process_is_there(pid_t pid)
{
        ProcStat stat;

        if (kill(pid, 0) < 0 && errno == ESRCH)
                return false;
        return !proc_stat_read(pid, &stat) || stat.state != 'Z';
}

/* The processes that exist; perf does not start if one is missing. */
static GArray *recorder_sampled(const Recorder *recorder)
{
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        unsigned i;

        for (i = 0; i < recorder->settings.n_pids; i++)
                if (process_is_there(recorder->settings.pids[i]))
                        g_array_append_val(pids, recorder->settings.pids[i]);
        if (recorder->command.pid)
                g_array_append_val(pids, recorder->command.pid);
        return pids;
}

static bool recorder_set_ended(const Recorder *recorder, GError **error)
{
        if (recorder->settings.n_pids == 1)
                g_set_error(error, SPAWN_ERROR, 0, "process %d has ended",
                            (int)*recorder->settings.pids);
        else
                g_set_error_literal(error, SPAWN_ERROR, 0,
                                    "the processes to be recorded have ended");
        return false;
}

/* True for a process that is exiting, too: perf loses its threads a moment before /proc does. */
static bool recorder_subjects_have_ended(const Recorder *recorder)
{
        const gint64 deadline = g_get_monotonic_time() + ENDING_LIMIT;

        if (recorder->settings.is_whole_machine)
                return false;
        for (;;) {
                g_autoptr(GArray) pids = recorder_sampled(recorder);

                if (!pids->len)
                        return true;
                if (recorder_has_command(recorder) || g_get_monotonic_time() >= deadline)
                        return false;
                g_usleep(ENDING_PAUSE);
        }
}

static bool recorder_start_sampler(Recorder *recorder, GError **error)
{
        const RecorderSettings *settings = &recorder->settings;
        g_autoptr(GArray) pids = recorder_sampled(recorder);
        SamplerSettings sampler = {.perf = settings->perf,
                                   .frequency = settings->frequency,
                                   .call_graph = settings->call_graph,
                                   .time = settings->time,
                                   .is_whole_machine = settings->is_whole_machine,
                                   .is_divided = settings->interval > 0,
                                   .wake_fd = recorder->signal_fd};

        if (!pids->len && !settings->is_whole_machine)
                return recorder_set_ended(recorder, error);
        sampler.pids = (const pid_t *)(const void *)pids->data;
        sampler.n_pids = pids->len;
        recorder->sampler = sampler_start(recorder->scratch, &sampler, error);
        if (recorder->sampler && recorder->sampler->is_machine && !settings->is_whole_machine &&
            !recorder->scope)
                recorder->scope = process_scope_new(sampler.pids, sampler.n_pids);
        return recorder->sampler != NULL;
}

/* Asks each attached process to sample itself, once. A process that is not attached yet may not
 * answer. */
static void recorder_follow(Recorder *recorder)
{
        json_auto_t *attachments = recorder_attachments(recorder);
        const json_t *attachment;
        size_t i;

        json_array_foreach(attachments, i, attachment)
        {
                const json_t *pid = json_object_get(attachment, "pid");
                g_autoptr(GError) error = NULL;

                if (recorder_is_interrupted(recorder))
                        return;
                if (!json_string_value(json_object_get(attachment, "since")))
                        continue;
                if (!runtime_sampler_add(recorder->runtime, (pid_t)json_integer_value(pid), &error))
                        recorder_note(recorder, error->message);
        }
}

#define SAMPLER_NOTE                                                                               \
        "managed frames only, at safe points; it takes about 0.16 s of CPU a second of each "      \
        "program that computes"

/* REFUSAL: perf's; NULL: the runtime's sampler was chosen. */
static void recorder_note_sampler(const Recorder *recorder, const char *refusal)
{
        g_autofree char *note = NULL;

        if (recorder->settings.samples != EVENTPIPE_SAMPLES_THREADS)
                return;
        note = refusal ? g_strdup_printf(
                                 "%s. This recording uses the runtime's own sampler: " SAMPLER_NOTE,
                                 refusal)
                       : g_strdup("the runtime's own sampler is used: " SAMPLER_NOTE);
        recorder_note(recorder, note);
}

/* Starts perf; or, if it cannot be used, the runtimes' own samplers. */
static bool recorder_start_sampling(Recorder *recorder, GError **error)
{
        const RecorderSettings *settings = &recorder->settings;
        g_autoptr(GError) refusal = NULL;

        if (settings->perf && recorder_start_sampler(recorder, &refusal))
                return true;
        if (!recorder_is_interrupted(recorder) && recorder_subjects_have_ended(recorder))
                return recorder_set_ended(recorder, error);
        if (settings->interval > 0 || settings->time != SAMPLED_CPU ||
            recorder_is_interrupted(recorder)) {
                g_propagate_error(error, g_steal_pointer(&refusal));
                return false;
        }
        recorder->runtime = runtime_sampler_new(recorder->scratch, settings->samples,
                                                RUNTIME_SAMPLER_LIMIT, error);
        if (!recorder->runtime)
                return false;
        recorder_note_sampler(recorder, refusal ? refusal->message : settings->no_perf);
        recorder_follow(recorder);
        return true;
}

static Tally *recorder_tally_new(const Recorder *recorder)
{
        g_autoptr(GArray) pids = recorder_sampled(recorder);

        return tally_new(
                recorder->sampler->output, recorder->sampler->copy_size,
                recorder->scope
                        ? process_scope_new((const pid_t *)(const void *)pids->data, pids->len)
                        : NULL);
}

/* Samples that perf has not written yet are counted the next time. */
static void recorder_count_samples(Recorder *recorder, RecorderProgress *progress)
{
        if (recorder->runtime)
                progress->n_bytes = runtime_sampler_size(recorder->runtime);
        if (!recorder->sampler)
                return;
        if (!recorder->tally)
                recorder->tally = recorder_tally_new(recorder);
        tally_update(recorder->tally);
        sampler_flush(recorder->sampler);
        progress->is_counted = true;
        progress->n_samples = tally_samples(recorder->tally);
        progress->n_lost = tally_lost(recorder->tally);
}

static void recorder_show_progress(Recorder *recorder, gint64 now)
{
        RecorderProgress progress = {
                .seconds = (double)(now - recorder->begin) / G_TIME_SPAN_SECOND,
        };

        if (!recorder->settings.progress || now < recorder->next_progress)
                return;
        recorder->next_progress = now + PROGRESS_INTERVAL;
        recorder_count_samples(recorder, &progress);
        recorder_count_attached(recorder, &progress);
        recorder->settings.progress(&progress, recorder->settings.data);
}

/* Parts */

static gint64 recorder_interval(const Recorder *recorder)
{
        return (gint64)(recorder->settings.interval * G_TIME_SPAN_SECOND);
}

/* Removes perf's records of other processes. */
static bool recorder_narrow(const Recorder *recorder, const char *path, GError **error)
{
        g_autofree char *other = NULL;
        FD_AUTO int fd = -1;

        if (!recorder->scope)
                return true;
        other = g_strdup_printf("%s-XXXXXX", path);
        fd = g_mkstemp_full(other, O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0) {
                g_set_error(error, SPAWN_ERROR, 0, "cannot make %s: %s", other, g_strerror(errno));
                return false;
        }
        if (perf_data_narrow(path, fd, recorder->scope, error) && rename(other, path) == 0)
                return true;
        g_prefix_error(error, "the samples of other processes cannot be left out: ");
        unlink(other);
        return false;
}

static bool recorder_narrow_part(const Recorder *recorder, const char *path)
{
        g_autoptr(GError) error = NULL;

        if (recorder_narrow(recorder, path, &error))
                return true;
        recorder_note(recorder, error->message);
        return false;
}

/* Each part has another name, so that none is passed twice. The chains of its last samples can
 * still be in buffers of the runtimes. */
static void recorder_pass_parts(Recorder *recorder)
{
        char *part;

        while (recorder->sampler && (part = sampler_next_part(recorder->sampler))) {
                const uint64_t now = (uint64_t)g_get_monotonic_time() * 1000;
                g_autofree char *name = g_strdup_printf("part.%u", recorder->n_parts++);
                g_autofree char *path = scratch_file(recorder->scratch, name);

                if (recorder->settings.has_chains)
                        recorder_want(recorder, REQUEST_FLUSH);
                if (rename(part, path) < 0 || !recorder_narrow_part(recorder, path))
                        unlink(part);
                else
                        recorder->settings.part(path, jit_memory_part(recorder->memory), now,
                                                recorder->settings.data);
                g_free(part);
        }
}

/* An interval, also the last one, can be without samples. */
static void recorder_end_parts(Recorder *recorder)
{
        if (recorder->sampler)
                sampler_stop(recorder->sampler, recorder->signal_fd, /* error= */ NULL);
        recorder_pass_parts(recorder);
}

/* perf ended by itself although the machine is recorded, for example because the disk is full. */
static void recorder_restart_sampler(Recorder *recorder)
{
        g_autoptr(GError) error = NULL;

        if (recorder->sampler) {
                g_autofree char *missing = sampler_room_missing(recorder->sampler);
                g_autofree char *note = g_strdup_printf(
                        "perf has ended by itself%s%s; it is started again",
                        missing ? ", because there is " : "", missing ? missing : "");

                recorder_note(recorder, note);
                unlink(recorder->sampler->output);
                g_clear_pointer(&recorder->sampler, sampler_free);
        }
        if (!recorder_start_sampler(recorder, &error) && !recorder->is_refused)
                recorder_note(recorder, error->message);
        recorder->is_refused = error != NULL;
}

static void recorder_check_holder(Recorder *recorder)
{
        if (recorder->is_detached || services_has_holder(recorder->services))
                return;
        recorder_note(recorder,
                      "clrsym-holder has ended: methods that are compiled from now on have "
                      "no names; record again");
        recorder->is_detached = true;
}

static bool recorder_records_machine(const Recorder *recorder)
{
        return recorder->settings.is_whole_machine || recorder->scope;
}

/* Ends an interval, if there are intervals. */
static void recorder_divide(Recorder *recorder, gint64 now)
{
        recorder_pass_parts(recorder);
        if (now < recorder->next_part)
                return;
        recorder->next_part += recorder_interval(recorder);
        if (recorder->next_part <= now)
                recorder->next_part = now + recorder_interval(recorder);
        if (recorder->sampler && !sampler_is_over(recorder->sampler))
                sampler_divide(recorder->sampler);
        else if (recorder_records_machine(recorder))
                recorder_restart_sampler(recorder);
}

/* If perf records the whole machine, it does not end with the processes. */
static bool recorder_processes_are_over(const Recorder *recorder)
{
        g_autoptr(GArray) pids = recorder->scope ? recorder_sampled(recorder) : NULL;

        return pids && !pids->len;
}

/* On a whole machine, perf has no reason to end. */
static bool recorder_sampling_is_over(const Recorder *recorder)
{
        const bool goes_on = recorder->settings.interval > 0 && recorder_records_machine(recorder);

        if (recorder->runtime)
                return !recorder->settings.is_whole_machine && !recorder_has_command(recorder) &&
                       runtime_sampler_is_over(recorder->runtime);
        if (recorder_processes_are_over(recorder))
                return true;
        return !goes_on && sampler_is_over(recorder->sampler);
}

/* Reports processes that are no longer sampled. */
static void recorder_note_cuts(const Recorder *recorder)
{
        char *note;

        while ((note = runtime_sampler_next_cut(recorder->runtime))) {
                recorder_note(recorder, note);
                g_free(note);
        }
}

/* Waits for a moment, and takes the runtimes' samples. True: a signal has come. */
static bool recorder_look(Recorder *recorder)
{
        const struct pollfd signals = {.fd = recorder->signal_fd, .events = POLLIN};
        const unsigned pace = recorder->sampler
                                      ? sampler_pace(recorder->sampler, g_get_monotonic_time())
                                      : LOOK_MS;

        g_array_set_size(recorder->fds, 0);
        g_array_append_val(recorder->fds, signals);
        subjects_poll(recorder->subjects, recorder->fds);
        if (recorder->runtime)
                runtime_sampler_poll(recorder->runtime, recorder->fds);
        poll((struct pollfd *)(void *)recorder->fds->data, recorder->fds->len,
             (int)MIN(pace, LOOK_MS));
        subjects_serve(recorder->subjects, recorder->fds);
        if (recorder->sampler)
                jit_memory_copy(recorder->memory, /* is_last= */ false);
        if (recorder->runtime) {
                runtime_sampler_drain(recorder->runtime);
                recorder_note_cuts(recorder);
        }
        return g_array_index(recorder->fds, struct pollfd, 0).revents != 0;
}

/* Waits for the end of the recording. True: because of a signal. */
static bool recorder_wait(Recorder *recorder)
{
        const double seconds = recorder->settings.seconds;

        for (;;) {
                const gint64 now = g_get_monotonic_time();

                recorder_show_progress(recorder, now);
                if (recorder->settings.interval > 0)
                        recorder_divide(recorder, now);
                if (seconds > 0 && (double)(now - recorder->begin) >= seconds * G_TIME_SPAN_SECOND)
                        return false;
                if ((recorder_has_command(recorder) && recorder_command_is_over(recorder)) ||
                    recorder_sampling_is_over(recorder))
                        return false;
                if (now >= recorder->next_horizon) {
                        recorder_check_holder(recorder);
                        recorder_want(recorder, REQUEST_HORIZON);
                        recorder->next_horizon = now + HORIZON_INTERVAL;
                }
                if (recorder->runtime && now >= recorder->next_follow) {
                        recorder_follow(recorder);
                        runtime_sampler_note_mappings(recorder->runtime);
                        recorder->next_follow = now + LOOK_MS * G_TIME_SPAN_MILLISECOND;
                }
                if (recorder_look(recorder))
                        return true;
        }
}

static void recorder_catch_signals(Recorder *recorder)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        sigprocmask(SIG_BLOCK, &signals, &recorder->old_signals);
        recorder->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void recorder_release_signals(Recorder *recorder)
{
        if (recorder->signal_fd < 0)
                return;
        recorder_take_signals(recorder);
        fd_clear(&recorder->signal_fd);
        sigprocmask(SIG_SETMASK, &recorder->old_signals, NULL);
}

/* Ctrl-C can also end a helper that has no process group yet. */
static void recorder_explain(const Recorder *recorder, GError **error)
{
        if (!recorder_is_interrupted(recorder))
                return;
        g_clear_error(error);
        g_set_error_literal(error, SPAWN_ERROR, 0, "interrupted before anything was recorded");
}

Recorder *recorder_new(const RecorderSettings *settings, GError **error)
{
        Recorder *recorder = g_new0(Recorder, 1);

        recorder->settings = *settings;
        recorder->signal_fd = -1;
        recorder->command.go_fd = -1;
        recorder->fds = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
        recorder->memory = jit_memory_new();
        /* From here on, a signal ends the recording, not the program. */
        recorder_catch_signals(recorder);
        recorder->scratch = scratch_new(error);
        if (recorder->scratch)
                recorder->services =
                        services_start(recorder->scratch, /* has_logs= */ true,
                                       settings->has_chains, recorder->signal_fd, error);
        if (recorder->services)
                return recorder;
        recorder_explain(recorder, error);
        recorder_free(recorder);
        return NULL;
}

void recorder_free(Recorder *recorder)
{
        if (!recorder)
                return;
        /* A command that has not begun ends by this, and not by a signal. */
        fd_clear(&recorder->command.go_fd);
        recorder_end_command(recorder, false);
        sampler_free(recorder->sampler);
        tally_free(recorder->tally);
        process_scope_free(recorder->scope);
        runtime_sampler_free(recorder->runtime);
        g_array_unref(recorder->fds);
        services_free(recorder->services, recorder->signal_fd);
        scratch_free(recorder->scratch);
        subjects_free(recorder->subjects);
        jit_memory_free(recorder->memory);
        recorder_release_signals(recorder);
        g_free(recorder);
}

static bool recorder_start_command(Recorder *recorder, GError **error)
{
        return !recorder->command.pid ||
               (!recorder_is_interrupted(recorder) &&
                spawn_command_go(&recorder->command, *recorder->settings.command, error));
}

static bool recorder_begin(Recorder *recorder, GError **error)
{
        const RecorderSettings *settings = &recorder->settings;
        const SubjectsSettings subjects = {
                .holder = recorder->services->holder_path,
                .pids = settings->pids,
                .n_pids = settings->n_pids,
                .is_whole_machine = settings->is_whole_machine,
                .is_perf_used = settings->perf != NULL,
                .memory = recorder->memory,
                .logs = settings->interval ? NULL : recorder->services->jit_logs,
                .note = settings->note,
                .data = settings->data};

        recorder->subjects = subjects_new(&subjects);
        return subjects_begin(recorder->subjects, recorder->signal_fd, error) &&
               !recorder_is_interrupted(recorder) && recorder_prepare_command(recorder, error) &&
               recorder_start_sampling(recorder, error) && recorder_start_command(recorder, error);
}

static bool recorder_stop_runtime(Recorder *recorder, GError **error)
{
        g_autofree char *missing = NULL;
        int r;

        runtime_sampler_stop(recorder->runtime, recorder->signal_fd);
        recorder_note_cuts(recorder);
        r = runtime_sampler_write_error(recorder->runtime);
        if (r)
                missing = g_strdup_printf(
                        "samples are missing, because they cannot be written to %s: %s",
                        runtime_sampler_directory(recorder->runtime), g_strerror(r));
        if (!runtime_sampler_size(recorder->runtime)) {
                g_set_error(error, SPAWN_ERROR, 0, "%s",
                            missing ? missing : "no .NET program ran that could sample itself");
                return false;
        }
        if (missing)
                recorder_note(recorder, missing);
        return true;
}

static bool recorder_end_sampling(Recorder *recorder, GError **error)
{
        if (recorder->runtime)
                return recorder_stop_runtime(recorder, error);
        jit_memory_copy(recorder->memory, /* is_last= */ true);
        if (!recorder->settings.interval)
                return sampler_stop(recorder->sampler, recorder->signal_fd, error) &&
                       recorder_narrow(recorder, recorder->sampler->output, error);
        recorder_end_parts(recorder);
        return true;
}

bool recorder_run(Recorder *recorder, GError **error)
{
        bool is_interrupted;

        if (!recorder_begin(recorder, error)) {
                recorder_explain(recorder, error);
                return false;
        }
        recorder->begin = g_get_monotonic_time();
        recorder->next_horizon = recorder->begin + HORIZON_INTERVAL;
        recorder->next_part = recorder->begin + recorder_interval(recorder);
        is_interrupted = recorder_wait(recorder);
        recorder->duration = g_get_monotonic_time() - recorder->begin;
        /* From here on, another signal ends what is waited for. */
        recorder_take_signals(recorder);
        subjects_end(recorder->subjects);
        if (!recorder_end_sampling(recorder, error))
                return false;
        /* Before a running command is ended: else the last events of its runtimes would be
         * uncertain, and it does not end before its sessions are read. */
        services_detach(recorder->services, recorder->signal_fd);
        recorder_end_command(recorder, is_interrupted);
        recorder_release_signals(recorder);
        return true;
}

const char *recorder_samples(const Recorder *recorder)
{
        return recorder->runtime ? runtime_sampler_directory(recorder->runtime)
                                 : recorder->sampler->output;
}

const char *recorder_socket(const Recorder *recorder)
{
        return recorder->services->query;
}

bool recorder_has_daemon(const Recorder *recorder)
{
        return services_has_daemon(recorder->services);
}

char *recorder_keep_samples(const Recorder *recorder, GError **error)
{
        const char *samples = recorder_samples(recorder);
        g_autofree char *parent = g_path_get_dirname(recorder->scratch->path);
        /* The rename replaces a file by a file, or a directory by a directory. */
        char *path = g_strdup_printf("%s/clrsym-record-XXXXXX%s", parent,
                                     recorder->runtime ? "" : ".data");
        FD_AUTO int fd = -1;

        if (recorder->runtime ? g_mkdtemp(path) != NULL : (fd = g_mkstemp(path)) >= 0) {
                if (rename(samples, path) == 0)
                        return path;
        }
        g_set_error(error, SPAWN_ERROR, 0, "cannot move %s to %s: %s", samples, path,
                    g_strerror(errno));
        g_free(path);
        return NULL;
}

const char *recorder_jit_logs(const Recorder *recorder)
{
        return recorder->services->jit_logs;
}

const char *recorder_async_logs(const Recorder *recorder)
{
        return recorder->services->async_logs;
}

uint64_t recorder_duration(const Recorder *recorder)
{
        return (uint64_t)recorder->duration * 1000;
}

const JitMemory *recorder_jit_memory(const Recorder *recorder)
{
        return recorder->memory;
}

const char *recorder_collection_logs(const Recorder *recorder)
{
        return recorder->services->collection_logs;
}

int recorder_status(const Recorder *recorder)
{
        const int status = recorder->command_status;

        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
