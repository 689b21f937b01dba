/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The runtime's library beside the dotnet on PATH
 */

#include <glib.h>
#include <stdlib.h>

/* Its path, owned by the caller; NULL: none. */
static inline char *corelib_find(void)
{
        g_autofree char *program = g_find_program_in_path("dotnet");
        char *target = program ? realpath(program, NULL) : NULL;
        g_autofree char *root = target ? g_path_get_dirname(target) : NULL;
        g_autofree char *shared =
                root ? g_build_filename(root, "shared", "Microsoft.NETCore.App", NULL) : NULL;
        g_autoptr(GDir) directory = shared ? g_dir_open(shared, 0, NULL) : NULL;
        const char *version = directory ? g_dir_read_name(directory) : NULL;

        free(target);
        return version ? g_build_filename(shared, version, "System.Private.CoreLib.dll", NULL)
                       : NULL;
}
