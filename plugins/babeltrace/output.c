/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "util/json-text.h"
#include "util/output-path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
        LARGE = 128 * 1024,
};

bool output_open(Output *output, const char *path, char **ret_error)
{
        int fd = STDOUT_FILENO;

        if (path) {
                fd = output_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
                if (fd < 0) {
                        g_autofree char *why = output_path_error(path, -fd);

                        *ret_error = g_strdup_printf(
                                "Cannot open %s: %s. Give a path that can be written to as "
                                "parameter `output`",
                                path, why);
                        return false;
                }
        }
        *output = (Output){
                .fd = fd,
                .is_owned = path != NULL,
                .path = g_strdup(path),
                .buffer = g_string_sized_new(2 * LARGE),
        };
        return true;
}

static bool output_fail(const Output *output, int error, char **ret_error)
{
        const char *what = output->path ? output->path : "the standard output";

        if (error == EPIPE)
                *ret_error = g_strdup_printf(
                        "Cannot write to %s: its reader has closed it. The output is incomplete; "
                        "to keep all of it, give a file as parameter `output`",
                        what);
        else if (error == ENOSPC || error == EDQUOT)
                *ret_error = g_strdup_printf(
                        "Cannot write to %s: %s. The output is incomplete; make room, or give a "
                        "file elsewhere as parameter `output`, and run again",
                        what, g_strerror(error));
        else
                *ret_error = g_strdup_printf("Cannot write to %s: %s. The output is incomplete",
                                             what, g_strerror(error));
        return false;
}

/*
 * Writes without SIGPIPE: EPIPE is enough, and the signal's disposition belongs to the program.
 * This thread blocks the signal, and removes a pending one that the write raised.
 */
static ssize_t output_write_without_signal(int fd, const char *bytes, size_t n)
{
        const struct timespec zero = {0};
        sigset_t pipe_set, pending, old;
        ssize_t written;
        int error;

        sigemptyset(&pipe_set);
        sigaddset(&pipe_set, SIGPIPE);
        sigpending(&pending);
        pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
        written = write(fd, bytes, n);
        error = errno;
        /* A short write into a pipe can have raised SIGPIPE, too. */
        if (written < (ssize_t)n && !sigismember(&pending, SIGPIPE))
                while (sigtimedwait(&pipe_set, NULL, &zero) < 0 && errno == EINTR)
                        ;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        errno = error;
        return written;
}

bool output_flush(Output *output, char **ret_error)
{
        size_t position = 0;

        if (isatty(output->fd)) {
                GString *shown = g_string_sized_new(output->buffer->len);

                json_append_for_terminal(shown, output->buffer->str, output->buffer->len);
                g_string_free(output->buffer, TRUE);
                output->buffer = shown;
        }
        while (position < output->buffer->len) {
                ssize_t n = output_write_without_signal(output->fd, output->buffer->str + position,
                                                        output->buffer->len - position);

                if (n < 0 && errno != EINTR) {
                        int error = errno;

                        g_string_truncate(output->buffer, 0);
                        return output_fail(output, error, ret_error);
                }
                if (n > 0)
                        position += (size_t)n;
        }
        g_string_truncate(output->buffer, 0);
        return true;
}

bool output_flush_large(Output *output, char **ret_error)
{
        return output->buffer->len < LARGE || output_flush(output, ret_error);
}

bool output_close(Output *output, char **ret_error)
{
        if (!output_flush(output, ret_error))
                return false;
        if (output->is_owned) {
                output->is_owned = false;
                /* Some file systems report a full disk only at close(). */
                if (close(output->fd) < 0)
                        return output_fail(output, errno, ret_error);
        }
        return true;
}

void output_deinit(Output *output)
{
        if (output->is_owned)
                close(output->fd);
        if (output->buffer)
                g_string_free(output->buffer, TRUE);
        g_free(output->path);
        *output = (Output){.fd = -1};
}
