/* SPDX-License-Identifier: MIT */

/* The runtime's description of the methods inlined into one body: the block with all chunks
 * joined. */

#include "codemap/inline-tree.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static void check_node(const InlineTree *tree, uint32_t i)
{
        InlineNode node = inline_tree_node(tree, i);

        FUZZ_REQUIRE(i == 0 ? node.parent == 0 : node.parent < i);
}

static void check_lookup(const InlineTree *tree, uint32_t native)
{
        uint32_t node;
        int32_t il;

        if (inline_tree_lookup(tree, native, &node, &il))
                FUZZ_REQUIRE(node < inline_tree_n_nodes(tree));
}

/* A tree's own block gives the same tree. */
static void check_block(const InlineTree *tree)
{
        size_t n, n_again;
        uint8_t *block = inline_tree_block(tree, &n), *block_again;
        InlineTree *again = inline_tree_new(block, n);

        FUZZ_REQUIRE(again);
        block_again = inline_tree_block(again, &n_again);
        FUZZ_REQUIRE(n == n_again && memcmp(block, block_again, n) == 0);
        inline_tree_free(again);
        g_free(block);
        g_free(block_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        InlineTree *tree = inline_tree_new(data, size);
        uint32_t i;

        if (!tree)
                return 0;
        for (i = 0; i < inline_tree_n_nodes(tree); i++)
                check_node(tree, i);
        for (i = 0; i < 64; i++)
                check_lookup(tree, i);
        check_lookup(tree, UINT32_MAX);
        /* The tree in memory is not much larger than the block. */
        FUZZ_REQUIRE(inline_tree_size(tree) <= size + 64);
        check_block(tree);
        inline_tree_free(tree);
        return 0;
}
