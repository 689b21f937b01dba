/* SPDX-License-Identifier: MIT */
#include "nettrace/file.h"

#include "util/fd.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10)

#define MAGIC "Nettrace"

static bool file_fail(GError **error)
{
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, g_strerror(errno));
        return false;
}

bool nettrace_file_is(int fd)
{
        char begin[sizeof(MAGIC) - 1];

        return pread(fd, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
               !memcmp(begin, MAGIC, sizeof(begin));
}

bool nettrace_file_init(NettraceFile *file, int fd, GError **error)
{
        struct stat st;

        if (fstat(fd, &st) < 0) {
                file_fail(error);
                close(fd);
                return false;
        }
        *file = (NettraceFile){.fd = fd, .size = (uint64_t)st.st_size, .piece = g_malloc(PIECE)};
        return true;
}

void nettrace_file_deinit(NettraceFile *file)
{
        fd_clear(&file->fd);
        g_clear_pointer(&file->piece, g_free);
}

NettraceFileResult nettrace_file_push(NettraceFile *file, NettraceReader *reader, GError **error)
{
        ssize_t n;

        do
                n = read(file->fd, file->piece, PIECE);
        while (n < 0 && errno == EINTR);
        if (n < 0) {
                file_fail(error);
                return NETTRACE_FILE_ERROR;
        }
        if (n == 0) {
                nettrace_reader_finish(reader);
                return NETTRACE_FILE_END;
        }
        file->n_read += (uint64_t)n;
        return nettrace_reader_push(reader, file->piece, (size_t)n, error) ? NETTRACE_FILE_MORE
                                                                           : NETTRACE_FILE_ERROR;
}
