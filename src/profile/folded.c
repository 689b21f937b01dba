/* SPDX-License-Identifier: MIT */
#include "profile/calltree.h"
#include "profile/writers.h"

#include <string.h>

/*
 * Folded stacks: a line for each stack, "comm;outermost;..;innermost 12"
 *
 * Readers split a line at each semicolon, and take a number after the last space as the count; some
 * take a second number before it too, as the count of another recording. So no name has a
 * semicolon, or ends with a space and a number. Some leave out lines that begin with '#'.
 */

/* What readers like flamegraph.pl know kinds of frames by. */
static const char *const ANNOTATION[_FRAME_KIND_MAX + 1] = {
        [FRAME_MANAGED] = "_[j]",
        [FRAME_KERNEL] = "_[k]",
};

/* Where the number that ends TEXT begins, or its end. */
static size_t number_begin(const char *text, size_t n)
{
        while (n > 0 && (g_ascii_isdigit(text[n - 1]) || text[n - 1] == '.'))
                n--;
        return n;
}

static char *folded_name(const Frame *frame, bool annotate)
{
        g_autoptr(GString) text = g_string_new(NULL);
        size_t i, number;

        frame_append_name(text, frame);
        if (annotate && ANNOTATION[frame->kind])
                g_string_append(text, ANNOTATION[frame->kind]);
        for (i = 0; i < text->len; i++)
                if (text->str[i] == ';')
                        text->str[i] = ':';
        number = number_begin(text->str, text->len);
        for (i = number; i > 0 && number < text->len && text->str[i - 1] == ' '; i--)
                text->str[i - 1] = '_';
        for (i = text->len; i > 0 && text->str[i - 1] == ' '; i--)
                text->str[i - 1] = '_';
        for (i = 0; i < text->len && text->str[i] == ' '; i++)
                text->str[i] = '_';
        if (text->len && text->str[0] == '#' && frame->kind == FRAME_COMM)
                text->str[0] = '_';
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* The frames' names, and which frame is the first of that name. */
static GPtrArray *folded_names(const Profile *profile, bool annotate, uint32_t *merged)
{
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);
        uint32_t i;

        for (i = 0; i < profile->frames->len; i++) {
                char *name = folded_name(&g_array_index(profile->frames, Frame, i), annotate);
                gpointer known;

                g_ptr_array_add(names, name);
                if (g_hash_table_lookup_extended(first, name, NULL, &known)) {
                        merged[i] = GPOINTER_TO_UINT(known);
                } else {
                        merged[i] = i;
                        g_hash_table_insert(first, name, GUINT_TO_POINTER(i));
                }
        }
        return names;
}

void folded_write(const Profile *profile, const ProfileOptions *options, Out *out)
{
        g_autofree uint32_t *merged = g_new(uint32_t, profile->frames->len + 1);
        g_autoptr(GPtrArray) names = folded_names(profile, options->annotate, merged);
        g_autoptr(CallTree) tree = call_tree_new(profile, merged);
        g_autofree size_t *ends = g_new0(size_t, tree->depth + 1); /* of a path's first n names */
        g_autoptr(GString) path = g_string_new(NULL);
        uint32_t i;

        for (i = call_tree_next(tree, 0, false); i != CALL_NONE;
             i = call_tree_next(tree, i, false)) {
                const CallNode *node = call_node(tree, i);

                g_string_truncate(path, ends[node->depth - 1]);
                if (path->len)
                        g_string_append_c(path, ';');
                g_string_append(path, g_ptr_array_index(names, node->merged));
                ends[node->depth] = path->len;
                if (node->self) {
                        g_string_append_len(out->text, path->str, (gssize)path->len);
                        g_string_append_printf(out->text, " %" G_GUINT64_FORMAT "\n",
                                               (guint64)node->self);
                        out_flush(out);
                }
        }
}
