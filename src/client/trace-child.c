/* SPDX-License-Identifier: MIT */
#include "client/trace-child.h"

#include "client/connection.h"
#include "util/libc-extras.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Paths of the daemon, from the directories of the build tree that have this code. */
static const struct {
        const char *from, *to;
} PLACES[] = {
        {"/src/client", "/src/daemon/clrsymd"},
        {"/src/cli", "/src/daemon/clrsymd"},
        {"/plugins", "/src/daemon/clrsymd"},
        {"/plugins/perf", "/src/daemon/clrsymd"},
};

/* Writes the directory of the file with this code to PATH. False: not known. */
static bool own_directory(char path[PATH_MAX])
{
        Dl_info own, program;
        char file[PATH_MAX], *slash;
        bool is_program;
        ssize_t n;

        if (!dladdr((const void *)own_directory, &own))
                return false;
        /* For the program itself dladdr() has the name with which it was started, not a path. */
        is_program = dladdr((const void *)getauxval(AT_PHDR), &program) &&
                     program.dli_fbase == own.dli_fbase;
        if (is_program) {
                n = readlink("/proc/self/exe", file, sizeof(file) - 1);
                if (n < 0)
                        return false;
                file[n] = '\0';
        }
        if (!realpath(is_program ? file : own.dli_fname, path))
                return false;
        slash = strrchr(path, '/');
        if (slash)
                *slash = '\0';
        return slash != NULL;
}

/*
 * The program clrsymd, which reads traces for the library: $CLRSYM_DAEMON; else that of the build
 * tree that has this code; else the installed one. The caller owns the result; NULL without memory.
 */
static char *daemon_path(void)
{
        const char *given = secure_getenv("CLRSYM_DAEMON");
        char directory[PATH_MAX], *path;
        size_t i, n;

        if (given && *given)
                return strdup(given);
        n = own_directory(directory) ? strlen(directory) : 0;
        for (i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
                size_t n_from = strlen(PLACES[i].from);

                if (n <= n_from || strcmp(directory + n - n_from, PLACES[i].from))
                        continue;
                if (asprintf(&path, "%.*s%s", (int)(n - n_from), directory, PLACES[i].to) < 0)
                        return NULL;
                if (access(path, X_OK) == 0)
                        return path;
                free(path);
        }
        return strdup(CLRSYM_DAEMON_PATH);
}

/* Descriptor of the child's end of the first connection; the others follow. */
#define CHILD_FD 3
/* Settings of the C library's malloc. */
#define TUNABLES "GLIBC_TUNABLES"
/* Bytes at the end of the child's stderr that are read. */
#define MAX_STDERR 4096
/* ms for the child to end by itself, and to clean up. */
#define END_MS 3000

enum {
        MAX_ARGUMENTS = 8,
};

static void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static void close_fds(int *fds, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++)
                close_fd(&fds[i]);
}

/* Moves FD above the descriptors of the child, so that dup2() never closes a needed descriptor. */
static int move_up(int *fd)
{
        int moved = fcntl(*fd, F_DUPFD_CLOEXEC, CHILD_FD + TRACE_CHILD_FDS);

        if (moved < 0)
                return -errno;
        close(*fd);
        *fd = moved;
        return 0;
}

static int make_pair(int *ret_ours, int *ret_theirs)
{
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        *ret_ours = pair[0];
        *ret_theirs = pair[1];
        return move_up(ret_theirs);
}

static int make_files(TraceChild *child, int *ret_ours, int *ret_theirs)
{
        size_t i;
        int r;

        /* A file, not a pipe: the child never blocks, even if nobody reads it. */
        child->stderr_fd = memfd_create("clrsymd stderr", MFD_CLOEXEC);
        if (child->stderr_fd < 0)
                return -errno;
        r = move_up(&child->stderr_fd);
        for (i = 0; r == 0 && i < TRACE_CHILD_FDS; i++)
                r = make_pair(&ret_ours[i], &ret_theirs[i]);
        return r;
}

