/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Narrow: makes a recording of the whole machine one of some processes
 *
 * perf's events of single threads cost a program time at each switch to another thread; events of
 * the machine do not. So the machine is recorded, and other processes are removed here.
 */

#include "unwind/process-scope.h"

#include <glib.h>

/* Writes the records of SCOPE's processes in the file at PATH to FD, an empty file. Also adds the
 * processes that these have started to SCOPE. */
bool perf_data_narrow(const char *path, int fd, ProcessScope *scope, GError **error);
