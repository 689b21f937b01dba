/* SPDX-License-Identifier: MIT */
#include "doctor/mapped.h"

#include <string.h>

#define CORECLR  "libcoreclr.so"
#define PROVIDER "libcoreclrtraceptprovider.so"
#define MONO     "libmonosgen-2.0.so"
#define MUSL     "ld-musl-"

/* Behind a file that was replaced, or removed. */
#define DELETED " (deleted)"
/* Before the file: address, rights, offset, device and inode. */
#define N_COLUMNS 5

/* Where in the line the file's path begins; NULL: there is none. It may hold anything but '\n'. */
static const char *path_of(const char *line, const char *end)
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

static bool is_name(const char *name, const char *end, const char *wanted)
{
        return (size_t)(end - name) == strlen(wanted) && !memcmp(name, wanted, strlen(wanted));
}

/*
 * A path is as the process sees it if it is in a mount namespace of its own, but as we do if only
 * its root directory is another one.
 */
static char *directory_of(const char *path, const char *name, const char *root)
{
        size_t n = root ? strlen(root) : 0;
        g_autofree char *directory = NULL;
        g_auto(GStrv) lines = NULL;

        if (n > 1 && (size_t)(name - path) > n && !strncmp(path, root, n) && path[n] == '/')
                path += n;
        directory = name - path > 1 ? g_strndup(path, (gsize)(name - path) - 1) : g_strdup("/");
        /* The kernel writes an end of line in a name so. */
        lines = g_strsplit(directory, "\\012", -1);
        return g_strjoinv("\n", lines);
}

void mapped_read(const char *maps, const char *root, Mapped *ret_mapped)
{
        const char *line, *end, *behind, *path, *name;

        *ret_mapped = (Mapped){};
        for (line = maps; *line; line = *end ? end + 1 : end) {
                end = strchrnul(line, '\n');
                path = path_of(line, end);
                if (!path)
                        continue;
                behind = end;
                if ((size_t)(end - path) > strlen(DELETED) &&
                    !memcmp(end - strlen(DELETED), DELETED, strlen(DELETED)))
                        behind -= strlen(DELETED);
                for (name = behind; name[-1] != '/'; name--)
                        ;
                if (is_name(name, behind, CORECLR) && !ret_mapped->runtime)
                        ret_mapped->runtime = directory_of(path, name, root);
                ret_mapped->has_provider |= is_name(name, behind, PROVIDER);
                ret_mapped->has_mono |= is_name(name, behind, MONO);
                ret_mapped->has_musl |=
                        (size_t)(behind - name) > strlen(MUSL) && !memcmp(name, MUSL, strlen(MUSL));
        }
}

void mapped_clear(Mapped *mapped)
{
        g_clear_pointer(&mapped->runtime, g_free);
}
