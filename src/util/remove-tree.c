/* SPDX-License-Identifier: MIT */
#include "util/remove-tree.h"

#include <glib.h>
#include <glib/gstdio.h>

void remove_tree(const char *path)
{
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (g_unlink(below) < 0)
                        remove_tree(below);
        }
        g_rmdir(path);
}
