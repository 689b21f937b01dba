/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writers: a form each
 */

#include "profile/data.h"
#include "profile/out.h"

/* The texts of OPTIONS are printable, and it has a title. */
typedef void WriteProfile(const Profile *profile, const ProfileOptions *options, Out *out);

WriteProfile folded_write;
WriteProfile speedscope_write;
WriteProfile pprof_write;
WriteProfile svg_write;
WriteProfile html_write;
