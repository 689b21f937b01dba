/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#define FLUSH_SIZE (64u << 10)

/* As stdout itself, there is one of a program. */
static GString *kept;
static int fd = STDOUT_FILENO;
static int first_error;
static size_t full = FLUSH_SIZE; /* so much is not kept without trying to write it */

static GString *buffer(void)
{
        if (!kept)
                kept = g_string_sized_new(2 * FLUSH_SIZE);
        return kept;
}

bool output_open(const char *path)
{
        int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

        if (opened >= 0)
                fd = opened;
        return opened >= 0;
}

/* A pipe that is ready takes so much without keeping its writer. */
static bool is_ready(void)
{
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

        return poll(&poll_fd, 1, 0) > 0;
}

static void write_out(bool can_wait)
{
        size_t at = 0;

        while (!first_error && at < kept->len && (can_wait || is_ready())) {
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

static void flush_if_full(void)
{
        if (kept->len < full)
                return;
        write_out(false);
        /* Not at each line anew, where much is kept. */
        full = kept->len + FLUSH_SIZE;
}

void output_bytes(const void *bytes, size_t n)
{
        g_string_append_len(buffer(), bytes, (gssize)n);
        flush_if_full();
}

void output_line(const char *text, size_t n)
{
        g_string_append_len(buffer(), text, (gssize)n);
        g_string_append_c(kept, '\n');
        flush_if_full();
}

void output_print(const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        g_string_append_vprintf(buffer(), format, arguments);
        va_end(arguments);
        flush_if_full();
}

bool output_flush(void)
{
        buffer();
        write_out(true);
        full = FLUSH_SIZE;
        return !first_error;
}

int output_error(void)
{
        return first_error;
}
