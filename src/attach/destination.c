/* SPDX-License-Identifier: MIT */
#include "attach/destination.h"

#include "attach/error.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define PREFIX    "to-"
#define FILE_NAME "ingest"
/* Digits of the hash. */
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

Destination *destination_add(const char *holder, const char *ingest, DestinationFn fn, void *data,
                             GError **error)
{
        g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, ingest, -1);
        g_autofree char *directory = g_strdup_printf("%s/" PREFIX "%.*s", holder, N_DIGITS, hash);
        g_autofree char *file = g_build_filename(directory, FILE_NAME, NULL);

        if (g_mkdir(directory, 0700) < 0 && errno != EEXIST) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot make the directory %s: %s", directory, g_strerror(errno));
                return NULL;
        }
        if (!g_file_set_contents(file, ingest, -1, error))
                return NULL;
        return destination_make(g_steal_pointer(&directory), g_steal_pointer(&file), ingest, fn,
                                data);
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
