/* SPDX-License-Identifier: MIT */
#include "util/json-answer.h"

#include "util/json-text.h"

void json_invalid_append(GString *out, const char *address, const char *reason)
{
        g_string_append(out, "\"pid\":null,\"pid_ns\":null,\"addr\":");
        json_append_string(out, address);
        g_string_append(out, ",\"time\":null,\"status\":\"invalid\",\"reason\":");
        json_append_string(out, reason);
        g_string_append(out, ",\"confidence\":null,\"horizon\":null");
}
