/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inlining: the methods inlined into a body, with their names
 *
 * The tree has only the ids of its methods; the names come one by one.
 */

#include "codemap/inline-tree.h"
#include "codemap/strtab.h"

/*
 * The JIT inlines no deeper. A longer chain is cut: the methods next to the body's own method are
 * missing.
 */
#define INLINING_MAX_DEPTH 20u

typedef struct Inlining Inlining;

/* An inlined method at an address. */
typedef struct InlinedMethod {
        Str method; /* in the notation of clrsym-protocol(7); 0: not known */
        /*
         * In that method's IL: the address, for the innermost method; the call, for the others.
         * Negative: not known.
         */
        int32_t il_offset;
} InlinedMethod;

/* Takes over TREE. */
Inlining *inlining_new(InlineTree *tree);
Inlining *inlining_ref(Inlining *inlining);
/* NULL is accepted. The last unref frees the inlining and releases its names. */
void inlining_unref(Inlining *inlining, Strtab *names);
/* Bytes allocated. */
size_t inlining_size(const Inlining *inlining);

const InlineTree *inlining_tree(const Inlining *inlining);
/* The name of node I, or 0. */
Str inlining_name(const Inlining *inlining, uint32_t i);
/* Names node I, which has no name yet; takes over the reference. */
void inlining_set_name(Inlining *inlining, uint32_t i, Str name);
/*
 * Names all inlined methods with that id that have no name, each with a reference of its own. True
 * if at least one was named.
 */
bool inlining_name_method(Inlining *inlining, Strtab *names, uint64_t method_id, Str name);

/*
 * The methods inlined at a native offset of the body, innermost first. Returns their number, 0 if
 * the code there is the body's own method's. KNOWS_CALLS: the runtime reports the offsets of calls.
 */
uint32_t inlining_chain(const Inlining *inlining, uint32_t native_offset, bool knows_calls,
                        InlinedMethod ret[INLINING_MAX_DEPTH]);
