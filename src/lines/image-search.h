/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image search: finds candidates for the image of a module
 *
 * Candidates are at the module's path, in the program's file, and in the symbol directories.
 */

#include "lines/image-sources.h"

/*
 * Calls FN for each candidate until it returns true. PID: process that sees the path; 0: this
 * process. Does nothing if the process has used up its work.
 */
void image_search(ImageSources *sources, pid_t pid, const char *path, ImageFn fn, void *data);
