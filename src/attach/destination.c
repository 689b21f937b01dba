/* SPDX-License-Identifier: MIT */
#include "attach/destination.h"

#include "attach/attachment-file.h"
#include "attach/error.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define PREFIX    "to-"
#define FILE_NAME "ingest"
/* Number of digits of the hash. */
#define N_DIGITS 16

/* Takes over DIRECTORY and OWN_FILE. */
static Destination *destination_make(char *directory, char *own_file, const char *ingest,
                                     DestinationFn fn, void *data)
{
        Destination *destination = g_new0(Destination, 1);

        destination->directory = directory;
        destination->own_file = own_file;
        destination->gaps = gap_log_new(directory, ingest, fn, data);
        return destination;
}

Destination *destination_new(const char *holder, const char *ingest, DestinationFn fn, void *data)
{
        return destination_make(g_strdup(holder), NULL, ingest, fn, data);
}

/* The caller frees the path; NULL with ERROR set. */
static char *destination_make_directory(const char *holder, const char *ingest, GError **error)
{
        g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, ingest, -1);
        g_autofree char *directory = g_strdup_printf("%s/" PREFIX "%.*s", holder, N_DIGITS, hash);
        g_autofree char *file = g_build_filename(directory, FILE_NAME, NULL);

        if (g_mkdir(directory, 0700) < 0 && errno != EEXIST) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot make the directory %s: %s", directory, g_strerror(errno));
                return NULL;
        }
        return g_file_set_contents(file, ingest, -1, error) ? g_steal_pointer(&directory) : NULL;
}

Destination *destination_add(const char *holder, const char *ingest, DestinationFn fn, void *data,
                             GError **error)
{
        char *directory = destination_make_directory(holder, ingest, error);

        return directory ? destination_make(directory, g_build_filename(directory, FILE_NAME, NULL),
                                            ingest, fn, data)
                         : NULL;
}

/* The ingest socket of a file in a holder's directory; NULL: the file has none. The caller frees
 * it. */
static char *destination_of_file(const char *name, const char *path)
{
        g_autofree char *text = NULL;
        uint64_t start_ticks;
        pid_t pid;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return NULL;
        return attachment_file_parse_name(name, &pid, &start_ticks)
                       ? attachment_file_ingest(text)
                       : gap_log_file_ingest(name, text);
}

void destination_sort(const char *holder, const char *ingest)
{
        g_autoptr(GDir) files = g_dir_open(holder, 0, NULL);
        const char *name;

        while (files && (name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(holder, name, NULL);
                g_autofree char *own = destination_of_file(name, path), *directory = NULL;
                g_autofree char *moved = NULL;
                g_autoptr(GError) error = NULL;

                if (!own || !strcmp(own, ingest))
                        continue;
                directory = destination_make_directory(holder, own, &error);
                moved = directory ? g_build_filename(directory, name, NULL) : NULL;
                if (!moved || g_rename(path, moved) < 0)
                        g_warning("cannot keep %s for the daemon at %s: %s", path, own,
                                  error ? error->message : g_strerror(errno));
        }
}

Destination *destination_load(const char *holder, const char *name, DestinationFn fn, void *data)
{
        g_autofree char *directory = g_build_filename(holder, name, NULL);
        g_autofree char *file = g_build_filename(directory, FILE_NAME, NULL), *ingest = NULL;

        if (!g_str_has_prefix(name, PREFIX) || !g_file_get_contents(file, &ingest, NULL, NULL))
                return NULL;
        return destination_make(g_steal_pointer(&directory), g_steal_pointer(&file), ingest, fn,
                                data);
}

void destination_free(Destination *destination, bool is_unused)
{
        bool is_empty;

        if (!destination)
                return;
        is_empty = gap_log_free(destination->gaps);
        if (destination->own_file && is_unused && is_empty) {
                g_unlink(destination->own_file);
                g_rmdir(destination->directory);
        }
        g_free(destination->directory);
        g_free(destination->own_file);
        g_free(destination);
}
