/* SPDX-License-Identifier: MIT */
#include "offline/trace-progress.h"

#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

typedef struct StreamFile {
        uint64_t size;
        uint64_t n_read;
        bool is_closed; /* once, at least: babeltrace2 2.1 also opens one twice that it reads */
        bool is_mapped;
} StreamFile;

struct TraceProgress {
        GHashTable *files;    /* path (owned) -> StreamFile (owned) */
        GHashTable *by_watch; /* inotify's number -> directory (owned) */
        int inotify;          /* -1: there is none */
        bool has_begun;
};

static bool progress_fail(GError **error, const char *directory, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", directory, what);
        return false;
}

/*
 * Gathers all files that could be streams (path -> StreamFile), and the directories of traces:
 * those with a file "metadata". Returns NULL, or a path that cannot be read: babeltrace2 would skip
 * it, and a part of the trace may be in there.
 */
static char *progress_walk(const char *root, GHashTable *files, GHashTable *directories)
{
        char *const roots[] = {(char *)root, NULL};
        FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
        char *unreadable = NULL;
        FTSENT *entry;

        while (tree && !unreadable && (entry = fts_read(tree))) {
                if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS)
                        unreadable = g_strdup_printf("%s: %s", entry->fts_path,
                                                     g_strerror(entry->fts_errno));
                if (entry->fts_info != FTS_F)
                        continue;
                if (!strcmp(entry->fts_name, "metadata")) {
                        g_hash_table_add(directories, g_path_get_dirname(entry->fts_path));
                } else if (entry->fts_name[0] != '.') { /* babeltrace2 skips hidden files too */
                        StreamFile *file = g_new(StreamFile, 1);

                        *file = (StreamFile){.size = (uint64_t)entry->fts_statp->st_size};
                        g_hash_table_insert(files, g_strdup(entry->fts_path), file);
                }
        }
        if (tree)
                fts_close(tree);
        else
                unreadable = g_strdup_printf("%s: %s", root, g_strerror(errno));
        return unreadable;
}

static gboolean is_elsewhere(gpointer path, gpointer file, gpointer directories)
{
        g_autofree char *directory = g_path_get_dirname(path);

        return !g_hash_table_contains(directories, directory);
}

/* Watches the directories of the traces for files that are closed. */
static void progress_watch(TraceProgress *progress, GHashTable *directories)
{
        GHashTableIter iter;
        void *directory;

        progress->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (progress->inotify < 0)
                return;
        g_hash_table_iter_init(&iter, directories);
        while (g_hash_table_iter_next(&iter, &directory, NULL)) {
                int number = inotify_add_watch(progress->inotify, directory,
                                               IN_CLOSE_NOWRITE | IN_ONLYDIR);

                if (number >= 0)
                        g_hash_table_insert(progress->by_watch, GINT_TO_POINTER(number),
                                            g_strdup(directory));
        }
}

TraceProgress *trace_progress_new(const char *directory, GError **error)
{
        g_autoptr(GHashTable) directories =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autofree char *root = NULL; /* as the kernel names it */
        g_autofree char *unreadable = NULL;
        TraceProgress *progress;

        root = realpath(directory, NULL);
        progress = g_new0(TraceProgress, 1);
        progress->inotify = -1;
        progress->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        progress->by_watch = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        unreadable = progress_walk(root ? root : directory, progress->files, directories);
        if (unreadable || !g_hash_table_size(directories)) {
                g_autofree char *what =
                        unreadable ? g_strdup_printf("some of it cannot be read (%s): give a "
                                                     "directory below it, or run this as its owner",
                                                     unreadable)
                                   : g_strdup("no CTF trace in it: there is no file \"metadata\", "
                                              "here or below");

                progress_fail(error, directory, what);
                trace_progress_free(progress);
                return NULL;
        }
        g_hash_table_foreach_remove(progress->files, is_elsewhere, directories);
        progress_watch(progress, directories);
        return progress;
}

void trace_progress_free(TraceProgress *progress)
{
        if (!progress)
                return;
        fd_clear(&progress->inotify);
        g_hash_table_unref(progress->files);
        g_hash_table_unref(progress->by_watch);
        g_free(progress);
}

static void progress_take_closed(TraceProgress *progress, const struct inotify_event *event)
{
        const char *directory = g_hash_table_lookup(progress->by_watch, GINT_TO_POINTER(event->wd));
        g_autofree char *path = NULL;
        StreamFile *file;

        if (!progress->has_begun || !directory || !event->len)
                return;
        path = g_build_filename(directory, event->name, NULL);
        file = g_hash_table_lookup(progress->files, path);
        if (file)
                file->is_closed = true;
}

/* Takes the files that were closed since the last time. */
static void progress_take_inotify(TraceProgress *progress)
{
        union {
                struct inotify_event event; /* for its alignment */
                char bytes[16384];
        } buffer;
        ssize_t n, at;

        if (progress->inotify < 0)
                return;
        while ((n = read(progress->inotify, &buffer, sizeof(buffer))) > 0)
                for (at = 0; at < n;) {
                        const struct inotify_event *event = (const void *)(buffer.bytes + at);

                        progress_take_closed(progress, event);
                        at += (ssize_t)sizeof(*event) + event->len;
                }
}

void trace_progress_begin(TraceProgress *progress)
{
        progress_take_inotify(progress);
        progress->has_begun = true;
}

/* Takes a line of smaps. *FILE and *OFFSET belong to the mapping that the lines are about. */
static void progress_take_line(const TraceProgress *progress, const char *line, StreamFile **file,
                               uint64_t *offset)
{
        unsigned long long begin = 0, kilobytes;
        int at = 0;

        /* The line of a mapping begins with its address, lines about it with a capital. */
        if (!g_ascii_isupper(*line)) {
                sscanf(line, "%*x-%*x %*s %llx %*s %*s %n", &begin, &at);
                *file = g_hash_table_lookup(progress->files, line + at);
                *offset = begin;
                if (*file)
                        (*file)->is_mapped = true;
        } else if (*file && sscanf(line, "Rss: %llu kB", &kilobytes) == 1) {
                (*file)->n_read =
                        MAX((*file)->n_read, MIN((*file)->size, *offset + kilobytes * 1024));
        }
}

static void progress_take_mappings(TraceProgress *progress, pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/smaps", (int)pid);
        g_autofree char *text = NULL;
        char *line, *end;
        StreamFile *file = NULL;
        uint64_t offset = 0;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return;
        for (line = text; (end = strchr(line, '\n')); line = end + 1) {
                *end = '\0';
                progress_take_line(progress, line, &file, &offset);
        }
}

void trace_progress_update(TraceProgress *progress, pid_t pid, uint64_t *ret_read,
                           uint64_t *ret_total)
{
        GHashTableIter iter;
        void *value;

        progress_take_inotify(progress);
        if (progress->has_begun && pid > 0)
                progress_take_mappings(progress, pid);
        *ret_read = *ret_total = 0;
        g_hash_table_iter_init(&iter, progress->files);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                StreamFile *file = value;

                if (file->is_closed && !file->is_mapped)
                        file->n_read = file->size;
                file->is_mapped = false;
                *ret_read += file->n_read;
                *ret_total += file->size;
        }
}
