/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "cli/verbs.h"

#include <string.h>

static const struct {
        const char *name;
        const char *value;
} VARIABLES[] = {
        {"DOTNET_LTTng", "1"},
        {"DOTNET_EnableEventLog", "1"},
        /* Matches no event source: else the runtime's own listener switches every event on. */
        {"DOTNET_EventSourceFilter", "none"},
        /* Loader, JIT, NGEN, methods at the end of their module, IL maps, precompiled code. */
        {"DOTNET_LTTngConfig", "Microsoft-Windows-DotNETRuntime:20000220B8:5"},
};

static const struct {
        const char *name;
        const char *before, *between, *after; /* around the variable and its value */
        const char *end;                      /* after the last variable, instead of AFTER */
} FORMS[] = {
        {"sh", "export ", "='", "'\n", "'\n"},
        {"env", "", "=", "\n", "\n"},
        {"systemd", "Environment=", "=", "\n", "\n"},
        {"docker", "-e ", "=", " ", "\n"},
};

bool verb_env(const Options *options, GError **error)
{
        const char *wanted = options->format ? options->format : FORMS[0].name;
        size_t form = 0, i;

        while (form < G_N_ELEMENTS(FORMS) && strcmp(FORMS[form].name, wanted))
                form++;
        if (form == G_N_ELEMENTS(FORMS)) {
                g_set_error(error, g_quark_from_static_string("clrsym-env"), 0,
                            "--format %s: not one of sh, env, systemd, docker", wanted);
                return false;
        }
        for (i = 0; i < G_N_ELEMENTS(VARIABLES); i++)
                output_print("%s%s%s%s%s", FORMS[form].before, VARIABLES[i].name,
                             FORMS[form].between, VARIABLES[i].value,
                             i + 1 < G_N_ELEMENTS(VARIABLES) ? FORMS[form].after : FORMS[form].end);
        return true;
}
