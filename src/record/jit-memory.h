/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JitMemory: the memory in which runtimes have compiled code, kept beyond the end of their
 * processes
 *
 * .NET maps what it compiles twice, to write it and to execute it, from a file in memory ("memfd").
 * A descriptor of that file has the code also once the process has ended; so has a core file. With
 * DOTNET_EnableWriteXorExecute=0 there is no such file.
 *
 * A process that has ended is known by its number in its own pid namespace only, which is kept,
 * too.
 */

#include "moment/moment.h"
#include "util/process-key.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* So many processes are kept. Each takes a descriptor, and keeps its code in memory. */
#define JIT_MEMORY_MAX 256

typedef struct JitMemory JitMemory;

JitMemory *jit_memory_new(void);
/* NULL is fine. */
void jit_memory_free(JitMemory *memory);

/* Process PID has a runtime. Does nothing if its file is kept already, or is not to be had, or
 * MEMORY is NULL. */
void jit_memory_keep(JitMemory *memory, pid_t pid);
/* The core file FD, borrowed, has the memory of the process of MOMENT. */
void jit_memory_keep_core(JitMemory *memory, const Moment *moment, int fd);
/* Process PID as its events have it. PID_NS 0: its pid namespace is ours, or not known. MEMORY can
 * be NULL. */
ProcessKey jit_memory_key(const JitMemory *memory, pid_t pid);
/* Is the file of process PID kept? */
bool jit_memory_has(const JitMemory *memory, pid_t pid);
/* Copies the N bytes at OFFSET of the file of process PID. False: they are not there. */
bool jit_memory_read(const JitMemory *memory, pid_t pid, uint64_t offset, void *ret, size_t n);
