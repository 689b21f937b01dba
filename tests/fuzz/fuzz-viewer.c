/* SPDX-License-Identifier: MIT */

/*
 * Replies of an lttng-relayd to its viewer: u8 command (from 128 on in the newest version of the
 * protocol), u8 size of the pieces, and the bytes of replies to that command, which the parser
 * takes whole and in pieces. The same bytes are parsed as metadata, which may be complete in part.
 */

#include "feed/trace-metadata.h"
#include "feed/viewer-wire.h"

#include "fuzz.h"

#include <errno.h>
#include <string.h>

/* The parts that the parser took, to compare two ways of taking them. */
typedef struct Taken {
        size_t n, n_parts, n_bytes, n_rows;
        bool is_broken;
} Taken;

static void take(Taken *taken, ViewerParser *parser, ViewerCommand command, const uint8_t *bytes,
                 size_t n)
{
        while (!taken->is_broken) {
                ViewerReply reply;
                ssize_t used =
                        viewer_reply_next(parser, command, bytes + taken->n, n - taken->n, &reply);

                if (used == 0)
                        return;
                taken->is_broken = used < 0;
                if (used < 0) {
                        FUZZ_REQUIRE(used == -EBADMSG);
                        return;
                }
                FUZZ_REQUIRE((size_t)used <= n - taken->n);
                FUZZ_REQUIRE(!reply.n_bytes ||
                             (reply.bytes >= bytes + taken->n &&
                              reply.bytes + reply.n_bytes <= bytes + taken->n + (size_t)used));
                FUZZ_REQUIRE(reply.is_last != parser->has_head);
                FUZZ_REQUIRE(memchr(reply.session.name, 0, sizeof(reply.session.name)) != NULL);
                taken->n += (size_t)used;
                taken->n_parts++;
                taken->n_bytes += reply.n_bytes;
                taken->n_rows += reply.is_row;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ViewerParser parser = {0}, whole_parser = {0};
        Taken taken = {0}, whole = {0};
        ViewerCommand command;
        size_t step, at;

        if (size < 2 || size > FUZZ_MAX_INPUT)
                return 0;
        command = 1 + data[0] % (_VIEWER_COMMAND_MAX - 1);
        parser.minor = whole_parser.minor = data[0] & 0x80 ? VIEWER_MINOR : VIEWER_MIN_MINOR;
        step = 1 + data[1];
        data += 2;
        size -= 2;
        take(&whole, &whole_parser, command, data, size);
        for (at = 0; at < size; at += step)
                take(&taken, &parser, command, data, MIN(at + step, size));
        FUZZ_REQUIRE(taken.n == whole.n && taken.n_parts == whole.n_parts &&
                     taken.n_bytes == whole.n_bytes && taken.n_rows == whole.n_rows &&
                     taken.is_broken == whole.is_broken);
        FUZZ_REQUIRE(trace_metadata_whole(data, size) <= size);
        return 0;
}
