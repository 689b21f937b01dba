/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Remove tree: a directory with its contents
 */

/* Removes PATH with what is below it. Links are removed, and not followed. */
void remove_tree(const char *path);
