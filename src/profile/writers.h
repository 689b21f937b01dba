/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writers of the profile's formats
 */

#include "profile/data.h"
#include "profile/profile-file.h"

/* The texts of OPTIONS are printable, and there is a title. */
typedef void WriteProfile(const Profile *profile, const ProfileOptions *options, ProfileFile *out);

WriteProfile folded_write;
WriteProfile speedscope_write;
WriteProfile pprof_write;
WriteProfile otlp_write;
WriteProfile firefox_write;
WriteProfile svg_write;
WriteProfile html_write;
