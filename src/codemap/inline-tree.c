/* SPDX-License-Identifier: MIT */
#include "codemap/inline-tree.h"

#include "util/bytes.h"

#include <glib.h>
#include <string.h>

/* The runtime's block: the two counts, nodes, mappings; little-endian, without padding. */
enum {
        HEAD_SIZE = 8,
        NODE_SIZE = 20,    /* u64 method, u32 IL offset of the call, u32 first child, u32 sibling */
        MAPPING_SIZE = 13, /* u32 IL offset, u32 node, u32 native offset, u8 source */
};

typedef struct InlineMapping {
        uint32_t native;
        uint32_t node;
        int32_t il;
} InlineMapping;

struct InlineTree {
        uint32_t n_nodes;
        uint32_t n_mappings;
        InlineMapping *mappings; /* by native offset; after the nodes */
        InlineNode nodes[];
};

/*
 * Sets the parent of each child of PARENT. A child follows its parent and has no other parent, so
 * neither siblings nor parents form a cycle.
 */
static bool inline_tree_take_children(InlineTree *tree, const uint8_t *nodes, uint32_t parent)
{
        uint32_t child = bytes_u32(nodes + (size_t)parent * NODE_SIZE + 12);

        while (child) {
                if (child <= parent || child >= tree->n_nodes || tree->nodes[child].parent != child)
                        return false;
                tree->nodes[child].parent = parent;
                child = bytes_u32(nodes + (size_t)child * NODE_SIZE + 16);
        }
        return true;
}

/* False unless each node except the first has a parent. */
static bool inline_tree_take_nodes(InlineTree *tree, const uint8_t *nodes)
{
        uint32_t i;

        for (i = 0; i < tree->n_nodes; i++)
                tree->nodes[i] = (InlineNode){
                        .method_id = bytes_u64(nodes + (size_t)i * NODE_SIZE),
                        .call_il_offset = bytes_u32(nodes + (size_t)i * NODE_SIZE + 8),
                        .parent = i,
                };
        for (i = 0; i < tree->n_nodes; i++)
                /*
                 * A parent precedes its children: a node without a parent at its turn is in no list
                 * of children.
                 */
                if ((i > 0 && tree->nodes[i].parent == i) ||
                    !inline_tree_take_children(tree, nodes, i))
                        return false;
        return true;
}

static bool inline_tree_take_mappings(InlineTree *tree, const uint8_t *mappings)
{
        uint32_t i;

        for (i = 0; i < tree->n_mappings; i++) {
                const uint8_t *p = mappings + (size_t)i * MAPPING_SIZE;
                InlineMapping mapping = {
                        .il = (int32_t)bytes_u32(p),
                        .node = bytes_u32(p + 4),
                        .native = bytes_u32(p + 8),
                };

                if (mapping.node >= tree->n_nodes ||
                    (i > 0 && mapping.native < tree->mappings[i - 1].native))
                        return false;
                tree->mappings[i] = mapping;
        }
        return true;
}

InlineTree *inline_tree_new(const uint8_t *bytes, size_t n)
{
        uint32_t n_nodes, n_mappings;
        InlineTree *tree;

        if (n < HEAD_SIZE || n > INLINE_TREE_MAX_BYTES)
                return NULL;
        n_nodes = bytes_u32(bytes);
        n_mappings = bytes_u32(bytes + 4);
        if (n_nodes == 0 ||
            n - HEAD_SIZE != (uint64_t)n_nodes * NODE_SIZE + (uint64_t)n_mappings * MAPPING_SIZE)
                return NULL;
        tree = g_malloc(sizeof(*tree) + n_nodes * sizeof(InlineNode) +
                        n_mappings * sizeof(InlineMapping));
        tree->n_nodes = n_nodes;
        tree->n_mappings = n_mappings;
        tree->mappings = (InlineMapping *)(tree->nodes + n_nodes);
        if (inline_tree_take_nodes(tree, bytes + HEAD_SIZE) &&
            inline_tree_take_mappings(tree, bytes + HEAD_SIZE + (size_t)n_nodes * NODE_SIZE))
                return tree;
        g_free(tree);
        return NULL;
}

void inline_tree_free(InlineTree *tree)
{
        g_free(tree);
}

uint32_t inline_tree_n_nodes(const InlineTree *tree)
{
        return tree->n_nodes;
}

InlineNode inline_tree_node(const InlineTree *tree, uint32_t node)
{
        return tree->nodes[node];
}

bool inline_tree_lookup(const InlineTree *tree, uint32_t native_offset, uint32_t *ret_node,
                        int32_t *ret_il_offset)
{
        uint32_t begin = 0, end = tree->n_mappings;

        /* Mappings before BEGIN are at or before the offset; mappings from END on are after it. */
        while (begin < end) {
                uint32_t middle = begin + (end - begin) / 2;

                if (tree->mappings[middle].native <= native_offset)
                        begin = middle + 1;
                else
                        end = middle;
        }
        if (begin == 0)
                return false;
        *ret_node = tree->mappings[begin - 1].node;
        *ret_il_offset = tree->mappings[begin - 1].il;
        return true;
}

size_t inline_tree_size(const InlineTree *tree)
{
        return sizeof(*tree) + tree->n_nodes * sizeof(InlineNode) +
               tree->n_mappings * sizeof(InlineMapping);
}

/* Links a node's children as a list; each child is inserted at the front. */
static void inline_tree_write_node(const InlineTree *tree, uint8_t *nodes, uint32_t i)
{
        uint8_t *node = nodes + (size_t)i * NODE_SIZE;
        uint8_t *first = nodes + (size_t)tree->nodes[i].parent * NODE_SIZE + 12;

        bytes_put_u32(node, (uint32_t)tree->nodes[i].method_id);
        bytes_put_u32(node + 4, (uint32_t)(tree->nodes[i].method_id >> 32));
        bytes_put_u32(node + 8, tree->nodes[i].call_il_offset);
        if (i == 0)
                return;
        bytes_put_u32(node + 16, bytes_u32(first));
        bytes_put_u32(first, i);
}

uint8_t *inline_tree_block(const InlineTree *tree, size_t *ret_n)
{
        size_t n_nodes = (size_t)tree->n_nodes * NODE_SIZE;
        size_t n = HEAD_SIZE + n_nodes + (size_t)tree->n_mappings * MAPPING_SIZE;
        uint8_t *block = g_malloc0(n), *mapping = block + HEAD_SIZE + n_nodes;
        uint32_t i;

        bytes_put_u32(block, tree->n_nodes);
        bytes_put_u32(block + 4, tree->n_mappings);
        for (i = tree->n_nodes; i-- > 0;)
                inline_tree_write_node(tree, block + HEAD_SIZE, i);
        for (i = 0; i < tree->n_mappings; i++, mapping += MAPPING_SIZE) {
                bytes_put_u32(mapping, (uint32_t)tree->mappings[i].il);
                bytes_put_u32(mapping + 4, tree->mappings[i].node);
                bytes_put_u32(mapping + 8, tree->mappings[i].native);
        }
        *ret_n = n;
        return block;
}
