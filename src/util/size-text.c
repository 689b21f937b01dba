/* SPDX-License-Identifier: MIT */
#include "util/size-text.h"

#include <glib.h>
#include <string.h>

static const char UNITS[] = "KMGT";

bool size_from_text(const char *text, uint64_t *ret_bytes)
{
        uint64_t bytes = 0;
        const char *at, *unit;

        for (at = text; g_ascii_isdigit(*at); at++)
                if (__builtin_mul_overflow(bytes, 10, &bytes) ||
                    __builtin_add_overflow(bytes, (uint64_t)(*at - '0'), &bytes))
                        return false;
        if (at == text || bytes == 0)
                return false;
        if (*at) {
                unit = strchr(UNITS, g_ascii_toupper(*at));
                if (!unit || at[1] ||
                    __builtin_mul_overflow(bytes, UINT64_C(1) << (10 * (unit - UNITS + 1)), &bytes))
                        return false;
        }
        *ret_bytes = bytes;
        return true;
}

char *size_to_text(uint64_t bytes)
{
        g_autofree char *text = g_format_size_full(bytes, G_FORMAT_SIZE_IEC_UNITS);
        g_auto(GStrv) words = g_strsplit(text, "\302\240", -1); /* a space that does not break */

        return g_strjoinv(" ", words);
}
