/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Wide text: UTF-16LE with a NUL, as payloads and metadata have it
 */

#include "nettrace/cursor.h"

/* OUT gets the text as UTF-8. False: it has no NUL; then the cursor is short. */
bool nettrace_wide(NettraceCursor *cursor, GString *out);
