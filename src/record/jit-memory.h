/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JitMemory: the memory with jitted code of runtimes, kept after their processes have ended
 *
 * .NET maps compiled code twice, to write it and to execute it, from a file in memory ("memfd"). A
 * descriptor of that file still has the code when the process has ended, as a core file has. With
 * DOTNET_EnableWriteXorExecute=0 there is no such file: the code is copied while the process runs.
 *
 * A process that has ended is only known by its pid in its own pid namespace, which is kept, too.
 */

#include "moment/moment.h"
#include "util/process-key.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum of processes whose code is kept. Each needs a descriptor, which keeps the code in memory.
 */
#define JIT_MEMORY_MAX 256

typedef struct JitMemory JitMemory;

/* ns of perf's clock: when a copy was made; 0, 0: no copy, but the memory itself. */
typedef struct JitMemorySpan {
        uint64_t begin, end;
} JitMemorySpan;

JitMemory *jit_memory_new(void);
/* NULL is fine. */
void jit_memory_free(JitMemory *memory);

/* Process PID has a runtime. Does nothing if its file is kept already, or MEMORY is NULL. */
void jit_memory_keep(JitMemory *memory, pid_t pid);
/* The same for a recorded process, which had code at ADDRESS at TIME, ns of perf's clock. If it has
 * no file, its code is copied once. If it does not run any more, its code is lost. */
void jit_memory_keep_recorded(JitMemory *memory, pid_t pid, uint64_t address, uint64_t time);
/* Copies the code of processes without a file, if the last copy is not new; IS_LAST: each. */
void jit_memory_copy(JitMemory *memory, bool is_last);
/* The memory as it is now, for another thread; owned by the caller. MEMORY forgets the processes
 * that have ended. */
JitMemory *jit_memory_part(JitMemory *memory);
/* FD, borrowed, has the code of MOMENT: the core file, or the memory of the process. */
void jit_memory_keep_code(JitMemory *memory, const Moment *moment, int fd);
/* Process PID as its events have it. PID_NS 0: its pid namespace is ours, or not known. MEMORY can
 * be NULL. */
ProcessKey jit_memory_key(const JitMemory *memory, pid_t pid);
/* True if the code of process PID is kept. */
bool jit_memory_has(const JitMemory *memory, pid_t pid);
/* True if process PID has a runtime, and its code could not be kept. */
bool jit_memory_is_lost(const JitMemory *memory, pid_t pid);
JitMemorySpan jit_memory_span(const JitMemory *memory, pid_t pid);
/* Copies the N bytes at OFFSET of the file of process PID, or of its address space. False: missing.
 */
bool jit_memory_read(const JitMemory *memory, pid_t pid, uint64_t offset, void *ret, size_t n);
