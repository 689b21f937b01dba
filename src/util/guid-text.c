/* SPDX-License-Identifier: MIT */
#include "util/guid-text.h"

#include "util/hex-text.h"

/* Where each byte of the text is in the GUID. */
static const uint8_t ORDER[GUID_SIZE] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static bool has_dash_before(unsigned i)
{
        return i == 4 || i == 6 || i == 8 || i == 10;
}

void guid_to_text(const uint8_t *guid, char ret_text[GUID_TEXT_SIZE])
{
        static const char HEX[] = "0123456789abcdef";
        unsigned i;

        for (i = 0; i < GUID_SIZE; i++) {
                uint8_t byte = guid[ORDER[i]];

                if (has_dash_before(i))
                        *ret_text++ = '-';
                *ret_text++ = HEX[byte >> 4];
                *ret_text++ = HEX[byte & 15];
        }
        *ret_text = '\0';
}

bool guid_from_text(const char *text, size_t n, uint8_t ret_guid[GUID_SIZE])
{
        unsigned i;

        if (n != GUID_TEXT_SIZE - 1)
                return false;
        for (i = 0; i < GUID_SIZE; i++) {
                int byte;

                if (has_dash_before(i) && *text++ != '-')
                        return false;
                byte = hex_byte(text);
                if (byte < 0)
                        return false;
                ret_guid[ORDER[i]] = (uint8_t)byte;
                text += 2;
        }
        return true;
}
