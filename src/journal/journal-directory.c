/* SPDX-License-Identifier: MIT */
#include "journal/journal-directory.h"

#include "util/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "journal."
#define LOCK   "lock"

/* A child of a killed daemon keeps its lock for a moment. */
#define LOCK_TRIES   100
#define LOCK_WAIT_US 10000

typedef char NameText[64];

static const char *const SUFFIXES[_JOURNAL_STATE_MAX] = {
        [JOURNAL_WHOLE] = "",
        [JOURNAL_PARTIAL] = ".partial",
        [JOURNAL_NEW] = ".new",
        [JOURNAL_ASIDE] = ".damaged",
};

static void journal_name_text(JournalName name, NameText text)
{
        snprintf(text, sizeof(NameText), PREFIX "%llu%s", (unsigned long long)name.number,
                 SUFFIXES[name.state]);
}

static bool journal_name_parse(const char *text, JournalName *ret_name)
{
        JournalName name = {0};
        NameText again;
        char *end;
        int i;

        if (!g_str_has_prefix(text, PREFIX) || !g_ascii_isdigit(text[strlen(PREFIX)]))
                return false;
        name.number = g_ascii_strtoull(text + strlen(PREFIX), &end, 10);
        for (i = 0; i < _JOURNAL_STATE_MAX; i++)
                if (!strcmp(end, SUFFIXES[i]))
                        name.state = (JournalState)i;
        journal_name_text(name, again);
        *ret_name = name;
        return !strcmp(text, again);
}

bool journal_directory_error(GError **error, const char *path, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot keep the state in %s: %s",
                    path, what);
        return false;
}

static bool journal_directory_lock(JournalDirectory *directory, GError **error)
{
        unsigned i;

        directory->lock = openat(directory->fd, LOCK,
                                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (directory->lock < 0)
                return journal_directory_error(error, directory->path, g_strerror(errno));
        for (i = 0; flock(directory->lock, LOCK_EX | LOCK_NB) < 0; i++) {
                if (errno != EWOULDBLOCK)
                        return journal_directory_error(error, directory->path, g_strerror(errno));
                if (i == LOCK_TRIES)
                        return journal_directory_error(
                                error, directory->path,
                                "another clrsymd does: stop it, or give this one "
                                "another directory with --state");
                g_usleep(LOCK_WAIT_US);
        }
        return true;
}

static bool journal_directory_prepare(JournalDirectory *directory, GError **error)
{
        g_autofree char *owner = NULL;
        struct stat st;

        if (g_mkdir_with_parents(directory->path, 0700) < 0)
                return journal_directory_error(error, directory->path, g_strerror(errno));
        directory->fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory->fd < 0 || fstat(directory->fd, &st) < 0)
                return journal_directory_error(error, directory->path, g_strerror(errno));
        if (st.st_uid != geteuid()) {
                owner = g_strdup_printf("it belongs to user %u, and clrsymd runs as user %u: "
                                        "chown it, or name another",
                                        st.st_uid, geteuid());
                return journal_directory_error(error, directory->path, owner);
        }
        if (st.st_mode & (S_IWGRP | S_IWOTH))
                return journal_directory_error(
                        error, directory->path,
                        "others may write to it: chmod go-w, or name another");
        return journal_directory_lock(directory, error);
}

bool journal_directory_open(JournalDirectory *directory, const char *path, GError **error)
{
        *directory = (JournalDirectory){.path = g_strdup(path), .fd = -1, .lock = -1};
        if (journal_directory_prepare(directory, error))
                return true;
        journal_directory_close(directory);
        return false;
}

void journal_directory_close(JournalDirectory *directory)
{
        if (directory->fd >= 0)
                close(directory->fd);
        if (directory->lock >= 0)
                close(directory->lock);
        g_free(directory->path);
        *directory = (JournalDirectory){.fd = -1, .lock = -1};
}

bool journal_directory_is_there(const JournalDirectory *directory)
{
        struct stat st;

        return fstat(directory->fd, &st) == 0 && st.st_nlink > 0 &&
               fstat(directory->lock, &st) == 0 && st.st_nlink > 0;
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
        const JournalName *x = a, *y = b;

        if (x->number != y->number)
                return x->number < y->number ? -1 : 1;
        return (int)x->state - (int)y->state;
}

GArray *journal_directory_list(const JournalDirectory *directory)
{
        FD_AUTO int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *entry;
        JournalName name;
        GArray *names;

        if (!stream)
                return NULL;
        fd = -1; /* the stream owns it now */
        names = g_array_new(FALSE, FALSE, sizeof(JournalName));
        while ((entry = readdir(stream)))
                if (journal_name_parse(entry->d_name, &name))
                        g_array_append_val(names, name);
        closedir(stream);
        g_array_sort(names, compare_names);
        return names;
}

int journal_directory_create(const JournalDirectory *directory, JournalName name)
{
        NameText text;
        int fd;

        journal_name_text(name, text);
        fd = openat(directory->fd, text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                    0600);
        return fd < 0 ? -errno : fd;
}

static int journal_directory_open_file(const JournalDirectory *directory, JournalName name,
                                       int flags)
{
        NameText text;
        struct stat st;
        int fd;

        journal_name_text(name, text);
        fd = openat(directory->fd, text, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
                return fd;
        close(fd);
        return -EPERM;
}

int journal_directory_read(const JournalDirectory *directory, JournalName name)
{
        return journal_directory_open_file(directory, name, O_RDONLY);
}

int journal_directory_append(const JournalDirectory *directory, JournalName name)
{
        return journal_directory_open_file(directory, name, O_WRONLY);
}

int journal_directory_rename(const JournalDirectory *directory, JournalName from,
                             JournalState state)
{
        NameText old, new;

        journal_name_text(from, old);
        journal_name_text((JournalName){from.number, state}, new);
        return renameat(directory->fd, old, directory->fd, new) < 0 ? -errno : 0;
}

int journal_directory_remove(const JournalDirectory *directory, JournalName name)
{
        NameText text;

        journal_name_text(name, text);
        return unlinkat(directory->fd, text, 0) < 0 ? -errno : 0;
}

char *journal_directory_path(const JournalDirectory *directory, JournalName name)
{
        NameText text;

        journal_name_text(name, text);
        return g_build_filename(directory->path, text, NULL);
}
