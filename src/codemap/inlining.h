/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inlining: the methods inlined into a body, and what they are called
 *
 * The tree has the ids of its methods only; their names follow one by one.
 */

#include "codemap/inline-tree.h"
#include "codemap/strtab.h"

/* The JIT inlines no deeper. A longer chain is cut: those next to the body's own method are
 * missing.
 */
#define INLINING_MAX_DEPTH 20u

typedef struct Inlining Inlining;

/* An inlined method at an address. */
typedef struct InlinedMethod {
        Str method; /* as clrsym-protocol(7) has it; 0: not known */
        /* In that method's IL: of the innermost one where the address is, of the others the call.
         * Negative: not known. */
        int32_t il_offset;
} InlinedMethod;

/* Takes over TREE. */
Inlining *inlining_new(InlineTree *tree);
Inlining *inlining_ref(Inlining *inlining);
/* NULL is fine. The last one frees it, and releases its names. */
void inlining_unref(Inlining *inlining, Strtab *names);
/* Bytes allocated. */
size_t inlining_size(const Inlining *inlining);

const InlineTree *inlining_tree(const Inlining *inlining);
/* The name of node I, or 0. */
Str inlining_name(const Inlining *inlining, uint32_t i);
/* Gives node I a name, whose reference is taken over. It has none yet. */
void inlining_set_name(Inlining *inlining, uint32_t i, Str name);
/*
 * Gives the name to all inlined methods with that id that have none: each with a reference of its
 * own. True if there is one.
 */
bool inlining_name_method(Inlining *inlining, Strtab *names, uint64_t method_id, Str name);

/*
 * The methods inlined at an offset of the body's native code, from the innermost one on, and how
 * many: 0 if the code there is the body's own method's. KNOWS_CALLS: the runtime says where the
 * calls are.
 */
uint32_t inlining_chain(const Inlining *inlining, uint32_t native_offset, bool knows_calls,
                        InlinedMethod ret[INLINING_MAX_DEPTH]);
