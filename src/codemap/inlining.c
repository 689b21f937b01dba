/* SPDX-License-Identifier: MIT */
#include "codemap/inlining.h"

#include <glib.h>

struct Inlining {
        unsigned n_references;
        InlineTree *tree; /* owned */
        Str names[];      /* owned references, one for each node */
};

static size_t inlining_names_size(uint32_t n_nodes)
{
        return sizeof(Inlining) + n_nodes * sizeof(Str);
}

Inlining *inlining_new(InlineTree *tree)
{
        Inlining *inlining = g_malloc0(inlining_names_size(inline_tree_n_nodes(tree)));

        inlining->n_references = 1;
        inlining->tree = tree;
        return inlining;
}

Inlining *inlining_ref(Inlining *inlining)
{
        if (inlining)
                inlining->n_references++;
        return inlining;
}

void inlining_unref(Inlining *inlining, Strtab *names)
{
        uint32_t i;

        if (!inlining || --inlining->n_references)
                return;
        for (i = 0; i < inline_tree_n_nodes(inlining->tree); i++)
                strtab_unref(names, inlining->names[i]);
        inline_tree_free(inlining->tree);
        g_free(inlining);
}

size_t inlining_size(const Inlining *inlining)
{
        return inlining_names_size(inline_tree_n_nodes(inlining->tree)) +
               inline_tree_size(inlining->tree);
}

const InlineTree *inlining_tree(const Inlining *inlining)
{
        return inlining->tree;
}

Str inlining_name(const Inlining *inlining, uint32_t i)
{
        return inlining->names[i];
}

void inlining_set_name(Inlining *inlining, uint32_t i, Str name)
{
        inlining->names[i] = name;
}

bool inlining_name_method(Inlining *inlining, Strtab *names, uint64_t method_id, Str name)
{
        bool is_found = false;
        uint32_t i;

        /* Node 0 is the body's own method. */
        for (i = 1; i < inline_tree_n_nodes(inlining->tree); i++) {
                if (inlining->names[i] ||
                    inline_tree_node(inlining->tree, i).method_id != method_id)
                        continue;
                inlining->names[i] = strtab_ref(names, name);
                is_found = true;
        }
        return is_found;
}

uint32_t inlining_chain(const Inlining *inlining, uint32_t native_offset, bool knows_calls,
                        InlinedMethod ret[INLINING_MAX_DEPTH])
{
        uint32_t node, n = 0;
        int32_t il;

        if (!inline_tree_lookup(inlining->tree, native_offset, &node, &il))
                return 0;
        while (node && n < INLINING_MAX_DEPTH) {
                const InlineNode at = inline_tree_node(inlining->tree, node);

                ret[n++] = (InlinedMethod){.method = inlining->names[node], .il_offset = il};
                il = knows_calls ? (int32_t)at.call_il_offset : -1;
                node = at.parent;
        }
        return n;
}
