/* SPDX-License-Identifier: MIT */

/*
 * clrsym dump, clrsym save
 *
 * dump runs babeltrace2 with sink.clrsym.dump, and prints those lines that are wanted. The sink's
 * messages about skipped events go to stderr, as they do without clrsym.
 */

#include "cli/answer-source.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "util/babeltrace.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)
/* The end of babeltrace2's messages is kept: its error chain comes last. */
#define MAX_MESSAGES (256u << 10)

/* A run of babeltrace2. */
typedef struct Dump {
        const Options *options;
        GPatternSpec *pattern; /* owned, or NULL */
        GPid pid;
        int lines_fd;    /* its stdout */
        int messages_fd; /* its stderr, a file in memory: nothing has to read it meanwhile */
        uint64_t n_lines;
} Dump;

/* Checks that get a better message here than from babeltrace2. */
static bool check_directory(const char *directory, GError **error)
{
        FD_AUTO int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", directory,
                            errno == ENOTDIR ? "not a directory: a trace is one, with a file "
                                               "\"metadata\" in it, here or below"
                                             : g_strerror(errno));
                return false;
        }
        return true;
}

static bool dump_start(Dump *dump, const char *directory, GError **error)
{
        g_autoptr(GPtrArray) argv = babeltrace_command(directory);
        g_autoptr(GError) spawn_error = NULL;
        int pipe_fds[2];
        bool ok;

        g_ptr_array_add(argv, g_strdup("--component=sink.clrsym.dump"));
        g_ptr_array_add(argv, NULL);
        dump->messages_fd = memfd_create("babeltrace2 stderr", MFD_CLOEXEC);
        if (dump->messages_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot start babeltrace2: %s",
                            g_strerror(errno));
                return false;
        }
        ok = g_spawn_async_with_fds(
                NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                babeltrace_set_up_child, GINT_TO_POINTER(getpid()), &dump->pid,
                /* stdin_fd= */ -1, pipe_fds[1], dump->messages_fd, &spawn_error);
        close(pipe_fds[1]);
        dump->lines_fd = pipe_fds[0];
        if (!ok && g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, BABELTRACE_MISSING);
        else if (!ok)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot start babeltrace2: %s",
                            spawn_error->message);
        return ok;
}

/* GLOB matches "NAME" or "PROVIDER:NAME". */
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

/* Lost events have no pid: they may have been of this process. */
static bool is_process(const Dump *dump, const json_t *record)
{
        const ProcessName *process = &dump->options->process;

        return !options_has(dump->options, OPTION_PID) || !json_object_get(record, "pid") ||
               (field_number(record, "pid") == (uint64_t)process->pid &&
                (!process->has_pid_ns || field_number(record, "pid_ns") == process->pid_ns));
}

/* The line's members without "fields", which is the largest. The caller owns it. */
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
        json_auto_t *record = NULL;

        if (!dump->pattern && !options_has(dump->options, OPTION_PID))
                return true;
        record = load_head(line);
        return is_event(dump, record) && is_process(dump, record);
}

/* Prints those whole lines in TEXT that are wanted, and removes them from it. */
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

/* Reads to the end, or until the output fails. */
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
                /* Unlike a daemon, babeltrace2 may wait for the reader of the output. */
                if (!output_flush())
                        break;
        }
}

static char *read_messages(const Dump *dump)
{
        off_t end = lseek(dump->messages_fd, 0, SEEK_END);
        off_t begin = end > (off_t)MAX_MESSAGES ? end - (off_t)MAX_MESSAGES : 0;
        size_t n = end > 0 ? (size_t)(end - begin) : 0;
        char *messages = g_malloc(n + 1);
        ssize_t n_read = pread(dump->messages_fd, messages, n, begin);

        messages[n_read > 0 ? n_read : 0] = '\0';
        return messages;
}

static bool dump_end(Dump *dump, const char *directory, GError **error)
{
        g_autofree char *messages = NULL, *reason = NULL;
        int status, r;

        /* If its lines were not read to the end, the closed pipe ends it. */
        close(dump->lines_fd);
        if (output_error())
                kill(dump->pid, SIGTERM);
        do
                r = waitpid(dump->pid, &status, 0);
        while (r < 0 && errno == EINTR);
        if (output_error())
                return false;
        messages = read_messages(dump);
        reason = babeltrace_reason(messages, status);
        if (!reason && !dump->n_lines)
                reason = g_strdup("not one event of the .NET runtime in this trace: `clrsym "
                                  "doctor` finds out why");
        if (reason)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", directory, reason);
        else
                fputs(messages, stderr);
        return !reason;
}

bool verb_dump(const Options *options, GError **error)
{
        const char *directory = *options->arguments;
        g_autoptr(GPatternSpec) pattern = NULL;
        Dump dump = {.options = options, .lines_fd = -1, .messages_fd = -1};
        bool ok;

        if (options->event) {
                g_autofree char *text = g_utf8_make_valid(options->event, -1);

                pattern = dump.pattern = g_pattern_spec_new(text);
        }
        ok = check_directory(directory, error) && dump_start(&dump, directory, error);
        if (ok) {
                copy_lines(&dump);
                ok = dump_end(&dump, directory, error);
        }
        if (dump.messages_fd >= 0)
                close(dump.messages_fd);
        return ok;
}

/* The snapshot is complete once the trace is read. */
bool verb_save(const Options *options, GError **error)
{
        AnswerSourceFlags flags =
                ANSWER_SOURCE_SAVE |
                (options_has(options, OPTION_JIT_EVENTS) ? ANSWER_SOURCE_JIT_EVENTS : 0);
        g_autoptr(AnswerSource) source = answer_source_open(options, flags, error);

        return source != NULL;
}
