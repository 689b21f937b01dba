/* SPDX-License-Identifier: MIT */

/*
 * A snapshot's file, as `--trace` reads it: u8 flags, then frames as in fuzz-ingest, which the
 * target packs; with FLAG_RAW, the bytes after the first line.
 */

#include "frames.h"
#include "known.h"
#include "offline/trace-sink.h"
#include "util/gzip.h"
#include "wire/ingest.h"

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
        return fd;
}

static void take_all(EventReader *reader, TraceSink *sink)
{
        const EventBatch *batch;
        size_t i;

        do {
                batch = event_reader_next(reader);
                for (i = 0; i < batch->n_items; i++)
                        FUZZ_REQUIRE(trace_sink_take(sink, &batch->items[i], NULL));
        } while (batch->result == EVENT_READ_MORE);
        FUZZ_REQUIRE((batch->result == EVENT_READ_ERROR) == (batch->error != NULL));
        FUZZ_REQUIRE(trace_sink_end(sink, &(FeederReport){0}, NULL));
}

static EventReader *open_file(int fd, EventUse use)
{
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        g_autoptr(GError) error = NULL;
        EventReader *reader = event_reader_new(path, use, &error);

        FUZZ_REQUIRE(!reader == (error != NULL));
        close(fd);
        return reader;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        uint8_t flags = (uint8_t)fuzz_take(&input, 1);
        EventReader *reader;
        Tracker *tracker;
        TraceSink *sink;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        reader = open_file(make_file(&input, flags),
                           flags & FLAG_JIT ? EVENT_USE_JIT : EVENT_USE_ALL);
        if (!reader)
                return 0;
        tracker = tracker_new();
        sink = trace_sink_new("fuzz", tracker);
        take_all(reader, sink);
        trace_sink_free(sink);
        known_check(tracker);
        event_reader_free(reader);
        tracker_free(tracker);
        return 0;
}
