/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Table: pointers to the tracepoints of this process's libcoreclr.so
 *
 * Plain C with libc only, because other programs load it. The library's data is checked: if
 * anything does not fit, there is no table.
 */

#include <stddef.h>

/* The begin of a tracepoint, whose size is 56 bytes on 64 bits (lttng/tracepoint-types.h). */
typedef enum TableLayout {
        TABLE_NAME_FIRST, /* a pointer to "provider:event": lttng-ust to 2.12 */
        TABLE_SIZE_FIRST, /* uint32_t 56, then a pointer to "provider": since 2.13 */
} TableLayout;

/*
 * Finds the RET_N tracepoints in the section SECTION. NULL: no such section; or a section POINTERS
 * exists, so the library registers them itself. The caller owns the result.
 */
void **table_make(const char *section, const char *pointers, TableLayout layout, size_t *ret_n);
