/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The N bytes of a build id in lower-case hexadecimal digits, as in names of files. Owned by the
 * caller. */
char *build_id_text(const uint8_t *id, size_t n);
