/* SPDX-License-Identifier: MIT */
#include "cli/perf-run.h"

#include "util/fd.h"
#include "util/message.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Signals that end the program, after it has removed its files. */
static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t caught_signal;

static void perf_run_on_signal(int number)
{
        caught_signal = number;
}

void perf_catch_signals(void)
{
        /* Without SA_RESTART, so that blocked system calls return. */
        const struct sigaction action = {.sa_handler = perf_run_on_signal};
        struct sigaction old;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                if (sigaction(SIGNALS[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
                        sigaction(SIGNALS[i], &action, NULL);
        /* A closed reader becomes an error of write(), so that files can be removed. */
        signal(SIGPIPE, SIG_IGN);
}

int perf_caught_signal(void)
{
        return caught_signal;
}

void perf_end_by_signal(int number)
{
        signal(number, SIG_DFL);
        raise(number);
}

/* A TextOutFn. */
static int perf_run_write(void *data, const void *bytes, size_t n)
{
        PerfRun *run = data;
        const char *at = bytes;

        while (n && !run->write_error) {
                ssize_t written = write(run->output_fd, at, n);

                if (written < 0 && (errno != EINTR || caught_signal))
                        run->write_error = errno;
                if (written <= 0)
                        continue;
                at += written;
                n -= (size_t)written;
        }
        return run->write_error;
}

/* A memory file with TEXT; -1 with errno set on failure. */
static int perf_run_memory_file(const char *text)
{
        FD_AUTO int fd = memfd_create("mappings", MFD_CLOEXEC);
        size_t n = strlen(text);

        while (fd >= 0 && n) {
                ssize_t written = write(fd, text, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -1;
                text += written;
                n -= (size_t)written;
        }
        if (fd >= 0)
                lseek(fd, 0, SEEK_SET);
        return fd_steal(&fd);
}

bool perf_run_begin(PerfRun *run)
{
        const NamerTarget target = {
                .write = perf_run_write,
                .data = run,
                .sink = run->sink,
                .handle = run->handle,
                .callers = run->callers,
                .hiding = run->hiding,
        };

        run->mappings_fd = perf_run_memory_file(run->mappings);
        if (run->mappings_fd >= 0)
                g_ptr_array_add(run->settings, g_strdup_printf("mappings=%d", run->mappings_fd));
        return namer_init(&run->namer, (char **)run->settings->pdata, (int)run->settings->len,
                          &target);
}

int32_t perf_run_pid(const PerfRun *run, const clrsym_process *process)
{
        const Settings *settings = &run->namer.settings;
        size_t i;

        for (i = 0; i < settings->n_maps; i++)
                if (settings->maps[i].pid == process->pid &&
                    (!settings->maps[i].has_pid_ns || settings->maps[i].pid_ns == process->pid_ns))
                        return settings->maps[i].perf_pid;
        return settings->is_mapped_only ? -1 : process->pid;
}

static int perf_run_take_process(const clrsym_process *process, void *data)
{
        const PerfRun *run = data;
        const int32_t pid = perf_run_pid(run, process);

        if (pid >= 0)
                profile_set_command(run->profile, pid, process->command);
        return 0;
}

bool perf_run_end(PerfRun *run, bool is_whole, PerfResult *ret_result, GError **error)
{
        const bool ok = is_whole && namer_end(&run->namer);
        char line[300];

        /* Without command lines, titles are names of threads. */
        if (ok && run->profile && run->namer.resolver.handle)
                clrsym_processes(run->namer.resolver.handle, perf_run_take_process, run);
        if (ok) {
                images_report(&run->namer.images);
                if (namer_report_costly(&run->namer, line, sizeof(line)))
                        message_print("clrsym", "%s", line);
        }
        *ret_result = (PerfResult){
                .counts = run->namer.resolver.counts,
                .is_reader_gone = run->write_error == EPIPE,
        };
        if (!ok && !ret_result->is_reader_gone && error && !*error)
                g_set_error_literal(error, PERF_ERROR, 0,
                                    caught_signal ? "interrupted" : run->namer.message);
        namer_deinit(&run->namer);
        fd_clear(&run->mappings_fd);
        return ok;
}
