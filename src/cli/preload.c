/* SPDX-License-Identifier: MIT */
#include "cli/preload.h"

#include "attach/tracepoints.h"
#include "util/build-tree.h"
#include "util/fd.h"
#include "util/message.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libclrsym-tracepoints.so"

#define FRAMEWORK "shared/Microsoft.NETCore.App"

/* Where packages and scripts install .NET. */
static const char *const PLACES[] = {"/usr/share/dotnet", "/usr/lib/dotnet", "/usr/lib64/dotnet",
                                     "/usr/local/share/dotnet"};

static bool runtime_needs_library(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        return fd >= 0 && tracepoints_of_file(fd) == TRACEPOINTS_LOST;
}

static char *preload_find_runtime_in(const char *root)
{
        g_autofree char *framework = g_build_filename(root, FRAMEWORK, NULL);
        g_autoptr(GDir) versions = g_dir_open(framework, 0, NULL);
        const char *version;

        while (versions && (version = g_dir_read_name(versions))) {
                char *path = g_build_filename(framework, version, "libcoreclr.so", NULL);

                if (runtime_needs_library(path))
                        return path;
                g_free(path);
        }
        return NULL;
}

/* The directory of the program `dotnet`; NULL: there is none in $PATH. */
static char *preload_dotnet_root(void)
{
        g_autofree char *program = g_find_program_in_path("dotnet");
        g_autofree char *real = program ? realpath(program, NULL) : NULL;

        return real ? g_path_get_dirname(real) : NULL;
}

char *preload_find_runtime(void)
{
        g_autofree char *beside = preload_dotnet_root();
        const char *home = g_get_home_dir();
        g_autofree char *own = home ? g_build_filename(home, ".dotnet", NULL) : NULL;
        const char *const chosen[] = {g_getenv("DOTNET_ROOT"), beside, own};
        char *found = NULL;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(chosen) && !found; i++)
                found = chosen[i] && *chosen[i] ? preload_find_runtime_in(chosen[i]) : NULL;
        for (i = 0; i < G_N_ELEMENTS(PLACES) && !found; i++)
                found = preload_find_runtime_in(PLACES[i]);
        return found;
}

char *preload_library(void)
{
        char *built = build_tree_file("plugins/tracepoints/" LIBRARY);

        if (built)
                return built;
        return access(CLRSYM_TRACEPOINTS_DIR "/" LIBRARY, R_OK) == 0
                       ? g_strdup(CLRSYM_TRACEPOINTS_DIR "/" LIBRARY)
                       : NULL;
}

void preload_note(void)
{
        g_autofree char *runtime = preload_find_runtime(), *library = NULL;

        if (!runtime)
                return;
        library = preload_library();
        message_print("clrsym",
                      "%s has lost the table that connects its tracepoints: its programs emit no "
                      "events to LTTng without " LIBRARY " (clrsym-tracepoints(7)): %s; clrsym "
                      "attach and clrsym env --port need no LTTng",
                      runtime,
                      library ? "LD_PRELOAD, which clrsym env prints, loads it"
                              : "install the package clrsym-lttng");
}
