/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Remove tree: a directory with its contents
 */

/* Removes PATH and everything below it. Links are removed, and not followed. */
void remove_tree(const char *path);
