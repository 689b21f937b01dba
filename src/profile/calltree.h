/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call tree: how many samples were in each path of calls; frames that are shown as one are merged.
 * In a comparison a node without samples has those before only.
 */

#include "profile/data.h"

#define CALL_NONE UINT32_MAX

/* The number of a node's samples that were in one of its frames. */
typedef struct CallVariant {
        uint32_t frame;
        uint32_t next; /* variant, or CALL_NONE */
        uint64_t total;
} CallVariant;

typedef struct CallNode {
        uint32_t parent;   /* smaller than the node; the root's is itself */
        uint32_t merged;   /* frame that stands for the variants; not for the root */
        uint32_t variants; /* the one with most samples first; CALL_NONE for the root */
        uint32_t child;    /* the one with most samples, or CALL_NONE */
        uint32_t sibling;  /* with fewer samples or a later name, or CALL_NONE */
        uint32_t depth;    /* the root's is 0, a thread name's 1 */
        uint64_t self;     /* samples that ended here */
        uint64_t total;    /* samples that were here or below */
} CallNode;

typedef struct CallCount {
        uint64_t self, total; /* as in CallNode */
} CallCount;

typedef struct CallTree {
        const Profile *profile; /* borrowed */
        GArray *nodes;          /* of CallNode; the first is the root */
        GArray *variants;       /* of CallVariant */
        GArray *before;         /* of CallCount, by node: the samples before; NULL: no comparison */
        uint32_t depth;         /* of the deepest node */
} CallTree;

/* MERGED as profile_merge_frames() makes it, or any other; borrowed for the call. */
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

/* The frame that most samples of the node were in. Not for the root. */
const Frame *call_node_frame(const CallTree *tree, uint32_t number);

/*
 * The next node of a walk over all: parents before children, siblings in order; without the
 * children of NUMBER if SKIP. CALL_NONE at the end.
 */
uint32_t call_tree_next(const CallTree *tree, uint32_t number, bool skip);
