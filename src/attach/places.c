/* SPDX-License-Identifier: MIT */
#include "attach/places.h"

#include "attach/error.h"

#include <string.h>
#include <unistd.h>

#define SYSTEM_DIRECTORY "/run/clrsym/holder"
#define SYSTEM_INGEST    "/run/clrsym/ingest"

/* From the build tree's directory of the program that asks. */
#define BUILT_CALLER "/src/cli"
#define BUILT_HOLDER "/src/attach/clrsym-holder"

char *places_control(const char *directory)
{
        return g_build_filename(directory, "control", NULL);
}

static const char *variable(const char *name)
{
        const char *value = g_getenv(name);

        return value && *value ? value : NULL;
}

char *places_own(GError **error)
{
        const char *given = variable("CLRSYM_HOLDER"), *runtime = variable("XDG_RUNTIME_DIR");

        if (given)
                return g_strdup(given);
        if (geteuid() == 0)
                return g_strdup(SYSTEM_DIRECTORY);
        if (runtime)
                return g_build_filename(runtime, "clrsym", "holder", NULL);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                    "no place for the process that holds the attachments: set XDG_RUNTIME_DIR, as "
                    "a login does, or run clrsym as root");
        return NULL;
}

char *places_to_ask(GError **error)
{
        g_autofree char *own = places_own(NULL), *control = own ? places_control(own) : NULL;

        /* One's own goes before: it may hold what root's does not know of. */
        if (control && (variable("CLRSYM_HOLDER") || access(control, F_OK) == 0))
                return g_steal_pointer(&own);
        if (access(SYSTEM_DIRECTORY "/control", F_OK) == 0)
                return g_strdup(SYSTEM_DIRECTORY);
        return places_own(error);
}

char *places_ingest(void)
{
        const char *given = variable("CLRSYM_INGEST"), *runtime = variable("XDG_RUNTIME_DIR");

        if (given)
                return g_strdup(given);
        if (runtime) {
                g_autofree char *path = g_build_filename(runtime, "clrsym", "ingest", NULL);

                if (access(path, F_OK) == 0)
                        return g_steal_pointer(&path);
        }
        return g_strdup(SYSTEM_INGEST);
}

char *places_program(void)
{
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = self ? g_path_get_dirname(self) : NULL;

        if (directory && g_str_has_suffix(directory, BUILT_CALLER)) {
                g_autofree char *built =
                        g_strdup_printf("%.*s" BUILT_HOLDER,
                                        (int)(strlen(directory) - strlen(BUILT_CALLER)), directory);

                if (access(built, X_OK) == 0)
                        return g_steal_pointer(&built);
        }
        return g_strdup(CLRSYM_HOLDER_PATH);
}
