/* SPDX-License-Identifier: MIT */
#include "client/daemon-path.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The daemon, as seen from the directories of the build tree that this code may be linked in. */
static const struct {
        const char *from, *to;
} PLACES[] = {
        {"/src/client", "/src/daemon/clrsymd"},
        {"/src/cli", "/src/daemon/clrsymd"},
        {"/plugins", "/src/daemon/clrsymd"},
        {"/plugins/perf", "/src/daemon/clrsymd"},
};

/*
 * Writes the directory of the file that this code was loaded from to PATH. False if it is not
 * known.
 */
static bool own_directory(char path[PATH_MAX])
{
        struct link_map *map;
        Dl_info info;
        char file[PATH_MAX], *slash;
        ssize_t n;

        if (!dladdr1((const void *)daemon_path, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
                return false;
        /* For the program itself dladdr() has the name that it was started with, not a path. */
        if (!*map->l_name) {
                n = readlink("/proc/self/exe", file, sizeof(file) - 1);
                if (n < 0)
                        return false;
                file[n] = '\0';
        }
        if (!realpath(*map->l_name ? map->l_name : file, path))
                return false;
        slash = strrchr(path, '/');
        if (slash)
                *slash = '\0';
        return slash != NULL;
}

char *daemon_path(void)
{
        const char *given = secure_getenv("CLRSYM_DAEMON");
        char directory[PATH_MAX], *path;
        size_t i, n;

        if (given && *given)
                return strdup(given);
        n = own_directory(directory) ? strlen(directory) : 0;
        for (i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
                size_t n_from = strlen(PLACES[i].from);

                if (n <= n_from || strcmp(directory + n - n_from, PLACES[i].from))
                        continue;
                if (asprintf(&path, "%.*s%s", (int)(n - n_from), directory, PLACES[i].to) < 0)
                        return NULL;
                if (access(path, X_OK) == 0)
                        return path;
                free(path);
        }
        return strdup(CLRSYM_DAEMON_PATH);
}
