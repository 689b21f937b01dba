/* SPDX-License-Identifier: MIT */
#include "cli/stdin-reader.h"

#include "cli/answer-source.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define READ_SIZE (64u * 1024)

bool stdin_reader_run(const StdinReader *reader, void *data, GError **error)
{
        g_autofree char *bytes = g_malloc(READ_SIZE);
        ssize_t n;

        do {
                struct pollfd poll_fd = {.fd = STDIN_FILENO, .events = POLLIN};

                if (poll(&poll_fd, 1, 0) == 0 && !reader->flush(data, error))
                        return false;
                do
                        n = read(STDIN_FILENO, bytes, READ_SIZE);
                while (n < 0 && errno == EINTR);
                if (n < 0) {
                        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot read stdin: %s",
                                    g_strerror(errno));
                        return false;
                }
                if (n > 0 && !reader->take(data, bytes, (size_t)n, error))
                        return false;
        } while (n > 0);
        return true;
}
