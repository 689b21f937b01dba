/* SPDX-License-Identifier: MIT */

/* An OpenTelemetry collector's answer with any bytes */

#include "fuzz.h"
#include "push/push-request.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *reason = NULL;

        if (!push_response_rejects(data, size, &reason)) {
                FUZZ_REQUIRE(!reason);
                return 0;
        }
        FUZZ_REQUIRE(reason && strlen(reason) <= size);
        g_free(reason);
        return 0;
}
