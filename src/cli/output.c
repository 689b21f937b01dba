/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include "util/atomic-file.h"
#include "util/json-text.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_SIZE (64u << 10)

/* One per program, like stdout. */
static GString *kept;
static int fd = STDOUT_FILENO;
static AtomicFile file = ATOMIC_FILE_INIT;
static int first_error;
static size_t full = FLUSH_SIZE; /* write when the text reaches this length */

static GString *output_buffer(void)
{
        if (!kept)
                kept = g_string_sized_new(2 * FLUSH_SIZE);
        return kept;
}

bool output_open(const char *path)
{
        int r = atomic_file_open(&file, path);

        if (r < 0)
                errno = -r;
        else
                fd = file.fd;
        return r == 0;
}

bool output_commit(void)
{
        int r = output_flush() ? atomic_file_commit(&file, /* sync= */ false) : -first_error;

        atomic_file_clear(&file);
        fd = STDOUT_FILENO;
        first_error = 0;
        if (r < 0)
                errno = -r;
        return r == 0;
}

/* True if a write does not wait for a reader. */
static bool output_is_file(void)
{
        struct stat st;

        return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fd)));
}

/* A pipe that is ready takes PIPE_BUF bytes without blocking. */
static bool output_is_ready(void)
{
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

        return poll(&poll_fd, 1, 0) > 0;
}

static void output_write(bool can_wait)
{
        size_t at = 0;

        while (!first_error && at < kept->len && (can_wait || output_is_ready())) {
                size_t n_left = kept->len - at;
                ssize_t n = write(fd, kept->str + at, can_wait ? n_left : MIN(n_left, PIPE_BUF));

                if (n >= 0)
                        at += (size_t)n;
                else if (errno != EINTR)
                        first_error = errno;
        }
        if (first_error)
                at = kept->len;
        g_string_erase(kept, 0, (gssize)at);
}

static void output_flush_if_full(void)
{
        if (kept->len < full)
                return;
        output_write(output_is_file());
        /* Much text is kept: do not try again after each line. */
        full = kept->len + FLUSH_SIZE;
}

/* Appends N bytes of whole characters. Callers make text printable; for a terminal, JSON is escaped
 * here. */
static void output_append(const char *text, size_t n)
{
        static int is_terminal = -1; /* whether stdout is a terminal; -1: not known yet */

        if (is_terminal < 0)
                is_terminal = isatty(STDOUT_FILENO);
        if (is_terminal && fd == STDOUT_FILENO)
                json_append_for_terminal(output_buffer(), text, n);
        else
                g_string_append_len(output_buffer(), text, (gssize)n);
}

void output_bytes(const void *bytes, size_t n)
{
        output_append(bytes, n);
        output_flush_if_full();
}

void output_line(const char *text, size_t n)
{
        output_append(text, n);
        g_string_append_c(kept, '\n');
        output_flush_if_full();
}

void output_json(const json_t *value)
{
        /* No number here has more digits. */
        char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));

        output_line(text, strlen(text));
        free(text);
}

void output_print(const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        g_string_append_vprintf(output_buffer(), format, arguments);
        va_end(arguments);
        output_flush_if_full();
}

bool output_flush(void)
{
        output_buffer();
        output_write(true);
        full = FLUSH_SIZE;
        return !first_error;
}

int output_error(void)
{
        return first_error;
}
