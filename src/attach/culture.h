/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Culture: whether the code that a session runs in a target finds the cultures that it needs
 *
 * Opening a session has the target run managed code of its event sources, which asks for a culture.
 * The runtime loads ICU then, or aborts the process if there is none; unless the program was
 * started in invariant mode, or has no event sources. A program that never asks for a culture runs
 * well without either, until a session is opened.
 */

#include "attach/target.h"

#include <stdbool.h>

/* False with ERROR set: a session would abort TARGET, as far as that shows. */
bool culture_check(const Target *target, GError **error);

/*
 * Does TEXT, N bytes that begin with a runtimeconfig.json, say that no session needs ICU? With
 * IS_NEVER_INVARIANT, the environment forbids invariant mode.
 */
bool culture_config_is_safe(const char *text, size_t n, bool is_never_invariant);
