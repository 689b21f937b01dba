/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON answer: the members of an answer that both the daemon and the command line write
 *
 * The daemon does not read images, so the command line adds the IL offsets of precompiled code; and
 * it finds some questions malformed that it then does not ask.
 */

#include <glib.h>
#include <stdint.h>

/* Which IL offset an address has. */
typedef struct JsonIl {
        const char *kind;    /* "exact", as clrsym_il_kind_name() spells it; NULL: not known */
        int32_t offset;      /* -1: not known, or not exact */
        int32_t line_offset; /* whose source line counts; -1: not known */
} JsonIl;

typedef enum JsonIlMember {
        JSON_IL_OFFSET,      /* "il_offset" */
        JSON_IL_KIND,        /* "il_kind" */
        JSON_IL_LINE_OFFSET, /* "line_il_offset" */
        _JSON_IL_MEMBER_MAX,
} JsonIlMember;

/* Appends the value of MEMBER; null where IL has none. */
void json_il_append(GString *out, JsonIlMember member, const JsonIl *il);
/*
 * Appends the members of the answer to a malformed question: its address as it was given, and the
 * reason. The daemon's answers have an epoch after these.
 */
void json_invalid_append(GString *out, const char *address, const char *reason);
