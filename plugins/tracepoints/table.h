/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Table: pointers to the tracepoints of the libcoreclr.so in this process
 *
 * Plain C, and nothing but libc: it is loaded into other programs. Nothing of the library is
 * believed that does not fit: then there is no table.
 */

#include <stddef.h>

/* How a tracepoint begins; each takes 56 bytes on 64 bits (lttng/tracepoint-types.h). */
typedef enum TableLayout {
        TABLE_NAME_FIRST, /* a pointer to "provider:event": lttng-ust to 2.12 */
        TABLE_SIZE_FIRST, /* uint32_t 56, then a pointer to "provider": from 2.13 on */
} TableLayout;

/*
 * The tracepoints in the section called SECTION, RET_N of them. NULL: there is no such section, or
 * there is one called POINTERS, so that the library registers them itself. The caller owns the
 * result.
 */
void **table_make(const char *section, const char *pointers, TableLayout layout, size_t *ret_n);
