/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image search: the files that may be the image of a module
 *
 * They are looked for where the module was, in the program's own file, and in the symbol
 * directories.
 */

#include "lines/image-sources.h"

/*
 * Calls FN for each candidate until it is true. PID: paths are those that this process sees; 0:
 * those that we see. Nothing is looked for if the process has cost too much.
 */
void image_search(ImageSources *sources, pid_t pid, const char *path, ImageFn fn, void *data);
