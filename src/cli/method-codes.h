/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MethodCodes: the machine code of the methods that the JIT compiled, for the unwinder
 *
 * The daemon has where a method begins and ends, the recording has the memory of its runtime. As
 * that memory is what the recording's end left, a method counts only if it is still there.
 */

#include "clrsym/clrsym.h"
#include "record/jit-memory.h"
#include "unwind/method-finder.h"

/* Bytes of code that are kept; what comes later is not known. */
#define METHOD_CODES_MAX_BYTES (UINT64_C(64) << 20)
/* Methods, and addresses without one, that are remembered of a process; the same. */
#define METHOD_CODES_MAX_METHODS (1u << 15)

typedef struct MethodCodes MethodCodes;

/*
 * Both are borrowed. Processes are those that their pid means in our pid namespace. CLOCK_OFFSET:
 * ns to add to times of places for the daemon.
 */
MethodCodes *method_codes_new(clrsym *handle, const JitMemory *memory, int64_t clock_offset);
void method_codes_free(MethodCodes *codes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MethodCodes, method_codes_free)

/* DATA of the finder is CODES. */
MethodFinder method_codes_finder(MethodCodes *codes);
