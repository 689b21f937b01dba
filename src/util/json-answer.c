/* SPDX-License-Identifier: MIT */
#include "util/json-answer.h"

#include "util/json-text.h"

void json_il_append(GString *out, JsonIlMember member, const JsonIl *il)
{
        const int32_t number = member == JSON_IL_OFFSET ? il->offset : il->line_offset;

        if (member == JSON_IL_KIND)
                json_append_string(out, il->kind);
        else if (number >= 0)
                json_append_u64(out, (uint64_t)number);
        else
                json_append_string(out, NULL);
}

void json_invalid_append(GString *out, const char *address, const char *reason)
{
        g_string_append(out, "\"pid\":null,\"pid_ns\":null,\"addr\":");
        json_append_string(out, address);
        g_string_append(out, ",\"time\":null,\"status\":\"invalid\",\"reason\":");
        json_append_string(out, reason);
        g_string_append(out, ",\"confidence\":null,\"horizon\":null");
}
