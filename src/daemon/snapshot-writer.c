/* SPDX-License-Identifier: MIT */
#include "daemon/snapshot.h"

#include "wire/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those frames are what format 1 holds. */
_Static_assert(SNAPSHOT_FORMAT == 1 && INGEST_VERSION == 1, "another snapshot format");

/* The fastest: names repeat so much that more work wins little. */
#define COMPRESSION_LEVEL 1
#define OUTPUT_SIZE       (64u << 10)

struct SnapshotWriter {
        char *path;      /* owned */
        char *temporary; /* owned: the file's name for now, NULL once it has its own */
        int fd;
        GConverter *deflate; /* owned */
};

static bool fail(const SnapshotWriter *writer, GError **error, const char *what)
{
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: cannot save a snapshot there: %s",
                    writer->path, what);
        return false;
}

static bool write_all(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GError **error)
{
        while (n > 0) {
                ssize_t written = write(writer->fd, bytes, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return fail(writer, error, g_strerror(errno));
                bytes += written;
                n -= (size_t)written;
        }
        return true;
}

/* What is there must be no more than an older snapshot. */
static bool check_place(const SnapshotWriter *writer, const char *directory, GError **error)
{
        g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
        struct stat st;

        if (stat(writer->path, &st) == 0 && !S_ISREG(st.st_mode))
                return fail(writer, error,
                            S_ISDIR(st.st_mode) ? "it is a directory: name a file in it"
                                                : "it is no regular file: name another");
        if (g_file_test(metadata, G_FILE_TEST_EXISTS))
                return fail(writer, error,
                            "beside a trace's \"metadata\" it would be taken for a part of the "
                            "trace: name a file elsewhere");
        return true;
}

static bool open_temporary(SnapshotWriter *writer, const char *directory, GError **error)
{
        writer->temporary = g_build_filename(directory, ".clrsym-XXXXXX", NULL);
        writer->fd = g_mkstemp_full(writer->temporary, O_WRONLY | O_CLOEXEC, 0666);
        if (writer->fd >= 0)
                return true;
        fail(writer, error, g_strerror(errno));
        g_clear_pointer(&writer->temporary, g_free);
        return false;
}

SnapshotWriter *snapshot_writer_new(const char *path, bool jit_events, GError **error)
{
        g_autofree char *directory = g_path_get_dirname(path);
        g_autofree char *line = g_strdup_printf("clrsym-snapshot %u " CLRSYM_VERSION " jit=%s\n",
                                                SNAPSHOT_FORMAT, jit_events ? "yes" : "no");
        SnapshotWriter *writer = g_new0(SnapshotWriter, 1);

        writer->path = g_strdup(path);
        writer->fd = -1;
        writer->deflate = G_CONVERTER(
                g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, COMPRESSION_LEVEL));
        if (!check_place(writer, directory, error) || !open_temporary(writer, directory, error) ||
            !write_all(writer, (const uint8_t *)line, strlen(line), error)) {
                snapshot_writer_free(writer);
                return NULL;
        }
        return writer;
}

void snapshot_writer_free(SnapshotWriter *writer)
{
        if (!writer)
                return;
        if (writer->fd >= 0)
                close(writer->fd);
        if (writer->temporary)
                unlink(writer->temporary);
        g_object_unref(writer->deflate);
        g_free(writer->temporary);
        g_free(writer->path);
        g_free(writer);
}

static bool pack(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GConverterFlags flags,
                 GError **error)
{
        g_autofree uint8_t *output = g_malloc(OUTPUT_SIZE);
        GConverterResult result = G_CONVERTER_CONVERTED;

        while (result != G_CONVERTER_FINISHED && (n > 0 || flags)) {
                g_autoptr(GError) pack_error = NULL;
                gsize n_taken, n_output;

                result = g_converter_convert(writer->deflate, bytes, n, output, OUTPUT_SIZE, flags,
                                             &n_taken, &n_output, &pack_error);
                if (result == G_CONVERTER_ERROR)
                        return fail(writer, error, pack_error->message);
                if (!write_all(writer, output, n_output, error))
                        return false;
                bytes += n_taken;
                n -= n_taken;
        }
        return true;
}

bool snapshot_writer_add(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GError **error)
{
        return pack(writer, bytes, n, 0, error);
}

/* So that the new name is on the disk too. Not every file system can: then it is as good as it. */
static void sync_directory(const char *path)
{
        g_autofree char *directory = g_path_get_dirname(path);
        int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return;
        fsync(fd);
        close(fd);
}

bool snapshot_writer_finish(SnapshotWriter *writer, GError **error)
{
        int fd = writer->fd;

        if (!pack(writer, NULL, 0, G_CONVERTER_INPUT_AT_END, error))
                return false;
        if (fsync(fd) < 0)
                return fail(writer, error, g_strerror(errno));
        writer->fd = -1;
        if (close(fd) < 0 || g_rename(writer->temporary, writer->path) < 0)
                return fail(writer, error, g_strerror(errno));
        g_clear_pointer(&writer->temporary, g_free);
        sync_directory(writer->path);
        return true;
}
