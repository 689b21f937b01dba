/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Folded stacks (perf/folded-text.h), read back: "comm;outermost;..;innermost 12" a line
 */

#include "profile/profile.h"

/* By its name. */
bool perf_folded_is(const char *path);

/*
 * Adds what is in the file, without the work of diagnostic sessions: it is to be compared. Kinds of
 * frames are known if it was written with --annotate; modules and tiers are not in it. False with
 * ERROR set: it cannot be read, or a line is not of that form.
 */
bool perf_folded_read(const char *path, bool is_before, Profile *profile, GError **error);
