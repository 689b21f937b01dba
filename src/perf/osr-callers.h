/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * OSR callers: the callers that frame pointers hide where a method was replaced on the stack
 *
 * A method with a long loop is replaced while it runs (tier OptimizedTier1OSR). On x86-64 the word
 * above the saved frame pointer of the new body is not a return address, but the *slot*: .NET 8 to
 * 10 have an address of the old body there, the call that replaced it, .NET 11 has the begin of the
 * new body. The frame pointer that is saved there is that of the caller, so whoever follows it
 * continues with the *next* frame, the caller of the caller:
 *
 *      low     new body's frame:  [rbp] = F, [rbp + 8] = slot
 *              old body's frame:  F again, then the true return address, in the caller
 *      high    caller's frame:    [F], [F + 8] = the next return address
 *
 * A copy of the stack has the true return address: the word after another F. Each row is one that
 * was found so. The rows are also what other samples of the same process know it by: those have the
 * slot and the next frame, but no copy of the stack.
 */

#include "perf/hash-index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The event of a recording by frame pointers whose samples have copies of stacks. Its samples are
 * not among those of the program.
 */
#define OSR_COPIES_EVENT "clrsym-stacks"

/* Does this machine hide callers so? On arm64 the runtime's source keeps the return address. */
#ifdef __x86_64__
enum { OSR_HIDES_CALLERS = true };
#else
enum { OSR_HIDES_CALLERS = false };
#endif

/* Does the machine of a recording? */
typedef enum OsrHiding {
        OSR_HIDING_AS_HERE, /* it is a machine like this one */
        OSR_HIDING,
        OSR_NOT_HIDING,
} OsrHiding;

/* The name of a frame whose caller is hidden so, and not known. */
#define OSR_CALLER_UNKNOWN "[caller unknown: OSR]"

typedef struct OsrCaller {
        uint64_t time;       /* of the sample, ns of perf's clock */
        uint64_t slot, next; /* the two words as the sample's chain has them */
        uint64_t caller;     /* the return address that was found */
        uint64_t frame;      /* address of the new body's frame */
        uint64_t distance;   /* bytes from there to the other F: for a new body, it is always the
                              * same */
        int32_t pid, tid;    /* of the sample */
} OsrCaller;

/* So many are kept: 56 MiB. */
#define OSR_CALLERS_MAX (1u << 20)

typedef struct OsrCallers {
        OsrCaller *rows; /* owned: by pid, slot, next, tid, time and caller */
        size_t n;
        OsrCaller *places; /* owned: by pid, slot, next and caller, each of these once */
        size_t n_places;
} OsrCallers;

/*
 * Takes N rows in any order; N is at most OSR_CALLERS_MAX. Memory that a method has not written yet
 * can have words of earlier calls: of several rows of a frame, only those with a distance that all
 * frames with this slot have are kept. False: no memory. To be deinitialized in both cases.
 */
bool osr_callers_init(OsrCallers *callers, const OsrCaller *rows, size_t n);
void osr_callers_deinit(OsrCallers *callers);

/* The callers of a chain's two words, each once, are at most so many; with more, none is certain.
 */
#define OSR_CALLERS_EACH 8

/*
 * Writes the callers that the sample KEY can have at its slot into RET, and returns their number:
 * its own ones, if it has a copy of the stack (RET_IS_OWN); else all of the process.
 */
size_t osr_callers_find(const OsrCallers *callers, const OsrCaller *key,
                        uint64_t ret[OSR_CALLERS_EACH], bool *ret_is_own);

/* Addresses that were seen as slots: wherever else one is, it is one. */
typedef struct OsrSlots {
        struct OsrSlot *rows; /* owned */
        uint32_t n;
        size_t n_rows;
        HashIndex index;
} OsrSlots;

/* False: no memory. */
bool osr_slots_add(OsrSlots *slots, int32_t pid, uint64_t slot);
bool osr_slots_have(const OsrSlots *slots, int32_t pid, uint64_t slot);
void osr_slots_deinit(OsrSlots *slots);
