/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Culture: whether the code of a session finds the cultures that it needs in a target
 *
 * A session makes the target run managed code of its event sources, which asks for a culture. The
 * runtime then loads ICU, or aborts the process if ICU is missing, unless the program was started
 * in invariant mode, or has no event sources. A program that never asks for a culture runs well
 * without ICU until a session is opened.
 */

#include "attach/target.h"

#include <stdbool.h>

/* False with ERROR set if a session would probably abort TARGET. */
bool culture_check(const Target *target, GError **error);

/*
 * True if TEXT, N bytes that begin with a runtimeconfig.json, makes ICU unnecessary for sessions.
 * IS_NEVER_INVARIANT: the environment forbids invariant mode.
 */
bool culture_config_is_safe(const char *text, size_t n, bool is_never_invariant);
