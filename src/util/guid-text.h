/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * GUIDs as text: Data1-Data2-Data3-Data4, of which the first three are little-endian numbers
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        GUID_SIZE = 16,
        GUID_TEXT_SIZE = 37, /* with the NUL */
};

void guid_to_text(const uint8_t *guid, char ret_text[GUID_TEXT_SIZE]);
/* N characters of TEXT; false if they are not a GUID. */
bool guid_from_text(const char *text, size_t n, uint8_t ret_guid[GUID_SIZE]);