static int add_actions(posix_spawn_file_actions_t *actions, const TraceChild *child,
                       const int *theirs)
{
        int i, r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);

        if (!r)
                r = posix_spawn_file_actions_adddup2(actions, 0, 1);
        if (!r)
                r = posix_spawn_file_actions_adddup2(actions, child->stderr_fd, 2);
        for (i = 0; !r && i < TRACE_CHILD_FDS; i++)
                r = posix_spawn_file_actions_adddup2(actions, theirs[i], CHILD_FD + i);
        if (!r)
                r = posix_spawn_file_actions_addclosefrom_np(actions, CHILD_FD + TRACE_CHILD_FDS);
        return -r;
}

/* The child starts with no signal blocked and with the default actions, whatever this program's
 * are. It has a process group of its own, because the library ends it, not Ctrl-C. */
static int set_attributes(posix_spawnattr_t *attributes)
{
        sigset_t none, defaults;
        int r;

        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGCHLD);
        sigaddset(&defaults, SIGPIPE);
        r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETPGROUP);
        if (!r)
                r = posix_spawnattr_setsigmask(attributes, &none);
        if (!r)
                r = posix_spawnattr_setsigdefault(attributes, &defaults);
        if (!r)
                r = posix_spawnattr_setpgroup(attributes, 0);
        return -r;
}

/* The environment for the child, to be freed, without its texts; NULL: no memory. The child fills
 * new memory all the time: huge pages halve its page faults. */
static char **make_environment(void)
{
        static const char HUGE_PAGES[] = TUNABLES "=glibc.malloc.hugetlb=1";
        char **environment;
        size_t n = 0;

        while (environ && environ[n])
                n++;
        environment = calloc(n + 2, sizeof(*environment));
        if (!environment)
                return NULL;
        if (n)
                memcpy(environment, environ, n * sizeof(*environment));
        if (!getenv(TUNABLES))
                environment[n] = (char *)HUGE_PAGES; /* nobody writes to it */
        return environment;
}

static int trace_child_spawn(TraceChild *child, const int *theirs, char *const *arguments,
                             char *const *environment)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        pid_t pid;
        int r;

        if (posix_spawn_file_actions_init(&actions))
                return -ENOMEM;
        if (posix_spawnattr_init(&attributes)) {
                posix_spawn_file_actions_destroy(&actions);
                return -ENOMEM;
        }
        r = add_actions(&actions, child, theirs);
        if (r == 0)
                r = set_attributes(&attributes);
        if (r == 0)
                r = -posix_spawn(&pid, arguments[0], &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        if (r < 0)
                return r;
        child->pid_fd = pidfd_open(pid, 0);
        if (child->pid_fd < 0) {
                r = -errno;
                /* After ESRCH the child has ended, and another process may have its pid. */
                if (r != -ESRCH) {
                        kill(pid, SIGKILL);
                        waitpid(pid, NULL, 0);
                }
        }
        return r;
}

/* The arguments of the command line, owned; NULL at the end. */
typedef struct Arguments {
        char *words[MAX_ARGUMENTS];
        size_t n;
} Arguments;

/* Takes over WORD; NULL is -ENOMEM. */
static int add_word(Arguments *arguments, char *word)
{
        if (!word)
                return -ENOMEM;
        arguments->words[arguments->n++] = word;
        return 0;
}

static int add_option(Arguments *arguments, const char *name, const char *value)
{
        char *word;

        return add_word(arguments, asprintf(&word, "--%s=%s", name, value) < 0 ? NULL : word);
}

static int make_arguments(Arguments *arguments, const clrsym_options *options)
{
        int i, r = add_word(arguments, daemon_path());

        if (r == 0)
                r = add_option(arguments, "trace", options->trace);
        if (r == 0 && options->save)
                r = add_option(arguments, "save", options->save);
        if (r == 0 && options->with_jit_events)
                r = add_word(arguments, strdup("--jit-events"));
        for (i = 0; r == 0 && i < TRACE_CHILD_FDS; i++) {
                char number[16];

                snprintf(number, sizeof(number), "%d", CHILD_FD + i);
                r = add_option(arguments, "fd", number);
        }
        return r;
}

