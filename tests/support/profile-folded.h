/* SPDX-License-Identifier: MIT */
#pragma once

/* Writes a profile as folded stacks, for tests that check its contents */

#include "profile/profile.h"

/* Writes to PATH, with any extension; "-": stdout. */
bool profile_write_folded(const Profile *profile, const char *path, bool annotate,
                          GError **reterr_error);
