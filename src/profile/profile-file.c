/* SPDX-License-Identifier: MIT */
#include "profile/profile-file.h"

#define N_KEPT ((size_t)1 << 16)

static bool profile_file_set_error(GError **error, const char *path, int number)
{
        g_autofree char *why = output_path_error(path, number);

        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(number),
                    "cannot write %s: %s", path ? path : "to standard output", why);
        return false;
}

static void profile_file_write(ProfileFile *file, const char *bytes, size_t n)
{
        if (!file->error)
                file->error = -atomic_file_write(&file->file, bytes, n);
}

/* Takes packed bytes. */
static bool profile_file_take(void *data, const void *bytes, size_t n)
{
        ProfileFile *file = data;

        profile_file_write(file, bytes, n);
        return !file->error;
}

bool profile_file_open(ProfileFile *ret_file, const char *path, bool gzip, GError **error)
{
        ProfileFile file = {.file = ATOMIC_FILE_INIT};
        int r = atomic_file_open(&file.file, path);

        if (r < 0)
                return profile_file_set_error(error, path, -r);
        file.path = g_str_equal(path, "-") ? NULL : g_strdup(path);
        file.text = g_string_sized_new(N_KEPT + N_KEPT / 4);
        *ret_file = file;
        if (gzip)
                ret_file->gzip = gzip_new(-1, profile_file_take, ret_file);
        return true;
}

static void profile_file_write_text(ProfileFile *file, bool is_end)
{
        const GString *text = file->text;

        if (!file->gzip)
                profile_file_write(file, text->str, text->len);
        else if (!file->error && gzip_add(file->gzip, text->str, text->len) && is_end)
                gzip_finish(file->gzip);
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
                profile_file_set_error(error, file->path, -r);
        gzip_free(file->gzip);
        g_string_free(file->text, TRUE);
        g_free(file->path);
        atomic_file_clear(&file->file);
        return r == 0;
}
