/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writers: a form each
 */

#include "profile/data.h"
#include "profile/out.h"

typedef void WriteProfile(const Profile *profile, const ProfileOptions *options, Out *out);

WriteProfile folded_write;
