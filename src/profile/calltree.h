/* SPDX-License-Identifier: MIT */
#pragma once

/* Call tree: the number of samples in each path of calls; merged frames are one node. In a
 * comparison, a node without samples has only samples from before. */

#include "profile/data.h"

#define CALL_NONE UINT32_MAX

/* The number of a node's samples in one of its frames. */
typedef struct CallVariant {
        uint32_t frame;
        uint32_t next; /* variant, or CALL_NONE */
        uint64_t total;
} CallVariant;

typedef struct CallNode {
        uint32_t parent;   /* smaller than the node; the root's is itself */
        uint32_t merged;   /* the frame that represents the variants; not for the root */
        uint32_t variants; /* the variant with most samples; CALL_NONE for the root */
        uint32_t child;    /* the child with most samples, or CALL_NONE */
        uint32_t sibling;  /* with fewer samples, or a later name, or CALL_NONE */
        uint32_t depth;    /* the root's is 0, a thread name's 1 */
        uint64_t self;     /* samples that ended in the node */
        uint64_t total;    /* samples in the node or below */
} CallNode;

typedef struct CallCount {
        uint64_t self, total; /* as in CallNode */
} CallCount;

typedef struct CallTree {
        const Profile *profile; /* borrowed */
        GArray *nodes;          /* of CallNode; the first is the root */
        GArray *variants;       /* of CallVariant */
        GArray *before;         /* of CallCount, by node: the samples from before; NULL: no
                                 * comparison */
        uint32_t depth;         /* of the deepest node */
} CallTree;

/* MERGED: by profile_merge_frames(), or another map; borrowed for the call. */
CallTree *call_tree_new(const Profile *profile, const uint32_t *merged);
void call_tree_free(CallTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CallTree, call_tree_free)

static inline const CallNode *call_node(const CallTree *tree, uint32_t number)
{
        return &g_array_index(tree->nodes, CallNode, number);
}

static inline CallCount call_node_before(const CallTree *tree, uint32_t number)
{
        return tree->before ? g_array_index(tree->before, CallCount, number) : (CallCount){0};
}

/* The frame with most samples of the node. Not for the root. */
const Frame *call_node_frame(const CallTree *tree, uint32_t number);

/* The next node of a walk over all nodes: parents before children, siblings in order; with SKIP,
 * without the children of NUMBER. CALL_NONE at the end. */
uint32_t call_tree_next(const CallTree *tree, uint32_t number, bool skip);
