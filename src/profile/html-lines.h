/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * HTML lines: the hot lines of methods in a page, with their source
 */

#include "profile/data.h"
#include "profile/profile-file.h"

/*
 * Appends the members "hot" and "sources". FILES: the number of each file in the page's list, by
 * its text.
 *
 * hot: of each method [frame, source, line, self, total, line, self, total, ..]. sources: of each
 * [file, why there is no text or "", [first line, text, text, ..], ..].
 */
void html_lines_append(ProfileFile *out, const Profile *profile, GHashTable *files);
