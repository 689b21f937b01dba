/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A profile as folded stacks, for tests that look into it: clrsym's own come from perf's filter
 */

#include "profile/profile.h"

/* Writes to PATH, "-" for stdout; frames' names as profile_merge_frames() leaves them apart. */
bool profile_write_folded(const Profile *profile, const char *path, bool annotate,
                          GError **reterr_error);
