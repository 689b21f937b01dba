/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Core file: the threads of a process in a core file of the kernel, gdb's gcore or the runtime's
 * createdump
 *
 * A core is an ELF file with notes (registers, name, mapped files) and memory. No length in it is
 * trusted. Memory is bounded by CORE_MAX_NOTES, CORE_MAX_SEGMENTS, and the stacks of a Moment. A
 * core has no time and no names of threads: each thread gets the name of the program.
 */

#include "moment/moment.h"

/* Limits: bytes of notes, memory segments, and threads. */
#define CORE_MAX_NOTES    (64u << 20)
#define CORE_MAX_SEGMENTS (1u << 18)
#define CORE_MAX_THREADS  32768u
#define CORE_MAX_FILES    (1u << 18)
#define CORE_MAX_MAPPINGS (1u << 17)

/*
 * The moment in the core file FD, borrowed; its time is not known. NULL with ERROR set: the file is
 * damaged, or a core of a machine without a row in unwind/machine.c; the message begins with "it ".
 * A truncated file gives the part that is there, and a note.
 */
Moment *moment_of_core(int fd, GError **error);
