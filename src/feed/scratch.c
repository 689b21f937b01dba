/* SPDX-License-Identifier: MIT */
#include "feed/scratch.h"

#include "feed/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <unistd.h>

#define PREFIX "clrsym-feed-"
/* Another feeder may take what we have made, and not locked yet, for a left over one. */
#define N_ATTEMPTS 10

struct Scratch {
        char *path; /* owned */
        int lock;   /* the directory, open */
};

static int open_directory(const char *path)
{
        return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_at(int directory, const char *path)
{
        struct stat st, at;

        return fstat(directory, &st) == 0 && lstat(path, &at) == 0 && st.st_ino == at.st_ino &&
               st.st_dev == at.st_dev;
}

static void remove_if_left_over(const char *path)
{
        int directory = open_directory(path);
        struct stat st;

        if (directory < 0)
                return;
        if (fstat(directory, &st) == 0 && st.st_uid == geteuid() &&
            flock(directory, LOCK_EX | LOCK_NB) == 0 && is_at(directory, path))
                disk_remove(path);
        close(directory);
}

static void remove_left_over(void)
{
        g_autoptr(GDir) directory = g_dir_open(g_get_tmp_dir(), 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);

                if (g_str_has_prefix(name, PREFIX))
                        remove_if_left_over(path);
        }
}

Scratch *scratch_new(GError **error)
{
        int i;

        remove_left_over();
        for (i = 0; i < N_ATTEMPTS; i++) {
                g_autofree char *path = g_dir_make_tmp(PREFIX "XXXXXX", error);
                int directory;

                if (!path)
                        return NULL;
                directory = open_directory(path);
                /* A file system without locks: nobody else can have it, either. */
                if (directory >= 0 &&
                    (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                    is_at(directory, path)) {
                        Scratch *scratch = g_new0(Scratch, 1);

                        scratch->path = g_steal_pointer(&path);
                        scratch->lock = directory;
                        return scratch;
                }
                if (directory >= 0)
                        close(directory);
        }
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                    "what is made in %s is removed at once: set TMPDIR", g_get_tmp_dir());
        return NULL;
}

void scratch_free(Scratch *scratch)
{
        if (!scratch)
                return;
        disk_remove(scratch->path);
        close(scratch->lock);
        g_free(scratch->path);
        g_free(scratch);
}

const char *scratch_path(const Scratch *scratch)
{
        return scratch->path;
}
