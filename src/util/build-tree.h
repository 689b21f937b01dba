/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Build tree: the programs and libraries beside a program that was not installed
 */

/*
 * The path of FILE, such as "src/daemon/clrsymd", in the build tree from which this program runs,
 * where the program is in src/ROOM. Owned by the caller. NULL: the program runs from elsewhere, or
 * the file is not there.
 */
char *build_tree_file(const char *file);