int trace_child_start(TraceChild *child, const clrsym_options *options,
                      int ret_fds[TRACE_CHILD_FDS], Message *message)
{
        int theirs[TRACE_CHILD_FDS] = {-1, -1};
        char **environment = make_environment();
        Arguments arguments = {0};
        size_t i;
        int r;

        *child = TRACE_CHILD_NONE;
        for (i = 0; i < TRACE_CHILD_FDS; i++)
                ret_fds[i] = -1;
        r = environment ? make_arguments(&arguments, options) : -ENOMEM;
        if (r == 0)
                r = make_files(child, ret_fds, theirs);
        if (r == 0)
                r = trace_child_spawn(child, theirs, arguments.words, environment);
        free(environment);
        close_fds(theirs, TRACE_CHILD_FDS);
        if (r < 0) {
                close_fds(ret_fds, TRACE_CHILD_FDS);
                trace_child_end(child);
        }
        if (r == -ENOMEM)
                message_set_no_memory(message);
        else if (r == -ENOENT)
                message_set(message, r,
                            "no %s, which reads traces: install clrsymd, or set CLRSYM_DAEMON",
                            arguments.words[0]);
        else if (r < 0)
                message_set(message, r, "cannot start %s: %s", arguments.words[0],
                            strerrordesc_np(-r));
        for (i = 0; i < MAX_ARGUMENTS; i++)
                free(arguments.words[i]);
        return r;
}

/* The last line of the child's stderr, or NULL. TEXT has room for MAX_STDERR bytes and a NUL. */
static const char *last_words(const TraceChild *child, char *text)
{
        off_t end = lseek(child->stderr_fd, 0, SEEK_END);
        off_t begin = end > MAX_STDERR ? end - MAX_STDERR : 0;
        ssize_t n = end > 0 ? pread(child->stderr_fd, text, MAX_STDERR, begin) : 0;
        char *line;

        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
                n--;
        if (n <= 0)
                return NULL;
        text[n] = '\0';
        line = strrchr(text, '\n');
        return line ? line + 1 : text;
}

/* Waits until the child has ended, for at most MS. */
static bool wait_end(const TraceChild *child, int ms)
{
        struct pollfd poll_fd = {.fd = child->pid_fd, .events = POLLIN};
        int64_t deadline = clock_ms() + ms;
        int r;

        do
                r = poll(&poll_fd, 1, ms_until(deadline));
        while (r < 0 && errno == EINTR);
        return r > 0;
}

/* Reaps the child; false if somebody else has, or if the child does not end. */
static bool trace_child_reap(TraceChild *child, siginfo_t *ret_info)
{
        int r;

        if (child->pid_fd < 0)
                return false;
        if (!wait_end(child, END_MS))
                pidfd_send_signal(child->pid_fd, SIGKILL, NULL, 0);
        do
                r = waitid(P_PIDFD, (id_t)child->pid_fd, ret_info, WEXITED);
        while (r < 0 && errno == EINTR);
        close_fd(&child->pid_fd);
        return r == 0;
}

int trace_child_explain(TraceChild *child, const char *trace, Message *message)
{
        char text[MAX_STDERR + 1];
        const char *words = child->stderr_fd >= 0 ? last_words(child, text) : NULL;
        siginfo_t info;

        if (!trace_child_reap(child, &info))
                return message_set(message, -ECONNRESET, "%s: clrsymd has ended%s%s", trace,
                                   words ? ": " : "", words ? words : "");
        words = last_words(child, text);
        if (info.si_code != CLD_EXITED) {
                const char *name = sigdescr_np(info.si_status);

                return message_set(message, -ECONNRESET, "%s: clrsymd died of signal %d (%s)%s%s",
                                   trace, info.si_status, name ? name : "unknown",
                                   words ? ": " : "", words ? words : "");
        }
        return message_set(message, -ECONNRESET, "%s: clrsymd ended with status %d%s%s", trace,
                           info.si_status, words ? ": " : "", words ? words : "");
}

void trace_child_end(TraceChild *child)
{
        siginfo_t info;

        trace_child_reap(child, &info);
        close_fd(&child->stderr_fd);
}
