/* SPDX-License-Identifier: MIT */

/*
 * clrsym stack: the stacks of a running process, or of a core file
 *
 * The state of the process at its stop is written as a perf recording with a sample for each
 * thread, and named like a recording. A round of the runtime's sampler is named in the same way.
 */

#include "attach/holder-client.h"
#include "cli/perf-naming.h"
#include "cli/perf-run.h"
#include "cli/stack-list.h"
#include "cli/stack-round.h"
#include "cli/verbs.h"
#include "moment/core-file.h"
#include "moment/debugger-threads.h"
#include "moment/process-stop.h"
#include "record/attendance.h"
#include "util/fd.h"
#include "util/message.h"
#include "util/proc-ns.h"
#include "util/proc.h"
#include "util/seconds-text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

typedef struct StackJob {
        const Options *options;
        pid_t pid;
        bool is_core;           /* a core file, not a running process */
        bool is_debugged;       /* a debugger has stopped the process, so its runtime does not
                                 * answer */
        bool is_over;           /* the process of the core has ended: no more events come */
        Attendance *attendance; /* owned; NULL: a running daemon or a trace has the names */
        JitMemory *memory;      /* owned: code that the attendance does not have */
        Moment *moment;         /* owned; NULL: the stacks are in ROUND */
        StackRound *round;      /* owned: the runtime's own walk; or NULL */
        AsyncChains *chains;    /* owned; NULL: not wanted, or not reported */
} StackJob;

static void stack_note(const char *message, void *data)
{
        message_print("clrsym", "%s", message);
}

/* The process in questions to a daemon or a trace. */
typedef struct KnownProcess {
        ProcessKey key;      /* its own namespace, and its pid there */
        bool has_namespace;  /* false for a core file */
        bool is_known;       /* the process is known: for a running one now, for a core ever */
        uint64_t since, end; /* end of the last process with that pid, ns by its clock; UINT64_MAX:
                                it runs */
} KnownProcess;

static int known_process_compare(const clrsym_process *process, void *data)
{
        KnownProcess *known = data;

        if (process->pid != known->key.pid ||
            (known->has_namespace && process->pid_ns && process->pid_ns != known->key.pid_ns) ||
            (known->has_namespace && !process->is_running) ||
            (known->is_known && process->since < known->since))
                return 0;
        known->is_known = true;
        known->since = process->since;
        known->end = process->exited == CLRSYM_ALIVE ? UINT64_MAX : process->exited;
        return 0;
}

/* Opens the source of events. NULL: there is none, with ERROR set if one was given. */
static clrsym *stack_open(const StackJob *job, GError **error)
{
        const clrsym_options how = {.socket = job->options->socket, .trace = job->options->trace};
        clrsym *handle = NULL;
        char *message = NULL;
        const int r = clrsym_open(&handle, &how, &message);

        if (r < 0 && (how.socket || how.trace))
                g_set_error(error, PERF_ERROR, 0, "%s", message ? message : g_strerror(-r));
        free(message);
        return r < 0 ? NULL : handle;
}

/* True if the user's default daemon has events of process PID. */
static bool stack_is_known(const StackJob *job)
{
        KnownProcess known = {.has_namespace = true};
        clrsym *handle;
        ProcInfo info;

        if (!proc_read(job->pid, &info) || !(handle = stack_open(job, /* error= */ NULL)))
                return false;
        known.key = info.levels[info.n_levels - 1];
        clrsym_processes(handle, known_process_compare, &known);
        clrsym_close(handle);
        return known.is_known;
}

/* Makes the holder request a horizon. An idle process sends no events, so without one the daemon
 * does not know whether more will come. */
static void stack_want_horizon(void)
{
        const Request request = {.verb = REQUEST_HORIZON};
        int fd = holder_client_ask(&request, /* is_starting= */ false, /* error= */ NULL);

        if (fd >= 0)
                json_decref(holder_client_answer(fd, /* error= */ NULL));
}

/* With DOTNET_EnableWriteXorExecute=0, the runtime has no file with the code: it is in the memory
 * of the process only. */
static void stack_keep_code(StackJob *job)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/mem", (int)job->pid);
        FD_AUTO int fd = -1;

        if (job->attendance && jit_memory_has(attendance_memory(job->attendance), job->pid))
                return;
        if (!job->memory && !job->attendance)
                return;
        if (!job->memory) {
                job->memory = jit_memory_new();
                jit_memory_keep(job->memory, job->pid);
        }
        if (!jit_memory_has(job->memory, job->pid))
                fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
                jit_memory_keep_code(job->memory, job->moment, fd);
}

