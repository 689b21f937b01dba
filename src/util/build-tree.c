/* SPDX-License-Identifier: MIT */
#include "util/build-tree.h"

#include <glib.h>
#include <string.h>

char *build_tree_file(const char *file)
{
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *room = program ? g_path_get_dirname(program) : NULL;
        g_autofree char *sources = room ? g_path_get_dirname(room) : NULL;
        g_autofree char *root = sources ? g_path_get_dirname(sources) : NULL;
        g_autofree char *path = root ? g_build_filename(root, file, NULL) : NULL;

        /* Without this check, a directory of another user could be beside an installed program. */
        if (!sources || !g_str_has_suffix(sources, "/src"))
                return NULL;
        return g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}
