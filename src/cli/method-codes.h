/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MethodCodes: the machine code of the methods that the JIT compiled, for the unwinder
 *
 * The daemon gives begin and end of a method, the recording gives the memory of its runtime. That
 * memory is from the end of the recording, or a copy, so a method counts only if it was there then.
 * A recording of perf has no such memory: processes that still run have it.
 */

#include "clrsym/clrsym.h"
#include "record/jit-memory.h"
#include "unwind/method-finder.h"

/* Limit in bytes of code; code beyond it is not known. */
#define METHOD_CODES_MAX_BYTES (UINT64_C(64) << 20)
/* Limit of methods, and addresses without a method, per process; further ones are not known. */
#define METHOD_CODES_MAX_METHODS (1u << 15)

typedef struct MethodCodes MethodCodes;

/*
 * HANDLE and MEMORY are borrowed. Pids are of our own pid namespace. CLOCK_OFFSET: ns to add to
 * times of places for the daemon.
 */
MethodCodes *method_codes_new(clrsym *handle, const JitMemory *memory, int64_t clock_offset);
/* The same, with the memory of the processes that still run. */
MethodCodes *method_codes_new_of_running(clrsym *handle, int64_t clock_offset);
void method_codes_free(MethodCodes *codes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MethodCodes, method_codes_free)

/* DATA of the finder is CODES. */
MethodFinder method_codes_finder(MethodCodes *codes);
