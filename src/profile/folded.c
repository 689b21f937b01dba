/* SPDX-License-Identifier: MIT */

/*
 * Folded stacks: a line for each stack, as perf's filter prints them
 */

#include "perf/folded-text.h"
#include "profile/calltree.h"
#include "profile/writers.h"
#include "util/file-name.h"

#include <string.h>

static void folded_append_line(GString *text, const Frame *frame)
{
        g_string_append_printf(text, ":%s:%" G_GUINT32_FORMAT, file_name_of(frame->file),
                               frame->line);
}

static char *folded_name(const Frame *frame, bool annotate)
{
        static const NamedKind KINDS[] = {
                [FRAME_MANAGED] = NAMED_MANAGED, [FRAME_NATIVE] = NAMED_NATIVE,
                [FRAME_KERNEL] = NAMED_KERNEL,   [FRAME_UNKNOWN] = NAMED_UNKNOWN,
                [FRAME_SESSION] = NAMED_UNKNOWN, [FRAME_COMM] = NAMED_UNKNOWN,
        };
        g_autoptr(GString) text = g_string_new(NULL);

        frame_append_marked_name(text, frame);
        if (frame->file)
                folded_append_line(text, frame);
        if (annotate)
                g_string_append(text, folded_annotation(KINDS[frame->kind]));
        if (frame->kind == FRAME_COMM)
                folded_escape_comm(text->str);
        else
                folded_escape_frame(text->str);
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

void folded_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        g_autofree uint32_t *merged = g_new(uint32_t, profile->frames->len + 1);
        g_autoptr(GPtrArray) names = folded_names(profile, options->is_annotated, merged);
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
                        profile_file_flush(out);
                }
        }
}
