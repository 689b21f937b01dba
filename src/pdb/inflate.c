/* SPDX-License-Identifier: MIT */
#include "pdb/inflate.h"

#include <errno.h>
#include <zlib.h>

int inflate_exactly(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to)
{
        z_stream stream = {.next_in = (Bytef *)from, /* zlib reads it only */
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
