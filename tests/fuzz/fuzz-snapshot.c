/* SPDX-License-Identifier: MIT */

/*
 * A snapshot's file, as `--trace` reads it: u8 flags, then frames as in fuzz-ingest, which are
 * packed, or with FLAG_RAW the bytes after the first line.
 */

#include "frames.h"
#include "known.h"
#include "offline/snapshot.h"
#include "util/gzip.h"
#include "wire/ingest-connection.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FLAG_RAW = 1, FLAG_JIT = 2, FLAG_NO_LINE = 4, FLAG_CUT = 8 };

static const char LINE[] = "clrsym-snapshot 1 0.1.0 jit=no\n";

static bool take_packed(void *data, const void *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

static void append_packed(GByteArray *out, const GByteArray *bytes)
{
        Gzip *gzip = gzip_new(1, take_packed, out);

        FUZZ_REQUIRE(gzip_add(gzip, bytes->data, bytes->len) && gzip_finish(gzip));
        gzip_free(gzip);
}

static int make_file(FuzzInput *input, uint8_t flags)
{
        g_autoptr(GByteArray) file = g_byte_array_new(), frames = g_byte_array_new();
        int fd = memfd_create("snapshot", MFD_CLOEXEC);

        if (!(flags & FLAG_NO_LINE))
                g_byte_array_append(file, (const uint8_t *)LINE, sizeof(LINE) - 1);
        if (flags & FLAG_RAW) {
                g_byte_array_append(file, input->at, (guint)input->n);
        } else {
                ingest_put_hello(frames, INGEST_VERSION, "fuzz");
                while (input->n > 0)
                        fuzz_take_frame(input, frames);
                append_packed(file, frames);
        }
        if (flags & FLAG_CUT)
                g_byte_array_set_size(file, file->len - MIN(file->len, 5));
        FUZZ_REQUIRE(fd >= 0 && write(fd, file->data, file->len) == (ssize_t)file->len);
        lseek(fd, 0, SEEK_SET);
        return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        uint8_t flags = (uint8_t)fuzz_take(&input, 1);
        g_autoptr(GError) error = NULL;
        IngestConnection *connection;
        SnapshotReader *reader;
        const uint8_t *bytes;
        Tracker *tracker;
        ssize_t n;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        reader = snapshot_reader_new(make_file(&input, flags), "fuzz", flags & FLAG_JIT, &error);
        FUZZ_REQUIRE(!reader == (error != NULL));
        if (!reader)
                return 0;
        tracker = tracker_new();
        connection = ingest_connection_new(tracker, false);
        while ((n = snapshot_reader_next(reader, &bytes, &error)) > 0) {
                if (!ingest_connection_feed(connection, bytes, (size_t)n))
                        break;
                g_byte_array_set_size(ingest_connection_output(connection), 0);
        }
        FUZZ_REQUIRE((n < 0) == (error != NULL));
        ingest_connection_free(connection);
        known_check(tracker);
        snapshot_reader_free(reader);
        tracker_free(tracker);
        return 0;
}
