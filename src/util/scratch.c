/* SPDX-License-Identifier: MIT */
#include "util/scratch.h"

#include "util/fd.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <sys/file.h>

#define PREFIX "clrsym-feed-"
/* Another feeder can remove our new directory before we lock it: try again. */
#define N_ATTEMPTS 10

struct Scratch {
        char *path; /* owned */
        int lock;   /* the directory, open */
};

static int scratch_open_directory(const char *path)
{
        return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool scratch_is_at(int directory, const char *path)
{
        struct stat st, at;

        return fstat(directory, &st) == 0 && lstat(path, &at) == 0 && st.st_ino == at.st_ino &&
               st.st_dev == at.st_dev;
}

static void scratch_remove_if_left(const char *path)
{
        FD_AUTO int directory = scratch_open_directory(path);
        struct stat st;

        if (directory < 0)
                return;
        if (fstat(directory, &st) == 0 && st.st_uid == geteuid() &&
            flock(directory, LOCK_EX | LOCK_NB) == 0 && scratch_is_at(directory, path))
                scratch_remove_tree(path);
}

static void scratch_remove_left(void)
{
        g_autoptr(GDir) directory = g_dir_open(g_get_tmp_dir(), 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);

                if (g_str_has_prefix(name, PREFIX))
                        scratch_remove_if_left(path);
        }
}

Scratch *scratch_new(GError **error)
{
        int i;

        scratch_remove_left();
        for (i = 0; i < N_ATTEMPTS; i++) {
                g_autofree char *path = g_dir_make_tmp(PREFIX "XXXXXX", error);
                FD_AUTO int directory = -1;

                if (!path)
                        return NULL;
                directory = scratch_open_directory(path);
                /* On a file system without locks, no other feeder can lock it either. */
                if (directory >= 0 &&
                    (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                    scratch_is_at(directory, path)) {
                        Scratch *scratch = g_new0(Scratch, 1);

                        scratch->path = g_steal_pointer(&path);
                        scratch->lock = fd_steal(&directory);
                        return scratch;
                }
        }
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                    "directories in %s disappear as soon as they are made: set TMPDIR",
                    g_get_tmp_dir());
        return NULL;
}

void scratch_free(Scratch *scratch)
{
        if (!scratch)
                return;
        scratch_remove_tree(scratch->path);
        close(scratch->lock);
        g_free(scratch->path);
        g_free(scratch);
}

const char *scratch_path(const Scratch *scratch)
{
        return scratch->path;
}

void scratch_remove_tree(const char *path)
{
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (g_unlink(below) < 0)
                        scratch_remove_tree(below);
        }
        g_rmdir(path);
}
