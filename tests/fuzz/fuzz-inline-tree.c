/* SPDX-License-Identifier: MIT */

/* What the runtime says of the methods inlined into one body: the block, all chunks joined. */

#include "codemap/inline-tree.h"
#include "fuzz.h"

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
        /* In memory it is not much larger than what was sent. */
        FUZZ_REQUIRE(inline_tree_size(tree) <= size + 64);
        inline_tree_free(tree);
        return 0;
}
