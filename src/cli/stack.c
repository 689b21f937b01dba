/* SPDX-License-Identifier: MIT */

/*
 * clrsym stack: the stacks of a running process
 *
 * What the process has at the moment of its stop is written as a recording of perf with a sample
 * for each thread, and named as recordings are.
 */

#include "cli/perf-naming.h"
#include "cli/perf-run.h"
#include "cli/stack-list.h"
#include "cli/verbs.h"
#include "moment/process-stop.h"
#include "record/attendance.h"
#include "util/fd.h"
#include "util/message.h"
#include "util/proc.h"

#include <sys/mman.h>

typedef struct StackJob {
        const Options *options;
        pid_t pid;
        Attendance *attendance; /* owned; NULL: a daemon or a trace that is there has the names */
        JitMemory *memory;      /* owned: the same with such a daemon */
        Moment *moment;         /* owned */
} StackJob;

static void stack_note(const char *message, void *data)
{
        message_print("clrsym", "%s", message);
}

/* The process that a daemon is asked about. */
typedef struct KnownProcess {
        ProcessKey key; /* its own namespace, and its pid there */
        bool is_known;
} KnownProcess;

static int known_process_compare(const clrsym_process *process, void *data)
{
        KnownProcess *known = data;

        known->is_known = process->is_running && process->pid == known->key.pid &&
                          (process->pid_ns == known->key.pid_ns || !process->pid_ns);
        return known->is_known;
}

/* Does the daemon that everybody finds have events of process PID? */
static bool daemon_knows(pid_t pid)
{
        clrsym_options how = {0};
        KnownProcess known = {0};
        clrsym *handle = NULL;
        char *message = NULL;
        ProcInfo info;

        if (proc_read(pid, &info) && clrsym_open(&handle, &how, &message) >= 0) {
                known.key = info.levels[info.n_levels - 1];
                clrsym_processes(handle, known_process_compare, &known);
        }
        free(message);
        clrsym_close(handle);
        return known.is_known;
}

/* Whoever has the names knows the code before the stop, so that the stop is short. */
static void stack_prepare(StackJob *stack)
{
        const Options *options = stack->options;
        g_autoptr(GError) error = NULL;

        if (options->trace)
                return;
        if (options->socket || daemon_knows(stack->pid)) {
                stack->memory = jit_memory_new();
                jit_memory_keep(stack->memory, stack->pid);
                return;
        }
        stack->attendance = attendance_new(stack->pid, stack_note, NULL, &error);
        if (!stack->attendance)
                message_print("clrsym",
                              "%s: only native and precompiled code is named (clrsym doctor %d "
                              "says what prevents the rest)",
                              error->message, (int)stack->pid);
}

static void stack_print_notes(const StackJob *stack)
{
        const Moment *moment = stack->moment;
        guint i;

        for (i = 0; i < moment->notes->len; i++)
                message_print("clrsym", "%s", (const char *)moment->notes->pdata[i]);
        if (options_has(stack->options, OPTION_VERBOSE))
                message_print("clrsym", "process %d was stopped for %.3f ms, with %u threads",
                              (int)stack->pid, (double)moment->stop / 1e6, moment->threads->len);
}

static bool stack_name(const StackJob *stack, StackList *list, GError **error)
{
        const SampleSink sink = stack_list_sink(list);
        FD_AUTO int fd = memfd_create("stacks", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        Options naming = *stack->options;
        PerfNaming job = {
                .options = &naming,
                .input = path,
                .sink = &sink,
                .memory = stack->memory,
                .is_own = true,
                .is_over = true,
                .has_notes_only = true,
                .ends_by_signal = true,
        };

        if (stack->attendance) {
                naming.socket = attendance_socket(stack->attendance);
                job.memory = attendance_memory(stack->attendance);
                /* The names are those of the daemon of this very process. */
                naming.given |= OPTION_BIT(OPTION_FORCE);
        }
        /* Events of the time of the stop may be on their way to another daemon. */
        job.is_over = stack->attendance || stack->options->trace;
        return moment_write(stack->moment, fd, error) && perf_naming_run(&job, error);
}

static bool stack_run(StackJob *stack, GError **error)
{
        const StackView view = {
                .is_json = options_has(stack->options, OPTION_JSON),
                .is_each = options_has(stack->options, OPTION_ALL),
                .has_tier = options_has(stack->options, OPTION_TIERS),
                .has_source = options_has(stack->options, OPTION_EXPLAIN),
        };
        StackList list;
        bool ok;

        stack->moment = moment_of_process(stack->pid, error);
        if (!stack->moment)
                return false;
        stack_print_notes(stack);
        if (stack->attendance)
                attendance_detach(stack->attendance);
        stack_list_init(&list);
        ok = stack_name(stack, &list, error);
        if (ok)
                stack_list_print(&list, &view);
        stack_list_deinit(&list);
        return ok;
}

bool verb_stack(const Options *options, GError **error)
{
        StackJob stack = {.options = options};
        guint64 pid;
        bool ok;

        if (!g_ascii_string_to_unsigned(*options->arguments, 10, 1, G_MAXINT32, &pid, NULL)) {
                g_set_error(error, PERF_ERROR, 0, "%s is no PID", *options->arguments);
                return false;
        }
        stack.pid = (pid_t)pid;
        if (!process_stop_check(stack.pid, error))
                return false;
        stack_prepare(&stack);
        ok = stack_run(&stack, error);
        attendance_free(stack.attendance);
        jit_memory_free(stack.memory);
        moment_free(stack.moment);
        return ok;
}
