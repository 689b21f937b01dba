/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Debugger threads: reads the threads of a stopped process, as a debugger writes them
 *
 * The text is a JSON array of objects: the number `tid`, the string `name`, which can be missing,
 * and the object `registers`, which maps the names of unwind/machine.c to hexadecimal strings
 * ("0x7f.."). The program counter and the stack pointer are required.
 */

#include "moment/moment.h"

#include <stddef.h>

/* Limits: bytes of the text, and threads. */
#define DEBUGGER_THREADS_MAX_TEXT (32u << 20)
#define DEBUGGER_THREADS_MAX      32768u

/*
 * Appends the threads of TEXT, of N bytes, to MOMENT, without stacks. False with ERROR set: TEXT is
 * not a list of threads.
 */
bool debugger_threads_read(Moment *moment, const char *text, size_t n, GError **error);
