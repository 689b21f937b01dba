/* SPDX-License-Identifier: MIT */
#include "profile/out.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_KEPT ((size_t)1 << 16)

static void set_error(GError **reterr_error, const char *path, int error)
{
        g_set_error(reterr_error, G_FILE_ERROR, (gint)g_file_error_from_errno(error),
                    "cannot write %s: %s", path ? path : "to standard output", g_strerror(error));
}

/* Opens what is written to: a new file beside the target, or what is there and no regular file. */
static int open_file(Out *out, const char *path)
{
        g_autofree char *directory = NULL, *name = NULL;
        struct stat st;
        int fd;

        if (g_str_equal(path, "-"))
                return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        out->target = g_strdup(path);
        if (stat(path, &st) >= 0) {
                char *real;

                if (!S_ISREG(st.st_mode))
                        return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                /* Where a link leads to, so that it stays one. */
                real = realpath(path, NULL);
                if (!real)
                        return -1;
                g_free(out->target);
                out->target = g_strdup(real);
                free(real);
        }
        directory = g_path_get_dirname(out->target);
        name = g_path_get_basename(out->target);
        out->temporary = g_strdup_printf("%s/.%.200s.XXXXXX", directory, name);
        fd = g_mkstemp_full(out->temporary, O_WRONLY | O_CLOEXEC, 0666);
        if (fd < 0)
                g_clear_pointer(&out->temporary, g_free);
        return fd;
}

bool out_open(Out *out, const char *path, bool gzip, GError **reterr_error)
{
        *out = (Out){};
        out->fd = open_file(out, path);
        if (out->fd < 0) {
                set_error(reterr_error, out->target, errno);
                g_free(out->target);
                return false;
        }
        out->text = g_string_sized_new(N_KEPT + N_KEPT / 4);
        if (gzip)
                out->compressor = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);
        return true;
}

static void write_bytes(Out *out, const char *bytes, size_t n)
{
        while (n && !out->error) {
                ssize_t n_written = write(out->fd, bytes, n);

                if (n_written < 0) {
                        if (errno != EINTR)
                                out->error = errno;
                        continue;
                }
                bytes += n_written;
                n -= (size_t)n_written;
        }
}

static void write_compressed(Out *out, const char *bytes, size_t n, bool is_end)
{
        GConverterResult result = G_CONVERTER_CONVERTED;
        char buffer[1 << 14];

        while (!out->error && (is_end ? result != G_CONVERTER_FINISHED : n > 0)) {
                g_autoptr(GError) error = NULL;
                gsize n_read, n_written;

                result = g_converter_convert(
                        G_CONVERTER(out->compressor), bytes, n, buffer, sizeof(buffer),
                        is_end ? G_CONVERTER_INPUT_AT_END : G_CONVERTER_NO_FLAGS, &n_read,
                        &n_written, &error);
                if (result == G_CONVERTER_ERROR) {
                        out->error = EIO;
                        return;
                }
                bytes += n_read;
                n -= n_read;
                write_bytes(out, buffer, n_written);
        }
}

static void write_text(Out *out, bool is_end)
{
        if (out->compressor)
                write_compressed(out, out->text->str, out->text->len, is_end);
        else
                write_bytes(out, out->text->str, out->text->len);
        g_string_truncate(out->text, 0);
}

void out_flush(Out *out)
{
        if (out->text->len >= N_KEPT)
                write_text(out, false);
}

bool out_close(Out *out, GError **reterr_error)
{
        write_text(out, true);
        /* Some file systems tell only now that there was no room. */
        if (close(out->fd) < 0 && !out->error)
                out->error = errno;
        if (!out->error && out->temporary && g_rename(out->temporary, out->target) < 0)
                out->error = errno;
        if (out->error) {
                set_error(reterr_error, out->target, out->error);
                if (out->temporary)
                        g_unlink(out->temporary);
        }
        g_clear_object(&out->compressor);
        g_string_free(out->text, TRUE);
        g_free(out->temporary);
        g_free(out->target);
        return !out->error;
}
