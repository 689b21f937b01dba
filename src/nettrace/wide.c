/* SPDX-License-Identifier: MIT */
#include "nettrace/wide.h"

#include "event/decode.h"

bool nettrace_wide(NettraceCursor *cursor, GString *out)
{
        const uint8_t *begin = cursor->at;
        size_t n;

        while (nettrace_left(cursor) >= 2) {
                if (nettrace_u16(cursor))
                        continue;
                n = (size_t)(cursor->at - begin) / 2 - 1;
                g_string_set_size(out, 3 * n);
                g_string_set_size(out, utf16le_to_utf8(begin, n, (uint8_t *)out->str));
                return true;
        }
        cursor->is_short = true;
        return false;
}
