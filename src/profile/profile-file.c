/* SPDX-License-Identifier: MIT */
#include "profile/profile-file.h"

#include <errno.h>
#include <unistd.h>

#define N_KEPT ((size_t)1 << 16)

static bool profile_file_set_error(GError **error, const char *path, int number)
{
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(number),
                    "cannot write %s: %s", path ? path : "to standard output", g_strerror(number));
        return false;
}

bool profile_file_open(ProfileFile *ret_file, const char *path, bool gzip, GError **error)
{
        ProfileFile file = {.file = ATOMIC_FILE_INIT};
        int r = atomic_file_open(&file.file, path);

        if (r < 0)
                return profile_file_set_error(error, path, -r);
        file.text = g_string_sized_new(N_KEPT + N_KEPT / 4);
        if (gzip)
                file.compressor =
                        G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
        *ret_file = file;
        return true;
}

static void write_bytes(ProfileFile *file, const char *bytes, size_t n)
{
        while (n && !file->error) {
                ssize_t n_written = write(file->file.fd, bytes, n);

                if (n_written < 0) {
                        if (errno != EINTR)
                                file->error = errno;
                        continue;
                }
                bytes += n_written;
                n -= (size_t)n_written;
        }
}

static void write_compressed(ProfileFile *file, const char *bytes, size_t n, bool is_end)
{
        GConverterResult result = G_CONVERTER_CONVERTED;
        char buffer[1 << 14];

        while (!file->error && (is_end ? result != G_CONVERTER_FINISHED : n > 0)) {
                g_autoptr(GError) error = NULL;
                gsize n_read, n_written;

                result = g_converter_convert(file->compressor, bytes, n, buffer, sizeof(buffer),
                                             is_end ? G_CONVERTER_INPUT_AT_END
                                                    : G_CONVERTER_NO_FLAGS,
                                             &n_read, &n_written, &error);
                if (result == G_CONVERTER_ERROR) {
                        file->error = EIO;
                        return;
                }
                bytes += n_read;
                n -= n_read;
                write_bytes(file, buffer, n_written);
        }
}

static void profile_file_write_text(ProfileFile *file, bool is_end)
{
        if (file->compressor)
                write_compressed(file, file->text->str, file->text->len, is_end);
        else
                write_bytes(file, file->text->str, file->text->len);
        g_string_truncate(file->text, 0);
}

void profile_file_flush(ProfileFile *file)
{
        if (file->text->len >= N_KEPT)
                profile_file_write_text(file, false);
}

bool profile_file_close(ProfileFile *file, GError **error)
{
        int r;

        profile_file_write_text(file, true);
        r = file->error ? -file->error : atomic_file_commit(&file->file, /* sync= */ false);
        if (r < 0)
                profile_file_set_error(error, file->file.target, -r);
        g_clear_object(&file->compressor);
        g_string_free(file->text, TRUE);
        atomic_file_clear(&file->file);
        return r == 0;
}
