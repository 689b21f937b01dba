/* SPDX-License-Identifier: MIT */
#include "profile/calltree.h"

#include <string.h>

static CallNode *node_at(CallTree *tree, uint32_t number)
{
        return &g_array_index(tree->nodes, CallNode, number);
}

static uint32_t node_new(CallTree *tree, uint32_t parent, uint32_t merged)
{
        const CallNode node = {
                .parent = parent,
                .merged = merged,
                .variants = CALL_NONE,
                .child = CALL_NONE,
                .sibling = CALL_NONE,
                .depth = tree->nodes->len ? node_at(tree, parent)->depth + 1 : 0,
        };

        g_array_append_val(tree->nodes, node);
        tree->depth = MAX(tree->depth, node.depth);
        return tree->nodes->len - 1;
}

static void variant_add(CallTree *tree, uint32_t number, uint32_t frame, uint64_t total)
{
        uint32_t i, *first = &node_at(tree, number)->variants;
        CallVariant variant = {.frame = frame, .next = *first, .total = total};

        for (i = *first; i != CALL_NONE; i = g_array_index(tree->variants, CallVariant, i).next) {
                CallVariant *known = &g_array_index(tree->variants, CallVariant, i);

                if (known->frame == frame) {
                        known->total += total;
                        return;
                }
        }
        *first = tree->variants->len;
        g_array_append_val(tree->variants, variant);
}

static bool variant_is_before(const CallVariant *a, const CallVariant *b)
{
        return a->total != b->total ? a->total > b->total : a->frame < b->frame;
}

/* Sorts by samples, the most first; at equal numbers by the first appearance of the frame. */
static void variants_order(CallTree *tree, CallNode *node)
{
        CallVariant *variants = (CallVariant *)(gpointer)tree->variants->data;
        uint32_t i, next, sorted = CALL_NONE;

        for (i = node->variants; i != CALL_NONE; i = next) {
                uint32_t *link = &sorted;

                next = variants[i].next;
                while (*link != CALL_NONE && variant_is_before(&variants[*link], &variants[i]))
                        link = &variants[*link].next;
                variants[i].next = *link;
                *link = i;
        }
        node->variants = sorted;
}

static int compare_children(gconstpointer a, gconstpointer b, gpointer data)
{
        const CallTree *tree = data;
        const CallNode *x = call_node(tree, *(const uint32_t *)a);
        const CallNode *y = call_node(tree, *(const uint32_t *)b);
        uint64_t x_before, y_before;
        int r;

        if (x->total != y->total)
                return x->total > y->total ? -1 : 1;
        x_before = call_node_before(tree, *(const uint32_t *)a).total;
        y_before = call_node_before(tree, *(const uint32_t *)b).total;
        if (x_before != y_before)
                return x_before > y_before ? -1 : 1;
        r = strcmp(g_array_index(tree->profile->frames, Frame, x->merged).name,
                   g_array_index(tree->profile->frames, Frame, y->merged).name);
        return r ? r : x->merged < y->merged ? -1 : 1;
}

/* Makes the list of each node's children, sorted. */
static void link_children(CallTree *tree)
{
        g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        uint32_t i;

        for (i = tree->nodes->len - 1; i > 0; i--) {
                CallNode *node = node_at(tree, i), *parent = node_at(tree, node->parent);

                node->sibling = parent->child;
                parent->child = i;
        }
        for (i = 0; i < tree->nodes->len; i++) {
                uint32_t child, *link = &node_at(tree, i)->child;
                guint j;

                g_array_set_size(children, 0);
                for (child = *link; child != CALL_NONE; child = node_at(tree, child)->sibling)
                        g_array_append_val(children, child);
                g_array_sort_with_data(children, compare_children, tree);
                for (j = 0; j < children->len; j++) {
                        *link = g_array_index(children, uint32_t, j);
                        link = &node_at(tree, *link)->sibling;
                }
                *link = CALL_NONE;
        }
}

