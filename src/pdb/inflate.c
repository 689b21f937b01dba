/* SPDX-License-Identifier: MIT */
#include "pdb/inflate.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE (64u << 10)

int inflate_exactly(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to)
{
        z_stream stream = {.next_in = (Bytef *)from, /* zlib does not write to it */
                           .avail_in = (uInt)n_from,
                           .next_out = to,
                           .avail_out = (uInt)n_to};
        int r;

        if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
                return -ENOMEM;
        r = inflate(&stream, Z_FINISH);
        inflateEnd(&stream);
        return r == Z_STREAM_END && stream.avail_out == 0 ? 0 : -EBADMSG;
}

/* Reads the next piece of the file, whose remainder has *N_LEFT bytes. */
static int inflate_fill(z_stream *stream, int fd, uint64_t *offset, uint64_t *n_left,
                        uint8_t piece[PIECE])
{
        ssize_t r;

        do
                r = pread(fd, piece, *n_left < PIECE ? (size_t)*n_left : PIECE, (off_t)*offset);
        while (r < 0 && errno == EINTR);
        if (r <= 0)
                return r < 0 ? -errno : -EBADMSG;
        stream->next_in = piece;
        stream->avail_in = (uInt)r;
        *offset += (uint64_t)r;
        *n_left -= (uint64_t)r;
        return 0;
}

int inflate_file(int fd, uint64_t offset, uint64_t n_from, uint8_t *to, size_t n_to)
{
        z_stream stream = {.next_out = to, .avail_out = (uInt)n_to};
        uint8_t piece[PIECE];
        int r = Z_OK, error = 0;

        if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
                return -ENOMEM;
        while (r == Z_OK && error == 0) {
                if (stream.avail_in == 0)
                        error = inflate_fill(&stream, fd, &offset, &n_from, piece);
                if (error == 0)
                        r = inflate(&stream, Z_NO_FLUSH);
        }
        inflateEnd(&stream);
        if (error < 0)
                return error;
        return r == Z_STREAM_END && stream.avail_out == 0 ? 0 : -EBADMSG;
}
