/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Folded stacks (perf/folded-text.h), read back: "comm;outermost;..;innermost 12" a line
 */

#include "profile/profile.h"

/* Decides by the file's name. */
bool perf_folded_is(const char *path);

/*
 * Adds the stacks of the file for a comparison, without the work of diagnostic sessions. Kinds of
 * frames are known if the file was written with --annotate; it has neither modules nor tiers. False
 * with ERROR set if the file cannot be read, or a line has another form.
 */
bool perf_folded_read(const char *path, bool is_before, Profile *profile, GError **error);
