/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Debugger threads: the threads of a process, as the debugger that has stopped them writes them
 *
 * A JSON array of objects: the number `tid`, the string `name`, which can be missing, and an object
 * `registers` with hexadecimal strings ("0x7f..") by their names in lower case. Of these rip and
 * rsp are needed.
 */

#include "moment/moment.h"

#include <stddef.h>

/* Bytes of the text, and threads in it, at most. */
#define DEBUGGER_THREADS_MAX_TEXT (32u << 20)
#define DEBUGGER_THREADS_MAX      32768u

/* Appends the threads of TEXT, of N bytes, to MOMENT, without stacks. False with ERROR set: the
 * text is none of threads. */
bool debugger_threads_read(Moment *moment, const char *text, size_t n, GError **error);
