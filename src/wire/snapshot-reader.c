/* SPDX-License-Identifier: MIT */
#include "wire/snapshot.h"

#include "util/gzip.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_SIZE (256u << 10)
/* Bytes of the longest first line. */
#define MAX_LINE 128

struct SnapshotReader {
        char *path; /* owned */
        int fd;
        uint64_t size;
        uint64_t n_read;
        z_stream inflate;
        uint8_t *input; /* owned: bytes from begin to end are not unpacked yet */
        size_t begin, end;
        uint8_t *output; /* owned */
        bool has_jit_events;
        bool is_over;
};

static bool snapshot_reader_fail(const SnapshotReader *reader, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", reader->path, what);
        return false;
}

/* Reads the next bytes if all have been unpacked. False with ERROR set. */
static bool snapshot_reader_fill(SnapshotReader *reader, GError **error)
{
        ssize_t n;

        if (reader->begin < reader->end)
                return true;
        do
                n = read(reader->fd, reader->input, BUFFER_SIZE);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return snapshot_reader_fail(reader, error, g_strerror(errno));
        reader->begin = 0;
        reader->end = (size_t)n;
        reader->n_read += (uint64_t)n;
        return true;
}

/* Other kinds of files, by their first bytes. */
static const struct {
        const char *begin;
        size_t n;
        const char *what;
} OTHERS[] = {
        {GZIP_MAGIC, sizeof(GZIP_MAGIC) - 1,
         "compressed by gzip: if it has the samples of clrsym record, clrsym report -i reads it"},
        {"PERFILE2", 8, "perf's samples: clrsym report -i reads them"},
};

static const char *snapshot_reader_find_other(const SnapshotReader *reader)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(OTHERS); i++)
                if (reader->end >= OTHERS[i].n &&
                    !memcmp(reader->input, OTHERS[i].begin, OTHERS[i].n))
                        return OTHERS[i].what;
        return TRACE_NEITHER;
}

/* The first line: "clrsym-snapshot FORMAT VERSION jit=yes|no". */
static bool snapshot_reader_read_line(SnapshotReader *reader, bool jit_events, GError **error)
{
        g_autofree char *line = NULL, *other = NULL;
        g_auto(GStrv) words = NULL;
        const uint8_t *newline;
        uint64_t format;

        if (!snapshot_reader_fill(reader, error))
                return false;
        newline = memchr(reader->input, '\n', MIN(reader->end, MAX_LINE));
        line = g_strndup((const char *)reader->input,
                         newline ? (size_t)(newline - reader->input) : 0);
        words = g_strsplit(line, " ", -1);
        if (g_strcmp0(words[0], "clrsym-snapshot") ||
            !g_ascii_string_to_unsigned(words[1] ? words[1] : "", 10, 1, UINT32_MAX, &format, NULL))
                return snapshot_reader_fail(reader, error, snapshot_reader_find_other(reader));
        if (format != SNAPSHOT_FORMAT) {
                other = g_strdup_printf("a snapshot of format %" G_GUINT64_FORMAT
                                        ", this clrsym reads %u: " SNAPSHOT_MAKE_AGAIN,
                                        format, SNAPSHOT_FORMAT);
                return snapshot_reader_fail(reader, error, other);
        }
        if (g_strv_length(words) != 4 ||
            (strcmp(words[3], "jit=no") && strcmp(words[3], "jit=yes")))
                return snapshot_reader_fail(reader, error, SNAPSHOT_DAMAGED);
        reader->has_jit_events = !strcmp(words[3], "jit=yes");
        if (jit_events && !reader->has_jit_events)
                return snapshot_reader_fail(reader, error,
                                            "a snapshot without the JIT's events: save it again "
                                            "with --jit-events, or read the trace itself");
        reader->begin = (size_t)(newline + 1 - reader->input);
        return true;
}

SnapshotReader *snapshot_reader_new(int fd, const char *path, bool jit_events, GError **error)
{
        SnapshotReader *reader = g_new0(SnapshotReader, 1);
        struct stat st;

        reader->path = g_strdup(path);
        reader->fd = fd;
        reader->input = g_malloc(BUFFER_SIZE);
        reader->output = g_malloc(BUFFER_SIZE);
        /* Like any failing allocation. */
        if (inflateInit2(&reader->inflate, MAX_WBITS + GZIP_BITS) != Z_OK)
                g_error("not enough memory to read a snapshot");
        reader->size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
        if (!snapshot_reader_read_line(reader, jit_events, error)) {
                snapshot_reader_free(reader);
                return NULL;
        }
        return reader;
}

void snapshot_reader_free(SnapshotReader *reader)
{
        if (!reader)
                return;
        close(reader->fd);
        inflateEnd(&reader->inflate);
        g_free(reader->input);
        g_free(reader->output);
        g_free(reader->path);
        g_free(reader);
}

bool snapshot_reader_has_jit_events(const SnapshotReader *reader)
{
        return reader->has_jit_events;
}

/* The file must end after the end mark. */
static bool snapshot_reader_check_end(SnapshotReader *reader, GError **error)
{
        reader->is_over = true;
        if (!snapshot_reader_fill(reader, error))
                return false;
        return reader->begin == reader->end ||
               snapshot_reader_fail(
                       reader, error,
                       "a damaged snapshot, with more after its end: " SNAPSHOT_MAKE_AGAIN);
}

/* Unpacks a part of the input, to N bytes of output. Returns inflate()'s result. */
static int snapshot_reader_unpack(SnapshotReader *reader, size_t *ret_n)
{
        z_stream *stream = &reader->inflate;
        int r;

        stream->next_in = reader->input + reader->begin;
        stream->avail_in = (uInt)(reader->end - reader->begin);
        stream->next_out = reader->output;
        stream->avail_out = BUFFER_SIZE;
        r = inflate(stream, Z_NO_FLUSH);
        reader->begin = reader->end - stream->avail_in;
        *ret_n = BUFFER_SIZE - stream->avail_out;
        return r;
}

ssize_t snapshot_reader_next(SnapshotReader *reader, const uint8_t **ret_bytes, GError **error)
{
        size_t n = 0;

        while (!reader->is_over && n == 0) {
                if (!snapshot_reader_fill(reader, error))
                        return -1;
                if (reader->begin == reader->end) {
                        snapshot_reader_fail(reader, error,
                                             "a truncated snapshot: " SNAPSHOT_MAKE_AGAIN);
                        return -1;
                }
                switch (snapshot_reader_unpack(reader, &n)) {
                case Z_STREAM_END:
                        if (!snapshot_reader_check_end(reader, error))
                                return -1;
                        break;
                case Z_OK:
                        break;
                default:
                        snapshot_reader_fail(reader, error, SNAPSHOT_DAMAGED);
                        return -1;
                }
        }
        *ret_bytes = reader->output;
        return (ssize_t)n;
}

void snapshot_reader_progress(const SnapshotReader *reader, uint64_t *ret_read, uint64_t *ret_total)
{
        *ret_read = MIN(reader->n_read, reader->size);
        *ret_total = reader->size;
}
