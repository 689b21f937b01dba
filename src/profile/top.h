/* SPDX-License-Identifier: MIT */
#pragma once

/* Top: the frames and owners with most samples, as a table for a terminal */

#include "profile/profile.h"

/*
 * Appends the shares of managed code, of the JIT, of the garbage collector and of the kernel; then
 * tables of N_ROWS: the frames with most samples of their own, and the managed methods with most
 * samples in them and their callees, all of them and those of your code (your-code.h). No line is
 * longer than WIDTH columns.
 */
void top_append(GString *out, const Profile *profile, const char *event, unsigned n_rows,
                unsigned width);
