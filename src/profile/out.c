/* SPDX-License-Identifier: MIT */
#include "profile/out.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_KEPT ((size_t)1 << 16)

static void set_error(GError **reterr_error, const char *path, int error)
{
        g_set_error(reterr_error, G_FILE_ERROR, (gint)g_file_error_from_errno(error),
                    "cannot write %s: %s", path, g_strerror(error));
}

/* Opens what is written to: a new file beside the target, or what is there and no regular file. */
static int open_file(Out *out, const char *path)
{
        g_autofree char *directory = NULL, *name = NULL;
        struct stat st;
        int fd;

        if (g_str_equal(path, "-"))
                return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        if (stat(path, &st) >= 0) {
                if (!S_ISREG(st.st_mode))
                        return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                /* Where a link leads to, so that it stays one. */
                out->target = realpath(path, NULL);
        }
        if (!out->target)
                out->target = strdup(path);
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
        int fd;

        *out = (Out){};
        fd = open_file(out, path);
        if (fd < 0) {
                set_error(reterr_error, path, errno);
                free(out->target);
                return false;
        }
        out->text = g_string_sized_new(N_KEPT + N_KEPT / 4);
        out->stream = g_unix_output_stream_new(fd, TRUE);
        if (!out->target)
                out->target = strdup(path);
        if (gzip) {
                g_autoptr(GOutputStream) file = g_steal_pointer(&out->stream);
                g_autoptr(GZlibCompressor) compressor =
                        g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);

                out->stream = g_converter_output_stream_new(file, G_CONVERTER(compressor));
        }
        return true;
}

static void write_text(Out *out)
{
        if (!out->error)
                g_output_stream_write_all(out->stream, out->text->str, out->text->len, NULL, NULL,
                                          &out->error);
        g_string_truncate(out->text, 0);
}

void out_flush(Out *out)
{
        if (out->text->len >= N_KEPT)
                write_text(out);
}

bool out_close(Out *out, GError **reterr_error)
{
        bool is_written;

        write_text(out);
        g_output_stream_close(out->stream, NULL, out->error ? NULL : &out->error);
        if (out->error) {
                g_propagate_prefixed_error(reterr_error, g_steal_pointer(&out->error),
                                           "cannot write %s: ", out->target);
                is_written = false;
        } else if (out->temporary && g_rename(out->temporary, out->target) < 0) {
                set_error(reterr_error, out->target, errno);
                is_written = false;
        } else {
                is_written = true;
        }
        if (!is_written && out->temporary)
                g_unlink(out->temporary);
        g_object_unref(out->stream);
        g_string_free(out->text, TRUE);
        g_free(out->temporary);
        free(out->target);
        return is_written;
}
