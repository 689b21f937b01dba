/* SPDX-License-Identifier: MIT */
#include "util/gzip.h"

#include <glib.h>
#include <stdint.h>
#include <zlib.h>

#define OUTPUT_SIZE (64u << 10)
/* zlib's own choice. */
#define MEMORY_LEVEL 8

struct Gzip {
        z_stream stream;
        GzipWriteFn write;
        void *data; /* borrowed */
        uint8_t output[OUTPUT_SIZE];
};

Gzip *gzip_new(int level, GzipWriteFn write, void *data)
{
        Gzip *gzip = g_new0(Gzip, 1);

        gzip->write = write;
        gzip->data = data;
        /* Ends the program, as any failed allocation does. */
        if (deflateInit2(&gzip->stream, level, Z_DEFLATED, MAX_WBITS + GZIP_BITS, MEMORY_LEVEL,
                         Z_DEFAULT_STRATEGY) != Z_OK)
                g_error("not enough memory to pack a file");
        return gzip;
}

void gzip_free(Gzip *gzip)
{
        if (!gzip)
                return;
        deflateEnd(&gzip->stream);
        g_free(gzip);
}

/* Packs the input until it is used up, or with Z_FINISH, until all output is written. */
static bool gzip_run(Gzip *gzip, int flush)
{
        z_stream *stream = &gzip->stream;
        int r;

        do {
                stream->next_out = gzip->output;
                stream->avail_out = OUTPUT_SIZE;
                r = deflate(stream, flush);
                if (stream->avail_out < OUTPUT_SIZE &&
                    !gzip->write(gzip->data, gzip->output, OUTPUT_SIZE - stream->avail_out))
                        return false;
        } while (flush == Z_FINISH ? r != Z_STREAM_END : stream->avail_in > 0);
        return true;
}

bool gzip_add(Gzip *gzip, const void *bytes, size_t n)
{
        while (n > 0) {
                const uInt piece = (uInt)MIN(n, G_MAXUINT);

                gzip->stream.next_in = (z_const Bytef *)bytes;
                gzip->stream.avail_in = piece;
                if (!gzip_run(gzip, Z_NO_FLUSH))
                        return false;
                bytes = (const uint8_t *)bytes + piece;
                n -= piece;
        }
        return true;
}

bool gzip_finish(Gzip *gzip)
{
        return gzip_run(gzip, Z_FINISH);
}
