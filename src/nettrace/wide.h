/* SPDX-License-Identifier: MIT */
#pragma once

/* Wide text: UTF-16LE with a NUL, in payloads and metadata */

#include "nettrace/cursor.h"

/* OUT gets the text as UTF-8. False: the NUL is missing; then the cursor is short. */
bool nettrace_wide(NettraceCursor *cursor, GString *out);
