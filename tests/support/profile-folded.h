/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A profile as folded stacks, for tests that look into it
 */

#include "profile/profile.h"

/* Writes to PATH, whatever its ending is; "-" for stdout. */
bool profile_write_folded(const Profile *profile, const char *path, bool annotate,
                          GError **reterr_error);
