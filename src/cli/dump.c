/* SPDX-License-Identifier: MIT */

/*
 * clrsym dump
 *
 * babeltrace2 runs with sink.clrsym.dump; its lines are handed on, those that are wanted. What the
 * sink says about skipped events goes to stderr, as it would without us.
 */

#include "babeltrace/babeltrace.h"
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)
/* Of what babeltrace2 says, the end is kept: its error chain comes last. */
#define MAX_SAID (256u << 10)

/* babeltrace2, dumping. */
typedef struct Dump {
        const Options *options;
        GPatternSpec *pattern; /* owned, or NULL */
        GPid pid;
        int lines_fd; /* its stdout */
        int said_fd;  /* its stderr, a file in memory: it need not be read while it runs */
        uint64_t n_lines;
} Dump;

/* What babeltrace2 would tell less well. */
static bool check_directory(const char *directory, GError **error)
{
        int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0) {
                g_set_error(error, LINK_ERROR, 0, "%s: %s", directory,
                            errno == ENOTDIR ? "not a directory: a trace is one, with a file "
                                               "\"metadata\" in it, here or below"
                                             : g_strerror(errno));
                return false;
        }
        close(fd);
        return true;
}

static bool start(Dump *dump, const char *directory, GError **error)
{
        g_autoptr(GPtrArray) argv = babeltrace_command(directory);
        g_autoptr(GError) spawn_error = NULL;
        int pipe_fds[2];
        bool ok;

        g_ptr_array_add(argv, g_strdup("--component=sink.clrsym.dump"));
        g_ptr_array_add(argv, NULL);
        dump->said_fd = memfd_create("babeltrace2 stderr", MFD_CLOEXEC);
        if (dump->said_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0) {
                g_set_error(error, LINK_ERROR, 0, "cannot start babeltrace2: %s",
                            g_strerror(errno));
                return false;
        }
        ok = g_spawn_async_with_fds(NULL, (char **)argv->pdata, NULL,
                                    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                    babeltrace_tie_to_parent, GINT_TO_POINTER(getpid()), &dump->pid,
                                    /* stdin_fd= */ -1, pipe_fds[1], dump->said_fd, &spawn_error);
        close(pipe_fds[1]);
        dump->lines_fd = pipe_fds[0];
        if (!ok && g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                g_set_error(error, LINK_ERROR, 0, BABELTRACE_MISSING);
        else if (!ok)
                g_set_error(error, LINK_ERROR, 0, "cannot start babeltrace2: %s",
                            spawn_error->message);
        return ok;
}

/* "MethodLoad*" by the event's own name, or with its provider before it. */
static bool is_event(const Dump *dump, const json_t *record)
{
        const char *event = field_text(record, "event"), *provider = field_text(record, "provider");
        g_autofree char *whole = NULL;

        if (!event)
                return false;
        if (!dump->pattern || g_pattern_spec_match_string(dump->pattern, event))
                return true;
        whole = g_strconcat(provider ? provider : "", ":", event, NULL);
        return g_pattern_spec_match_string(dump->pattern, whole);
}

/* What was lost, and has no pid, may have been of this process. */
static bool is_process(const Dump *dump, const json_t *record)
{
        const ProcessName *process = &dump->options->process;

        return !options_has(dump->options, OPTION_PID) || !json_object_get(record, "pid") ||
               (field_number(record, "pid") == (uint64_t)process->pid &&
                (!process->has_pid_ns || field_number(record, "pid_ns") == process->pid_ns));
}

/* What a line is about stands before its fields, which are the most of it. The caller's. */
static json_t *load_head(JsonSpan line)
{
        JsonSpan fields;
        g_autofree char *head = NULL;
        char *comma;

        if (json_span_member(line, "fields", &fields))
                head = g_strndup(line.at, (size_t)(fields.at - line.at));
        comma = head ? strrchr(head, ',') : NULL;
        if (!comma)
                return json_span_load(line);
        strcpy(comma, "}");
        return json_loads(head, 0, NULL);
}

static bool is_wanted(const Dump *dump, JsonSpan line)
{
        json_t *record;
        bool ok;

        if (!dump->pattern && !options_has(dump->options, OPTION_PID))
                return true;
        record = load_head(line);
        ok = is_event(dump, record) && is_process(dump, record);
        json_decref(record);
        return ok;
}

/* Prints the whole lines in TEXT that are wanted, and takes them out of it. */
static void print_lines(Dump *dump, GString *text)
{
        const char *at = text->str, *end;

        while ((end = memchr(at, '\n', text->len - (size_t)(at - text->str)))) {
                JsonSpan line = {at, (size_t)(end - at)};

                dump->n_lines++;
                if (is_wanted(dump, line))
                        output_line(line.at, line.n);
                at = end + 1;
        }
        g_string_erase(text, 0, at - text->str);
}

/* All that it has to say; less if it cannot be written. */
static void copy_lines(Dump *dump)
{
        g_autofree char *bytes = g_malloc(READ_SIZE);
        g_autoptr(GString) text = g_string_new(NULL);
        ssize_t n;

        while ((n = read(dump->lines_fd, bytes, READ_SIZE)) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        break;
                g_string_append_len(text, bytes, n);
                print_lines(dump, text);
                /* There is nobody to be kept waiting but babeltrace2. */
                if (!output_flush())
                        break;
        }
}

static char *read_said(const Dump *dump)
{
        off_t end = lseek(dump->said_fd, 0, SEEK_END);
        off_t begin = end > (off_t)MAX_SAID ? end - (off_t)MAX_SAID : 0;
        size_t n = end > 0 ? (size_t)(end - begin) : 0;
        char *said = g_malloc(n + 1);
        ssize_t n_read = pread(dump->said_fd, said, n, begin);

        said[n_read > 0 ? n_read : 0] = '\0';
        return said;
}

static bool end(Dump *dump, const char *directory, GError **error)
{
        g_autofree char *said = NULL, *reason = NULL;
        int status, r;

        /* If the lines were not read to their end, that ends it. */
        close(dump->lines_fd);
        if (output_error())
                kill(dump->pid, SIGTERM);
        do
                r = waitpid(dump->pid, &status, 0);
        while (r < 0 && errno == EINTR);
        if (output_error())
                return false;
        said = read_said(dump);
        reason = babeltrace_reason(said, status);
        if (!reason && !dump->n_lines)
                reason = g_strdup("not one event of the .NET runtime in this trace: `clrsym "
                                  "doctor` finds out why");
        if (reason)
                g_set_error(error, LINK_ERROR, 0, "%s: %s", directory, reason);
        else
                fputs(said, stderr);
        return !reason;
}

bool verb_dump(const Options *options, GError **error)
{
        const char *directory = *options->arguments;
        g_autoptr(GPatternSpec) pattern = NULL;
        Dump dump = {.options = options, .lines_fd = -1, .said_fd = -1};
        bool ok;

        if (options->event) {
                g_autofree char *text = g_utf8_make_valid(options->event, -1);

                pattern = dump.pattern = g_pattern_spec_new(text);
        }
        ok = check_directory(directory, error) && start(&dump, directory, error);
        if (ok) {
                copy_lines(&dump);
                ok = end(&dump, directory, error);
        }
        if (dump.said_fd >= 0)
                close(dump.said_fd);
        return ok;
}
