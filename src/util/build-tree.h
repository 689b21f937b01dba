/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Build tree: the programs and libraries beside a program that was not installed
 */

/*
 * The path of FILE, such as "src/daemon/clrsymd", in the build tree that this program runs from:
 * the program is in src/ROOM there. Owned by the caller. NULL: the program runs from elsewhere, or
 * the file is not there.
 */
char *build_tree_file(const char *file);
