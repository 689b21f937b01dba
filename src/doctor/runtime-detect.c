/* SPDX-License-Identifier: MIT */
#include "doctor/runtime-detect.h"

#include <string.h>

#define CORECLR  "libcoreclr.so"
#define PROVIDER "libcoreclrtraceptprovider.so"
#define MONO     "libmonosgen-2.0.so"
#define MUSL     "ld-musl-"

/* After the path of a file that was replaced or removed. */
#define DELETED " (deleted)"
/* Before the path: address, rights, offset, device and inode. */
#define N_COLUMNS 5

/* The path in a line, which may hold anything but '\n'; NULL: there is none. */
static const char *line_path(const char *line, const char *end)
{
        unsigned i;

        for (i = 0; i < N_COLUMNS; i++) {
                while (line < end && *line != ' ')
                        line++;
                while (line < end && *line == ' ')
                        line++;
        }
        return line < end && *line == '/' ? line : NULL;
}

static bool name_equals(const char *name, const char *end, const char *wanted)
{
        return (size_t)(end - name) == strlen(wanted) && !memcmp(name, wanted, strlen(wanted));
}

/*
 * The directory as the process sees it. The path is already so if the process is in a mount
 * namespace of its own; if only its root directory differs, the path begins with ROOT.
 */
static char *runtime_directory(const char *path, const char *name, const char *root)
{
        size_t n = root ? strlen(root) : 0;
        g_autofree char *directory = NULL;
        g_auto(GStrv) lines = NULL;

        if (n > 1 && (size_t)(name - path) > n && !strncmp(path, root, n) && path[n] == '/')
                path += n;
        directory = name - path > 1 ? g_strndup(path, (gsize)(name - path) - 1) : g_strdup("/");
        /* The kernel writes an end of line in a name as "\\012". */
        lines = g_strsplit(directory, "\\012", -1);
        return g_strjoinv("\n", lines);
}

void runtime_detect(const char *maps, const char *root, DetectedRuntime *ret_runtime)
{
        const char *line, *end, *name_end, *path, *name;

        *ret_runtime = (DetectedRuntime){};
        for (line = maps; *line; line = *end ? end + 1 : end) {
                end = strchrnul(line, '\n');
                path = line_path(line, end);
                if (!path)
                        continue;
                name_end = end;
                if ((size_t)(end - path) > strlen(DELETED) &&
                    !memcmp(end - strlen(DELETED), DELETED, strlen(DELETED)))
                        name_end -= strlen(DELETED);
                for (name = name_end; name[-1] != '/'; name--)
                        ;
                if (name_equals(name, name_end, CORECLR) && !ret_runtime->directory)
                        ret_runtime->directory = runtime_directory(path, name, root);
                ret_runtime->has_provider |= name_equals(name, name_end, PROVIDER);
                ret_runtime->has_mono |= name_equals(name, name_end, MONO);
                ret_runtime->has_musl |= (size_t)(name_end - name) > strlen(MUSL) &&
                                         !memcmp(name, MUSL, strlen(MUSL));
        }
}

void detected_runtime_clear(DetectedRuntime *runtime)
{
        g_clear_pointer(&runtime->directory, g_free);
}
