/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inline tree: the methods that the JIT inlined into one body, and which of them a native offset is
 * in
 *
 * The runtime describes it in one block, which JittedMethodRichDebugInfo carries in chunks. Where
 * an inlined method returns, the JIT often has no mapping that says so: what is found is
 * approximate.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger block is refused. That of the runtime's own largest methods is a few dozen KiB. */
#define INLINE_TREE_MAX_BYTES (16u << 20)

typedef struct InlineTree InlineTree;

/* Node 0 is the method that was compiled; each other one is a method inlined into its parent. */
typedef struct InlineNode {
        uint64_t method_id;
        /*
         * Where the parent calls it, as the runtime says. .NET 10 writes what happened to be in
         * memory: only the parent's IL shows whether a call is there.
         */
        uint32_t call_il_offset;
        uint32_t parent; /* 0 also of node 0 */
} InlineNode;

/*
 * From a whole block, all chunks joined; NULL if its N bytes are not exactly one tree and its
 * mappings. The tree keeps no reference to BYTES.
 */
InlineTree *inline_tree_new(const uint8_t *bytes, size_t n);
void inline_tree_free(InlineTree *tree);

uint32_t inline_tree_n_nodes(const InlineTree *tree); /* at least 1 */
/* NODE: less than inline_tree_n_nodes(). */
InlineNode inline_tree_node(const InlineTree *tree, uint32_t node);

/*
 * The innermost method at a native offset, and the IL offset in that method, which can be one of
 * IL_OFFSET_*. False if no mapping is at or before that offset.
 */
bool inline_tree_lookup(const InlineTree *tree, uint32_t native_offset, uint32_t *ret_node,
                        int32_t *ret_il_offset);

/* A block that the same tree can be made of again. Free it with g_free(). */
uint8_t *inline_tree_block(const InlineTree *tree, size_t *ret_n);
/* Bytes allocated. */
size_t inline_tree_size(const InlineTree *tree);