/* Reads a debugger's output from stdin. */
static bool stack_take_debugged(StackJob *job, GError **error)
{
        g_autofree char *text = g_malloc(DEBUGGER_THREADS_MAX_TEXT + 1);
        const Options *options = job->options;
        size_t n;

        n = fread(text, 1, DEBUGGER_THREADS_MAX_TEXT + 1, stdin);
        job->moment = moment_of_debugger(job->pid, text, n, error);
        if (!job->moment)
                return false;
        if (options->socket || options->trace || stack_is_known(job)) {
                job->memory = jit_memory_new();
                jit_memory_keep(job->memory, job->pid);
                stack_keep_code(job);
        } else
                message_print("clrsym",
                              "no daemon knows process %d: only native and precompiled code is "
                              "named; detach the debugger, run clrsym attach %d, then attach the "
                              "debugger again",
                              (int)job->pid, (int)job->pid);
        return true;
}

/* Starts a daemon that ends with the command. False with ERROR set: the daemon is required. */
static bool stack_attend(StackJob *job, GError **error)
{
        const Options *options = job->options;
        const AttendanceSettings settings = {
                .note = stack_note,
                .needs_runtime = options->is_walked_by_runtime,
                .has_async = options_has(options, OPTION_WAIT),
        };
        g_autoptr(GError) failure = NULL;

        job->attendance = attendance_new(job->pid, &settings, &failure);
        if (!job->attendance && settings.needs_runtime) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        if (!job->attendance)
                message_print("clrsym",
                              "%s: only native and precompiled code is named (clrsym doctor %d "
                              "says what prevents the rest)",
                              failure->message, (int)job->pid);
        else if (settings.has_async)
                g_usleep(options->wait_ms * (gulong)G_TIME_SPAN_MILLISECOND);
        return true;
}

/* Ends the attendance: all events of the process have come. */
static void stack_end_attendance(StackJob *job)
{
        attendance_detach(job->attendance);
        if (!options_has(job->options, OPTION_WAIT))
                return;
        job->chains = async_chains_new(attendance_async_logs(job->attendance));
        if (!job->chains || async_chains_are_empty(job->chains))
                message_print("clrsym",
                              "process %d has continued no async method in %.1f s, or its runtime "
                              "does not report that: .NET 11 and newer do",
                              (int)job->pid, job->options->wait_ms / 1e3);
}

/* Makes the daemon learn the code before the stop, so that the stop is short. */
static bool stack_take_process(StackJob *job, GError **error)
{
        const Options *options = job->options;

        if (job->is_debugged)
                return stack_take_debugged(job, error);
        if (!process_stop_check(job->pid, error))
                return false;
        if (options->socket ||
            (!options->trace && !options_has(options, OPTION_WAIT) && stack_is_known(job))) {
                job->memory = jit_memory_new();
                jit_memory_keep(job->memory, job->pid);
        } else if (!options->trace && !stack_attend(job, error)) {
                return false;
        }
        if (options->is_walked_by_runtime)
                job->round = stack_round_take(job->pid, error);
        else
                job->moment = moment_of_process(job->pid, PROCESS_STOP_COPY_LIMIT, error);
        if (job->moment)
                stack_keep_code(job);
        if ((job->round || job->moment) && job->attendance)
                stack_end_attendance(job);
        return job->round || job->moment;
}

/*
 * A core has no time of its own: takes the last change of the file, or the end of the process, if
 * that was earlier. Uses the clock of HANDLE, or, if that is NULL, of this machine.
 */
static bool stack_find_time(StackJob *job, clrsym *handle, uint64_t time_of_day, GError **error)
{
        g_autofree char *text = g_strdup_printf("@%" G_GUINT64_FORMAT ".%09u",
                                                (guint64)(time_of_day / NS_PER_SECOND),
                                                (unsigned)(time_of_day % NS_PER_SECOND));
        KnownProcess known = {.key = {.pid = job->moment->pid}};
        const uint64_t ahead = (uint64_t)proc_own_clock_ahead();
        const uint64_t now = (uint64_t)g_get_monotonic_time() * 1000,
                       ago = (uint64_t)g_get_real_time() * 1000 - time_of_day;
        uint64_t time = now > ago ? now - ago : 1;

        if (handle && (clrsym_processes(handle, known_process_compare, &known) < 0 ||
                       clrsym_time(handle, text, &time) < 0)) {
                g_set_error(error, PERF_ERROR, 0, "%s", clrsym_message(handle));
                return false;
        }
        job->is_over = job->options->trace || known.end != UINT64_MAX;
        if (known.is_known && known.end < time) {
                time_of_day -= time - known.end + 1;
                time = known.end - 1;
        }
        job->moment->time = job->options->trace ? time : time - ahead;
        job->moment->time_of_day = time_of_day;
        return true;
}

