/* SPDX-License-Identifier: MIT */
#include "cli/perf-program.h"

#include "util/build-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The descriptors of the filter's report and of its mappings. */
#define REPORT_FD   3
#define MAPPINGS_FD 4

/* Signals that end the program, which has to remove files first. */
static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t child; /* 0: none */

static void perf_program_on_signal(int number)
{
        caught_signal = number;
        if (child > 0)
                kill((pid_t)child, number);
}

void perf_catch_signals(void)
{
        /* Without SA_RESTART: system calls that wait must return. */
        const struct sigaction action = {.sa_handler = perf_program_on_signal};
        struct sigaction old;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                if (sigaction(SIGNALS[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
                        sigaction(SIGNALS[i], &action, NULL);
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

/* $CLRSYM_DLFILTER, the filter of the build tree, or the installed one. */
static char *find_filter(GError **error)
{
        const char *named = g_getenv("CLRSYM_DLFILTER");
        g_autofree char *built = build_tree_file("plugins/perf/dlfilter-clrsym.so");
        const char *path = named && *named ? named : built ? built : CLRSYM_DLFILTER_PATH;

        if (access(path, R_OK) < 0) {
                g_set_error(error, PERF_ERROR, 0,
                            "no %s, perf's filter: build clrsym where perf/perf_dlfilter.h is "
                            "(Debian: linux-perf), or set CLRSYM_DLFILTER",
                            path);
                return NULL;
        }
        /* perf looks for a path without a slash elsewhere. */
        return g_canonicalize_filename(path, NULL);
}

bool perf_programs_find(PerfPrograms *ret_programs, GError **error)
{
        *ret_programs = (PerfPrograms){.perf = g_find_program_in_path("perf")};
        if (!ret_programs->perf) {
                g_set_error(error, PERF_ERROR, 0, "no perf on PATH: apt install linux-perf");
                return false;
        }
        ret_programs->filter = find_filter(error);
        return ret_programs->filter != NULL;
}

void perf_programs_deinit(PerfPrograms *programs)
{
        g_clear_pointer(&programs->perf, g_free);
        g_clear_pointer(&programs->filter, g_free);
}

void perf_result_deinit(PerfResult *result)
{
        g_clear_pointer(&result->report, g_free);
        g_clear_pointer(&result->messages, g_free);
}

static GPtrArray *command_line(const PerfPrograms *programs, const PerfRun *run)
{
        const char *const first[] = {"script", "-i", run->input, "--dlfilter", programs->filter};
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
        size_t i;

        g_ptr_array_add(words, g_strdup(programs->perf));
        g_ptr_array_add(words, g_strdup("--no-pager"));
        if (run->cache) {
                g_ptr_array_add(words, g_strdup("--buildid-dir"));
                g_ptr_array_add(words, g_strdup(run->cache));
        }
        for (i = 0; i < G_N_ELEMENTS(first); i++)
                g_ptr_array_add(words, g_strdup(first[i]));
        if (run->is_forced)
                g_ptr_array_add(words, g_strdup("--force"));
        for (i = 0; run->arguments[i]; i++)
                g_ptr_array_add(words, g_strdup(run->arguments[i]));
        for (i = 0; i < run->settings->len; i++) {
                g_ptr_array_add(words, g_strdup("--dlarg"));
                g_ptr_array_add(words, g_strdup(g_ptr_array_index(run->settings, i)));
        }
        g_ptr_array_add(words, g_strdup("--dlarg"));
        g_ptr_array_add(words, g_strdup_printf("report=%d", REPORT_FD));
        if (run->mappings) {
                g_ptr_array_add(words, g_strdup("--dlarg"));
                g_ptr_array_add(words, g_strdup_printf("mappings=%d", MAPPINGS_FD));
        }
        g_ptr_array_add(words, NULL);
        return words;
}

/* Above the child's descriptors, so that no dup2() overwrites one that is needed later. */
static int fd_move_up(int fd)
{
        int moved = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, MAPPINGS_FD + 1) : -1;

        if (fd >= 0)
                close(fd);
        return moved;
}

/* The child's descriptors besides stdin. */
typedef struct Ends {
        int output, messages, report;
        int mappings; /* -1: none */
} Ends;

static int perf_spawn(const char *path, char **words, const Ends *ends, pid_t *ret_pid)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t signals;
        size_t i;
        int r;

        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends->output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends->messages, STDERR_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends->report, REPORT_FD);
        if (ends->mappings >= 0)
                posix_spawn_file_actions_adddup2(&actions, ends->mappings, MAPPINGS_FD);
        sigemptyset(&signals);
        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                sigaddset(&signals, SIGNALS[i]);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        r = posix_spawn(ret_pid, path, &actions, &attributes, words, environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return r;
}

/* Reads perf's output until it ends or FN wants no more. */
static void read_output(int fd, const PerfRun *run)
{
        g_autofree char *bytes = g_malloc(65536);

        for (;;) {
                ssize_t n = read(fd, bytes, 65536);

                if (n < 0 && errno == EINTR && !caught_signal)
                        continue;
                if (n <= 0 || !run->fn(bytes, (size_t)n, run->data))
                        return;
        }
}

static int wait_child(void)
{
        int status;

        while (waitpid((pid_t)child, &status, 0) < 0)
                if (errno != EINTR)
                        return -1;
        child = 0;
        return status;
}

int perf_memory_file(const char *text)
{
        int fd = fd_move_up(memfd_create("mappings", MFD_CLOEXEC));
        size_t n = strlen(text);

        while (fd >= 0 && n) {
                ssize_t written = write(fd, text, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0) {
                        int error = errno;

                        close(fd);
                        errno = error;
                        return -1;
                }
                text += written;
                n -= (size_t)written;
        }
        if (fd >= 0)
                lseek(fd, 0, SEEK_SET);
        return fd;
}

/* The content of a memory file. */
static char *read_back(int fd)
{
        GString *text = g_string_new(NULL);
        char bytes[4096];
        ssize_t n;

        lseek(fd, 0, SEEK_SET);
        while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
                if (n > 0)
                        g_string_append_len(text, bytes, n);
        return g_string_free(text, FALSE);
}

/* The filter's message if there is one, else perf's last one. */
static char *message_of(const char *messages)
{
        g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);
        const char *last = NULL;
        size_t i;

        for (i = 0; lines[i]; i++) {
                g_strstrip(lines[i]);
                if (g_str_has_prefix(lines[i], "clrsym: "))
                        return g_strdup(lines[i] + strlen("clrsym: "));
                if (*lines[i])
                        last = lines[i];
        }
        return g_strdup(last);
}

static bool check_status(const PerfRun *run, int status, PerfResult *result, GError **error)
{
        g_autofree char *words = message_of(result->messages);

        if (caught_signal) {
                g_set_error(error, PERF_ERROR, 0, "interrupted");
                return false;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return true;
        result->is_reader_gone = WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
        if (WIFSIGNALED(status))
                g_set_error(error, PERF_ERROR, 0, "%s: perf script died of signal %d (%s)%s%s",
                            run->input, WTERMSIG(status), g_strsignal(WTERMSIG(status)),
                            words ? ": " : "", words ? words : "");
        else
                g_set_error(error, PERF_ERROR, 0, "%s: perf script failed: %s", run->input,
                            words ? words : "no error message from perf");
        return false;
}

bool perf_run(const PerfPrograms *programs, const PerfRun *run, PerfResult *ret_result,
              GError **error)
{
        g_autoptr(GPtrArray) words = command_line(programs, run);
        Ends ends = {
                .output = run->output_fd,
                .messages = fd_move_up(memfd_create("perf stderr", MFD_CLOEXEC)),
                .report = fd_move_up(memfd_create("report", MFD_CLOEXEC)),
                .mappings = run->mappings ? perf_memory_file(run->mappings) : -1,
        };
        int pipe_fds[2] = {-1, -1}, r = 0, status;
        pid_t pid;

        *ret_result = (PerfResult){0};
        if (run->output_fd < 0 && pipe2(pipe_fds, O_CLOEXEC) == 0)
                ends.output = pipe_fds[1] = fd_move_up(pipe_fds[1]);
        if (ends.messages < 0 || ends.report < 0 || ends.output < 0 ||
            (run->mappings && ends.mappings < 0))
                r = errno;
        if (!r)
                r = perf_spawn(programs->perf, (char **)words->pdata, &ends, &pid);
        if (pipe_fds[1] >= 0)
                close(pipe_fds[1]);
        if (ends.mappings >= 0)
                close(ends.mappings);
        if (!r) {
                child = pid;
                if (caught_signal)
                        kill(pid, caught_signal);
                if (pipe_fds[0] >= 0)
                        read_output(pipe_fds[0], run);
        }
        if (pipe_fds[0] >= 0)
                close(pipe_fds[0]);
        status = r ? 0 : wait_child();
        ret_result->report = r ? NULL : read_back(ends.report);
        ret_result->messages = r ? NULL : read_back(ends.messages);
        if (ends.messages >= 0)
                close(ends.messages);
        if (ends.report >= 0)
                close(ends.report);
        if (r) {
                g_set_error(error, PERF_ERROR, 0, "cannot start %s: %s", programs->perf,
                            g_strerror(r));
                return false;
        }
        return check_status(run, status, ret_result, error);
}
