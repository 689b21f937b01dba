/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Core file: the threads of a process that the kernel, gdb's gcore or the runtime's createdump has
 * written to a file
 *
 * An ELF file with notes (registers, name, mapped files) and memory. The file may hold anything: no
 * length in it is believed, and memory is bounded by that of CORE_MAX_NOTES, CORE_MAX_SEGMENTS and
 * the stacks of a Moment. A core has no time and no names of threads: each gets the name of the
 * program.
 */

#include "moment/moment.h"

/* Bytes of the notes, and rows of the table of memory. */
#define CORE_MAX_NOTES    (64u << 20)
#define CORE_MAX_SEGMENTS (1u << 18)
#define CORE_MAX_THREADS  32768u
#define CORE_MAX_FILES    (1u << 18)
#define CORE_MAX_MAPPINGS (1u << 17)

/*
 * The moment that the core file FD, borrowed, has; without a time. NULL with ERROR set: it is no
 * core file of x86-64, or damaged; the message begins with "it ". Of a truncated file, what is
 * there counts, and a note says so.
 */
Moment *moment_of_core(int fd, GError **error);
