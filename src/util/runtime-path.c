/* SPDX-License-Identifier: MIT */
#include "util/runtime-path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *runtime_variable(const char *name)
{
        const char *value = secure_getenv(name);

        return value && *value ? value : NULL;
}

const char *runtime_directory_own(void)
{
        const char *directory = runtime_variable("XDG_RUNTIME_DIR");
        struct stat st;

        return directory && stat(directory, &st) == 0 && st.st_uid == geteuid() ? directory : NULL;
}

char *runtime_path_own(const char *name)
{
        const char *directory = runtime_directory_own();
        char *path;

        if (!directory || asprintf(&path, "%s/clrsym/%s", directory, name) < 0)
                return NULL;
        return path;
}

/* The caller frees it; NULL: no memory. */
static char *runtime_path_system(const char *name)
{
        char *path;

        return asprintf(&path, RUNTIME_SYSTEM "/%s", name) < 0 ? NULL : path;
}

char *runtime_path_service(const char *name)
{
        char *own = geteuid() != 0 ? runtime_path_own(name) : NULL;

        return own ? own : runtime_path_system(name);
}

char *runtime_path_find(const char *variable, const char *name)
{
        const char *given = runtime_variable(variable);
        char *path;

        if (given)
                return strdup(given);
        path = runtime_path_own(name);
        if (path && access(path, F_OK) == 0)
                return path;
        free(path);
        return runtime_path_system(name);
}
