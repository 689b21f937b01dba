/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Source text: the lines of a source that has not changed since it was compiled
 *
 * A profiled program chooses the file. So a file is shown only if its checksum is the one in the
 * PDB, and only regular files are opened.
 */

#include <glib.h>
#include <stdint.h>

typedef enum SourceState {
        SOURCE_SHOWN,
        SOURCE_MISSING,    /* the file is missing, or cannot be read */
        SOURCE_CHANGED,    /* its checksum differs from that in the PDB */
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
