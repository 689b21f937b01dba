/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * OSR callers: the callers that frame pointers hide if the runtime has replaced a method on the
 * stack (OSR, tier OptimizedTier1OSR)
 *
 * OSR replaces a method with a long loop while it runs. On x86-64, the word above the new body's
 * saved frame pointer is the *slot*, and not a return address: in .NET 8 to 10 an address in the
 * old body, after the call that replaced it; in .NET 11 the begin of the new body. The saved frame
 * pointer is the caller's, so a walk by frame pointers skips the caller, and continues with the
 * *next* frame, the caller of the caller:
 *
 *      low     new body's frame:  [rbp] = F, [rbp + 8] = slot
 *              old body's frame:  F again, then the true return address, in the caller
 *      high    caller's frame:    [F], [F + 8] = the next return address
 *
 * A copy of the stack contains the true return address, in the word after another F. Each row is a
 * caller that was found so. Other samples of the process have no copy of the stack, but the slot
 * and the next frame: these find the rows that apply to them, too.
 */

#include "perf/hash-index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The event whose samples have copies of stacks, in a recording by frame pointers. They are not
 * samples of the program.
 */
#define OSR_COPIES_EVENT "clrsym-stacks"

/*
 * True if OSR hides callers on this machine. On arm64 the runtime's source keeps the return
 * address.
 */
#ifdef __x86_64__
enum { OSR_HIDES_CALLERS = true };
#else
enum { OSR_HIDES_CALLERS = false };
#endif

/* Whether OSR hides callers on the machine of a recording. */
typedef enum OsrHiding {
        OSR_HIDING_AS_HERE, /* as on this machine */
        OSR_HIDING,
        OSR_NOT_HIDING,
} OsrHiding;

/* The frame for an unknown caller that OSR hides. */
#define OSR_CALLER_UNKNOWN "[caller unknown: OSR]"

typedef struct OsrCaller {
        uint64_t time;       /* of the sample, ns of perf's clock */
        uint64_t slot, next; /* two adjacent addresses of the sample's chain */
        uint64_t caller;     /* the return address from the copy of the stack */
        uint64_t frame;      /* address of the new body's frame */
        uint64_t distance; /* bytes from FRAME to the other F; the same for all frames of a body */
        int32_t pid, tid;  /* of the sample */
} OsrCaller;

/* Limit of rows: 56 MiB. */
#define OSR_CALLERS_MAX (1u << 20)

typedef struct OsrCallers {
        OsrCaller *rows; /* owned: ordered by pid, slot, next, tid, time and caller */
        size_t n;
        OsrCaller *places; /* owned: distinct by pid, slot, next and caller, in this order */
        size_t n_places;
} OsrCallers;

/*
 * Takes N rows in any order; N is at most OSR_CALLERS_MAX. Stack memory that a method has not
 * written yet can contain words of earlier calls. Therefore, if a frame has several rows, only the
 * rows with a distance that occurs in all frames of the slot are kept. False: no memory.
 * Deinitialize CALLERS in both cases.
 */
bool osr_callers_init(OsrCallers *callers, const OsrCaller *rows, size_t n);
void osr_callers_deinit(OsrCallers *callers);

/* Limit of distinct callers for a slot and the next address; above it, none is returned. */
#define OSR_CALLERS_EACH 8

/*
 * Writes the possible callers at the slot of sample KEY to RET, and returns their number: the
 * sample's own ones if it has a copy of the stack (RET_IS_OWN), else those of the whole process.
 */
size_t osr_callers_find(const OsrCallers *callers, const OsrCaller *key,
                        uint64_t ret[OSR_CALLERS_EACH], bool *ret_is_own);

/* Addresses that were slots: such an address is a slot in every stack. */
typedef struct OsrSlots {
        struct OsrSlot *rows; /* owned */
        uint32_t n;
        size_t n_rows;
        HashIndex index;
} OsrSlots;

/* Adds an address. False: no memory. */
bool osr_slots_add(OsrSlots *slots, int32_t pid, uint64_t slot);
bool osr_slots_have(const OsrSlots *slots, int32_t pid, uint64_t slot);
void osr_slots_deinit(OsrSlots *slots);
