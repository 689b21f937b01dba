/* SPDX-License-Identifier: MIT */

/* A request to the holder, and the holder's answer, with any bytes. */

#include "fuzz.h"
#include "wire/hold-request.h"

#include <glib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *copy = g_memdup2(data, size), *line = NULL, *reason = NULL;
        g_auto(RequestReply) reply = {0};
        Request request, again;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (request_parse(copy, size, &request)) {
                line = request_format(&request);
                FUZZ_REQUIRE(strlen(line) <= REQUEST_MAX);
                FUZZ_REQUIRE(request_parse(line, strlen(line) - 1, &again));
                FUZZ_REQUIRE(again.verb == request.verb && again.pid == request.pid &&
                             again.is_held_only == request.is_held_only);
        }
        if (request_reply_parse(copy, size, &reply))
                FUZZ_REQUIRE(reply.value || (reply.kind && reply.message));
        (void)request_outcome(copy, size, &reason);
        return 0;
}
