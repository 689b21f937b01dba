/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A recording of the whole machine becomes one of some processes
 *
 * perf's events of single threads cost a program time at each switch to another thread; those of
 * the machine do not. What was recorded of other processes is left out here.
 */

#include "unwind/process-scope.h"

#include <glib.h>

/* Writes what the file at PATH has of SCOPE's processes to FD, an empty file. SCOPE learns from it
 * what these processes have started. */
bool perf_data_narrow(const char *path, int fd, ProcessScope *scope, GError **error);
