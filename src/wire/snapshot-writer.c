/* SPDX-License-Identifier: MIT */
#include "wire/snapshot.h"

#include "util/atomic-file.h"
#include "util/gzip.h"
#include "wire/ingest.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

/* Format 1 holds the frames of this version of the protocol. */
_Static_assert(SNAPSHOT_FORMAT == 1 && INGEST_VERSION == 1, "another snapshot format");

/* The fastest level: names repeat so much that higher levels gain little. */
#define COMPRESSION_LEVEL 1

struct SnapshotWriter {
        char *path; /* owned */
        AtomicFile file;
        Gzip *gzip;     /* owned */
        GError **error; /* of the call in progress */
};

static bool snapshot_writer_fail(const SnapshotWriter *writer, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "%s: cannot save a snapshot there: %s", writer->path, what);
        return false;
}

static bool snapshot_writer_write(SnapshotWriter *writer, const uint8_t *bytes, size_t n,
                                  GError **error)
{
        int r = atomic_file_write(&writer->file, bytes, n);

        return r == 0 || snapshot_writer_fail(writer, error, g_strerror(-r));
}

/* Takes packed bytes. */
static bool snapshot_writer_take(void *data, const void *bytes, size_t n)
{
        SnapshotWriter *writer = data;

        return snapshot_writer_write(writer, bytes, n, writer->error);
}

/* Only an older snapshot may be replaced. */
static bool snapshot_writer_check_path(const SnapshotWriter *writer, GError **error)
{
        g_autofree char *directory = g_path_get_dirname(writer->path);
        g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
        struct stat st;

        if (stat(writer->path, &st) == 0 && !S_ISREG(st.st_mode))
                return snapshot_writer_fail(writer, error,
                                            S_ISDIR(st.st_mode)
                                                    ? "it is a directory: name a file in it"
                                                    : "it is not a regular file: name another");
        if (g_file_test(metadata, G_FILE_TEST_EXISTS))
                return snapshot_writer_fail(writer, error,
                                            "beside a trace's \"metadata\" it would be taken for a "
                                            "part of the trace: name a file elsewhere");
        return true;
}

static bool snapshot_writer_open(SnapshotWriter *writer, GError **error)
{
        /* "-" is a file here, not the standard output. */
        int r = atomic_file_open(&writer->file, strcmp(writer->path, "-") ? writer->path : "./-");

        g_autofree char *why = r < 0 ? output_path_error(writer->path, -r) : NULL;

        return r == 0 || snapshot_writer_fail(writer, error, why);
}

SnapshotWriter *snapshot_writer_new(const char *path, bool jit_events, GError **error)
{
        g_autofree char *line = g_strdup_printf("clrsym-snapshot %u " CLRSYM_VERSION " jit=%s\n",
                                                SNAPSHOT_FORMAT, jit_events ? "yes" : "no");
        SnapshotWriter *writer = g_new0(SnapshotWriter, 1);

        writer->path = g_strdup(path);
        writer->file = ATOMIC_FILE_INIT;
        writer->gzip = gzip_new(COMPRESSION_LEVEL, snapshot_writer_take, writer);
        if (!snapshot_writer_check_path(writer, error) || !snapshot_writer_open(writer, error) ||
            !snapshot_writer_write(writer, (const uint8_t *)line, strlen(line), error)) {
                snapshot_writer_free(writer);
                return NULL;
        }
        return writer;
}

void snapshot_writer_free(SnapshotWriter *writer)
{
        if (!writer)
                return;
        atomic_file_clear(&writer->file);
        gzip_free(writer->gzip);
        g_free(writer->path);
        g_free(writer);
}

bool snapshot_writer_add(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GError **error)
{
        writer->error = error;
        return gzip_add(writer->gzip, bytes, n);
}

bool snapshot_writer_finish(SnapshotWriter *writer, GError **error)
{
        int r;

        writer->error = error;
        if (!gzip_finish(writer->gzip))
                return false;
        r = atomic_file_commit(&writer->file, true);
        return r == 0 || snapshot_writer_fail(writer, error, g_strerror(-r));
}
