/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inline tree: the methods that the JIT inlined into one body, by native offset
 *
 * The runtime describes the tree in one block, which JittedMethodRichDebugInfo carries in chunks.
 * The JIT often omits the mapping at the return of an inlined method: results are approximate.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Larger blocks are refused. The largest blocks of the runtime's own methods have a few dozen KiB.
 */
#define INLINE_TREE_MAX_BYTES (16u << 20)

typedef struct InlineTree InlineTree;

/* Node 0 is the compiled method; each other node is a method inlined into its parent. */
typedef struct InlineNode {
        uint64_t method_id;
        /*
         * The call's offset in the parent, as the runtime reports it. .NET 10 writes uninitialized
         * memory here: only the parent's IL shows whether a call is there.
         */
        uint32_t call_il_offset;
        uint32_t parent; /* 0 for node 0, too */
} InlineNode;

/*
 * Reads a whole block, all chunks joined; NULL unless its N bytes are exactly one tree with its
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

/* A block for inline_tree_new(), which gives the same tree again. Free it with g_free(). */
uint8_t *inline_tree_block(const InlineTree *tree, size_t *ret_n);
/* Bytes allocated. */
size_t inline_tree_size(const InlineTree *tree);
