/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Source text: the lines of a source, if it is the one that was compiled
 *
 * A profiled program decides which file that is. So nothing of a file is shown unless the program
 * knew its checksum, and nothing but a regular file is opened.
 */

#include <glib.h>
#include <stdint.h>

typedef enum SourceState {
        SOURCE_SHOWN,
        SOURCE_MISSING,    /* it is not there, or it cannot be read */
        SOURCE_CHANGED,    /* its checksum is not that of what was compiled */
        SOURCE_UNVERIFIED, /* the PDB has no checksum of it */
        SOURCE_LARGE,
        _SOURCE_STATE_MAX,
} SourceState;

/* Why there is no text, for people: static; "" for SOURCE_SHOWN. */
const char *source_state_text(SourceState state);

/* A longer file is not read. */
#define SOURCE_MAX_BYTES (4u << 20)

/*
 * The lines of the file, printable, without their ends: set with SOURCE_SHOWN, owned by the caller.
 * CHECKSUM: hexadecimal digits, 40 of SHA-1 or 64 of SHA-256; NULL: not known.
 */
SourceState source_text_read(const char *path, const char *checksum, GPtrArray **ret_lines);