/* The number of samples of each stack; the caller frees it. */
static CallCount *count_stacks(const Profile *profile, bool is_before)
{
        const StackNode *stacks = (const StackNode *)(gconstpointer)profile->nodes->data;
        uint32_t i, n_stacks = profile->nodes->len;
        CallCount *counts = g_new0(CallCount, n_stacks);

        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);

                if (sample->is_before == is_before)
                        counts[sample->node].self += sample->count;
        }
        /* Children have larger numbers. */
        for (i = n_stacks; i-- > 0;) {
                counts[i].total += counts[i].self;
                if (i != PROFILE_ROOT)
                        counts[stacks[i].parent].total += counts[i].total;
        }
        return counts;
}

static void tree_add_before(CallTree *tree, const uint32_t *node_of)
{
        g_autofree CallCount *counts = count_stacks(tree->profile, true);
        uint32_t i;

        tree->before = g_array_new(FALSE, TRUE, sizeof(CallCount));
        g_array_set_size(tree->before, tree->nodes->len);
        for (i = 0; i < tree->profile->nodes->len; i++) {
                CallCount *before = &g_array_index(tree->before, CallCount, node_of[i]);

                before->self += counts[i].self;
                before->total += counts[i].total;
        }
}

CallTree *call_tree_new(const Profile *profile, const uint32_t *merged)
{
        CallTree *tree = g_new(CallTree, 1);
        uint32_t i, n_stacks = profile->nodes->len;
        g_autofree CallCount *counts = count_stacks(profile, false);
        g_autofree uint32_t *node_of = g_new(uint32_t, n_stacks);
        PairIndex index;
        const StackNode *stacks = (const StackNode *)(gconstpointer)profile->nodes->data;

        *tree = (CallTree){
                .profile = profile,
                .nodes = g_array_new(FALSE, FALSE, sizeof(CallNode)),
                .variants = g_array_new(FALSE, FALSE, sizeof(CallVariant)),
        };
        pair_index_init(&index);
        node_of[PROFILE_ROOT] = node_new(tree, 0, 0);
        node_at(tree, 0)->total = counts[PROFILE_ROOT].total;
        for (i = 1; i < n_stacks; i++) {
                uint32_t parent = node_of[stacks[i].parent], frame = merged[stacks[i].frame];
                CallNode *node;

                /* Of physical stacks. */
                if (!counts[i].total && !profile->has_before)
                        continue;
                node_of[i] = pair_index_number(&index, parent, frame, tree->nodes->len);
                if (node_of[i] == tree->nodes->len)
                        node_new(tree, parent, frame);
                node = node_at(tree, node_of[i]);
                node->self += counts[i].self;
                node->total += counts[i].total;
                variant_add(tree, node_of[i], stacks[i].frame, counts[i].total);
        }
        pair_index_deinit(&index);
        if (profile->has_before)
                tree_add_before(tree, node_of);
        for (i = 1; i < tree->nodes->len; i++)
                variants_order(tree, node_at(tree, i));
        link_children(tree);
        return tree;
}

void call_tree_free(CallTree *tree)
{
        if (!tree)
                return;
        g_clear_pointer(&tree->before, g_array_unref);
        g_array_unref(tree->variants);
        g_array_unref(tree->nodes);
        g_free(tree);
}

const Frame *call_node_frame(const CallTree *tree, uint32_t number)
{
        uint32_t variant = call_node(tree, number)->variants;

        return &g_array_index(tree->profile->frames, Frame,
                              g_array_index(tree->variants, CallVariant, variant).frame);
}

uint32_t call_tree_next(const CallTree *tree, uint32_t number, bool skip)
{
        const CallNode *node = call_node(tree, number);

        if (!skip && node->child != CALL_NONE)
                return node->child;
        while (number) {
                if (node->sibling != CALL_NONE)
                        return node->sibling;
                number = node->parent;
                node = call_node(tree, number);
        }
        return CALL_NONE;
}
