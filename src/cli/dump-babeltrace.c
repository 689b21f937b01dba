/* SPDX-License-Identifier: MIT */
#include "cli/dump-babeltrace.h"

/*
 * Those of the sink's lines that are wanted are printed. Its messages about skipped events go to
 * stderr.
 */

#include "cli/answer-source.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "util/babeltrace.h"

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
typedef struct DumpChild {
        const DumpFilter *filter; /* borrowed */
        GPid pid;
        int lines_fd;    /* its stdout */
        int messages_fd; /* its stderr, a file in memory: nothing has to read it meanwhile */
        uint64_t n_lines;
} DumpChild;

static bool child_start(DumpChild *child, const char *directory, GError **error)
{
        g_autoptr(GPtrArray) argv = babeltrace_command(directory);
        g_autoptr(GError) spawn_error = NULL;
        int pipe_fds[2];
        bool ok;

        g_ptr_array_add(argv, g_strdup("--component=sink.clrsym.dump"));
        g_ptr_array_add(argv, NULL);
        child->messages_fd = memfd_create("babeltrace2 stderr", MFD_CLOEXEC);
        if (child->messages_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot start babeltrace2: %s",
                            g_strerror(errno));
                return false;
        }
        ok = g_spawn_async_with_fds(
                NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                babeltrace_set_up_child, GINT_TO_POINTER(getpid()), &child->pid,
                /* stdin_fd= */ -1, pipe_fds[1], child->messages_fd, &spawn_error);
        close(pipe_fds[1]);
        child->lines_fd = pipe_fds[0];
        if (!ok && g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, BABELTRACE_MISSING);
        else if (!ok)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot start babeltrace2: %s",
                            spawn_error->message);
        return ok;
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

static bool is_wanted(const DumpChild *child, JsonSpan line)
{
        const DumpFilter *filter = child->filter;
        const char *event, *provider;
        json_auto_t *record = NULL;

        if (dump_filter_is_open(filter))
                return true;
        record = load_head(line);
        event = field_text(record, "event");
        provider = field_text(record, "provider");
        if (!event || !dump_filter_has_event(filter, provider ? provider : "", event))
                return false;
        /* Lost events have no pid: they may have been of any process. */
        return !json_object_get(record, "pid") ||
               dump_filter_has_process(filter, field_number(record, "pid_ns"),
                                       (int64_t)field_number(record, "pid"));
}

/* Prints those whole lines in TEXT that are wanted, and removes them from it. */
static void print_lines(DumpChild *child, GString *text)
{
        const char *at = text->str, *end;

        while ((end = memchr(at, '\n', text->len - (size_t)(at - text->str)))) {
                JsonSpan line = {at, (size_t)(end - at)};

                child->n_lines++;
                if (is_wanted(child, line))
                        output_line(line.at, line.n);
                at = end + 1;
        }
        g_string_erase(text, 0, at - text->str);
}

/* Reads to the end, or until the output fails. */
static void copy_lines(DumpChild *child)
{
        g_autofree char *bytes = g_malloc(READ_SIZE);
        g_autoptr(GString) text = g_string_new(NULL);
        ssize_t n;

        while ((n = read(child->lines_fd, bytes, READ_SIZE)) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        break;
                g_string_append_len(text, bytes, n);
                print_lines(child, text);
                /* Unlike a daemon, babeltrace2 may wait for the reader of the output. */
                if (!output_flush())
                        break;
        }
}

static char *read_messages(const DumpChild *child)
{
        off_t end = lseek(child->messages_fd, 0, SEEK_END);
        off_t begin = end > (off_t)MAX_MESSAGES ? end - (off_t)MAX_MESSAGES : 0;
        size_t n = end > 0 ? (size_t)(end - begin) : 0;
        char *messages = g_malloc(n + 1);
        ssize_t n_read = pread(child->messages_fd, messages, n, begin);

        messages[n_read > 0 ? n_read : 0] = '\0';
        return messages;
}

static bool child_end(DumpChild *child, const char *directory, GError **error)
{
        g_autofree char *messages = NULL, *reason = NULL;
        int status, r;

        /* If its lines were not read to the end, the closed pipe ends it. */
        close(child->lines_fd);
        if (output_error())
                kill(child->pid, SIGTERM);
        do
                r = waitpid(child->pid, &status, 0);
        while (r < 0 && errno == EINTR);
        if (output_error())
                return false;
        messages = read_messages(child);
        reason = babeltrace_reason(messages, status);
        if (!reason && !child->n_lines)
                reason = g_strdup(DUMP_NOTHING);
        if (reason)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", directory, reason);
        else
                fputs(messages, stderr);
        return !reason;
}

bool dump_babeltrace(const DumpFilter *filter, const char *directory, GError **error)
{
        DumpChild child = {.filter = filter, .lines_fd = -1, .messages_fd = -1};
        bool ok = child_start(&child, directory, error);

        if (ok) {
                copy_lines(&child);
                ok = child_end(&child, directory, error);
        }
        if (child.messages_fd >= 0)
                close(child.messages_fd);
        return ok;
}