static bool stack_take_core(StackJob *job, GError **error)
{
        const char *path = *job->options->arguments;
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        g_autoptr(GError) failure = NULL;
        clrsym *handle;
        struct stat st;
        bool ok;

        if (fd < 0 || fstat(fd, &st) < 0) {
                g_set_error(error, PERF_ERROR, 0, "cannot open the core file %s: %s", path,
                            g_strerror(errno));
                return false;
        }
        job->moment = moment_of_core(fd, error);
        if (!job->moment) {
                g_prefix_error(error, "cannot read the core file %s: ", path);
                return false;
        }
        job->pid = job->moment->pid;
        job->memory = jit_memory_new();
        jit_memory_keep_code(job->memory, job->moment, fd);
        handle = stack_open(job, &failure);
        if (failure) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        if (!handle)
                message_print("clrsym",
                              "no daemon answers: only native code of %s is named; start clrsymd, "
                              "or give a trace of that run (--trace)",
                              path);
        ok = stack_find_time(
                job, handle,
                (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)st.st_mtim.tv_nsec, error);
        clrsym_close(handle);
        return ok;
}

static void stack_print_notes(const StackJob *job)
{
        const Moment *moment = job->moment;
        const bool is_verbose = options_has(job->options, OPTION_VERBOSE);
        guint i;

        if (job->round)
                stack_round_print_notes(job->round, is_verbose);
        if (!moment)
                return;
        for (i = 0; i < moment->notes->len; i++)
                message_print("clrsym", "%s", (const char *)moment->notes->pdata[i]);
        if (is_verbose && !job->is_core && !job->is_debugged)
                message_print("clrsym", "process %d was stopped for %.3f ms, with %u threads",
                              (int)job->pid, (double)moment->stop / 1e6, moment->threads->len);
}

/* Call this when the input of NAMING is complete. */
static bool stack_run_naming(const StackJob *job, PerfNaming *naming, Options *options,
                             GError **error)
{
        *options = *job->options;
        /* The pid may be of another namespace than the question's. */
        options->given &= ~OPTION_BIT(OPTION_PID);
        naming->options = options;
        naming->memory = job->memory;
        if (job->attendance) {
                options->socket = attendance_socket(job->attendance);
                if (!job->memory)
                        naming->memory = attendance_memory(job->attendance);
                /* The names are from this process's own daemon. */
                options->given |= OPTION_BIT(OPTION_FORCE);
        }
        /* With another daemon, events up to the stop may still be on their way. */
        naming->is_over =
                job->attendance || job->options->trace || job->is_over || job->is_debugged;
        if (!naming->is_over)
                stack_want_horizon();
        return perf_naming_run(naming, error);
}

static bool stack_name_round(const StackJob *job, StackList *list, GError **error)
{
        const RoundThreads threads = stack_round_threads(job->round);
        const SampleSink sink = stack_list_sink(list);
        PerfNaming naming = {
                .input = stack_round_path(job->round),
                .sink = &sink,
                .async = &list->async,
                .round = &threads,
                .has_notes_only = true,
                .ends_by_signal = true,
        };
        Options options;

        list->async.chains = job->chains;
        return stack_run_naming(job, &naming, &options, error);
}

