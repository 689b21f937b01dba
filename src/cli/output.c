/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <unistd.h>

#define FLUSH_SIZE (64u << 10)

/* As stdout itself, there is one of a program. */
static GString *kept;
static int first_error;

static GString *buffer(void)
{
        if (!kept)
                kept = g_string_sized_new(2 * FLUSH_SIZE);
        return kept;
}

static void flush_if_full(void)
{
        if (kept->len >= FLUSH_SIZE)
                output_flush();
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
        size_t at = 0;

        while (!first_error && at < buffer()->len) {
                ssize_t n = write(STDOUT_FILENO, kept->str + at, kept->len - at);

                if (n >= 0)
                        at += (size_t)n;
                else if (errno != EINTR)
                        first_error = errno;
        }
        g_string_truncate(buffer(), 0);
        return !first_error;
}

int output_error(void)
{
        return first_error;
}
