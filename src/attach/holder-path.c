/* SPDX-License-Identifier: MIT */
#include "attach/holder-path.h"

#include "attach/error.h"
#include "util/build-tree.h"
#include "util/runtime-path.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define NAME    "holder"
#define SYSTEM  RUNTIME_SYSTEM "/" NAME
#define CONTROL "control"

char *holder_path_control(const char *directory)
{
        return g_build_filename(directory, CONTROL, NULL);
}

char *holder_path_own(GError **error)
{
        const char *given = runtime_variable("CLRSYM_HOLDER");
        g_autofree char *own = NULL;

        if (given)
                return g_strdup(given);
        if (geteuid() == 0)
                return g_strdup(SYSTEM);
        own = runtime_path_own(NAME);
        if (!own)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "there is no directory for the process that holds the attachments: set "
                            "XDG_RUNTIME_DIR, as a login does, or run clrsym as root");
        return g_steal_pointer(&own);
}

/* Root's holder feeds the system's daemon only. */
static bool holder_path_suits_daemon(void)
{
        g_autofree char *ingest = runtime_path_find("CLRSYM_INGEST", RUNTIME_INGEST);

        return !g_strcmp0(ingest, RUNTIME_SYSTEM "/" RUNTIME_INGEST);
}

char *holder_path_to_ask(GError **error)
{
        g_autofree char *own = holder_path_own(NULL),
                        *control = own ? holder_path_control(own) : NULL;

        /* The user's own holder comes first: it may hold processes that root's does not. */
        if (control && (runtime_variable("CLRSYM_HOLDER") || access(control, F_OK) == 0))
                return g_steal_pointer(&own);
        if ((!own || holder_path_suits_daemon()) && access(SYSTEM "/" CONTROL, F_OK) == 0)
                return g_strdup(SYSTEM);
        return holder_path_own(error);
}

char *holder_path_program(void)
{
        char *built = build_tree_file("src/attach/clrsym-holder");

        return built ? built : g_strdup(CLRSYM_HOLDER_PATH);
}