/* REGISTERS NULL: not wanted. */
static bool stack_name(const StackJob *job, StackList *list, StackRegisters *registers,
                       GError **error)
{
        const StackMemory memory = moment_stack_memory(job->moment);
        const SampleSink sink = stack_list_sink(list);
        const FrameTaker taker = registers ? stack_registers_taker(registers) : (FrameTaker){0};
        FD_AUTO int fd = memfd_create("stacks", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        PerfNaming naming = {
                .input = path,
                .sink = &sink,
                .async = &list->async,
                .frames = registers ? &taker : NULL,
                .stack_memory = &memory,
                .is_own = !job->is_core,
                .has_notes_only = true,
                .ends_by_signal = true,
        };
        Options options;

        list->async.chains = job->chains;
        return moment_write(job->moment, fd, error) &&
               stack_run_naming(job, &naming, &options, error);
}

static bool stack_run(StackJob *job, GError **error)
{
        StackRegisters registers;
        const StackView view = {
                .registers = options_has(job->options, OPTION_REGISTERS) ? &registers : NULL,
                .is_json = options_has(job->options, OPTION_JSON),
                .is_each = options_has(job->options, OPTION_ALL),
                .has_tier = options_has(job->options, OPTION_TIERS),
                .has_source = options_has(job->options, OPTION_EXPLAIN),
        };
        StackList list;
        bool ok;

        if (!(job->is_core ? stack_take_core : stack_take_process)(job, error))
                return false;
        stack_print_notes(job);
        /* A debugger needs the physical calls. */
        stack_list_init(&list, job->options->is_physical || view.registers);
        stack_registers_init(&registers);
        ok = job->round ? stack_name_round(job, &list, error)
                        : stack_name(job, &list, view.registers ? &registers : NULL, error);
        if (ok)
                stack_list_print(&list, &view);
        stack_list_deinit(&list);
        stack_registers_deinit(&registers);
        return ok;
}

/* False: OPTIONS name a core file. They name something. */
static bool stack_names_process(const Options *options, ProcessName *ret_name)
{
        guint64 pid;

        if (options_has(options, OPTION_PID)) {
                *ret_name = options->process;
                return true;
        }
        if (!g_ascii_string_to_unsigned(*options->arguments, 10, 1, G_MAXINT32, &pid, NULL))
                return false;
        *ret_name = (ProcessName){.pid = (int32_t)pid};
        return true;
}

static bool text_is_number(const char *text)
{
        text += *text == '-' || *text == '+';
        return *text && !text[strspn(text, "0123456789")];
}

const char *verb_stack_check(const Options *options)
{
        const bool has_pid = options_has(options, OPTION_PID);
        const bool has_wait = options_has(options, OPTION_WAIT);
        ProcessName name;
        bool is_core;

        if (!has_pid && !*options->arguments)
                return "it needs PID, --pid PID or CORE";
        if (has_pid && *options->arguments)
                return "give PID, --pid PID or CORE, one of them";
        is_core = !stack_names_process(options, &name);
        if (is_core && text_is_number(*options->arguments) &&
            !g_file_test(*options->arguments, G_FILE_TEST_EXISTS))
                return "not a PID: that is a number from 1 to 2147483647";
        if (options_has(options, OPTION_REGISTERS) && !options_has(options, OPTION_JSON))
                return "--registers needs --json: the text does not have them";
        if (options->is_walked_by_runtime && is_core)
                return "a core file has no runtime that could walk stacks: leave out --walk";
        if (options->is_walked_by_runtime && options_has(options, OPTION_DEBUGGER))
                return "a runtime that a debugger has stopped walks no stacks: leave out --walk";
        if (options->is_walked_by_runtime && options_has(options, OPTION_REGISTERS))
                return "--registers needs --walk=ptrace: the runtime does not report them";
        if (has_wait && (is_core || options_has(options, OPTION_DEBUGGER)))
                return "--wait needs a process that runs";
        if (has_wait && (options->socket || options->trace))
                return "--wait has a session of its own: leave out --socket and --trace";
        return NULL;
}

bool verb_stack(const Options *options, GError **error)
{
        StackJob stack = {.options = options};
        ProcessName name = {0};
        bool ok;

        stack.is_core = !stack_names_process(options, &name);
        stack.pid = name.pid;
        if (name.has_pid_ns && !proc_host_pid(name.pid_ns, name.pid, &stack.pid)) {
                g_set_error(error, PERF_ERROR, 0,
                            "there is no process %" G_GUINT64_FORMAT
                            ":%d, or it cannot be seen from here",
                            (guint64)name.pid_ns, (int)name.pid);
                return false;
        }
        stack.is_debugged = !stack.is_core && options_has(options, OPTION_DEBUGGER);
        ok = stack_run(&stack, error);
        async_chains_free(stack.chains);
        stack_round_free(stack.round);
        attendance_free(stack.attendance);
        jit_memory_free(stack.memory);
        moment_free(stack.moment);
        return ok;
}
