/* SPDX-License-Identifier: MIT */
#include "attach/holder-client.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/preload.h"
#include "cli/verbs.h"

#include <string.h>

/* For errors that end the program with a message. */
#define ENV_ERROR (g_quark_from_static_string("clrsym-env"))

typedef struct Variable {
        const char *name;
        const char *value;
} Variable;

/* Matches no event source; without a filter, the runtime's own listener enables all events. */
#define NO_EVENT_SOURCE "none"
/* Loader, JIT, NGEN, methods at the end of their module, interop, IL maps, types, precompiled code,
 * details of methods. */
#define LTTNG_CONFIG "Microsoft-Windows-DotNETRuntime:60000A20B8:5"
/* Inline trees have their own provider and keyword. */
#define LTTNG_INLINES ",Microsoft-Windows-DotNETRuntimePrivate:40000:5"

#define PORT_VARIABLE "DOTNET_DiagnosticPorts"
/* The runtime reads the variable once, at its start. */
#define INLINES_VARIABLE                                                                           \
        {                                                                                          \
                "DOTNET_RichDebugInfo", "1"                                                        \
        }

typedef struct EnvForm {
        const char *name;
        const char *before, *between, *after; /* text around the variable and its value */
        const char *end;                      /* text after the last variable, instead of AFTER */
} EnvForm;

static const EnvForm FORMS[] = {
        {"sh", "export ", "='", "'\n", "'\n"},
        {"env", "", "=", "\n", "\n"},
        {"systemd", "Environment=", "=", "\n", "\n"},
        {"docker", "-e ", "=", " ", "\n"},
};

static void env_print(const EnvForm *form, const Variable *variables, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++)
                output_print("%s%s%s%s%s", form->before, variables[i].name, form->between,
                             variables[i].value, i + 1 < n ? form->after : form->end);
}

/* Checks the holder, because a program that starts with the variable waits for one. */
static bool env_print_port(const EnvForm *form, bool starts_at_once, bool has_inlines,
                           GError **error)
{
        const Request request = {.verb = REQUEST_PORT};
        g_autofree char *value = NULL;
        Variable variables[2] = {{PORT_VARIABLE, NULL}, INLINES_VARIABLE};
        json_auto_t *answer = NULL;
        const char *path;
        int fd = holder_client_ask(&request, true, error);

        if (fd >= 0)
                answer = holder_client_answer(fd, error);
        if (!answer)
                return false;
        path = field_text(answer, "port");
        /* A comma ends the path for the runtime, a semicolon ends the port, and a quote ends the
         * value for the shell. */
        if (!path || strpbrk(path, ",;'\n")) {
                g_set_error(error, ENV_ERROR, 0,
                            "the path of the holder's port cannot be in " PORT_VARIABLE
                            ": set $CLRSYM_HOLDER to a directory without commas, semicolons and "
                            "quotes");
                return false;
        }
        value = g_strdup_printf("%s,%s", path, starts_at_once ? "nosuspend" : "suspend");
        variables[0].value = value;
        env_print(form, variables, has_inlines ? 2 : 1);
        return true;
}

/* The preload variable with our library after the libraries that are preloaded already; NULL: no
 * runtime needs it, or it is not installed. The caller frees it. */
static char *env_preload(void)
{
        g_autofree char *runtime = preload_find_runtime();
        g_autofree char *library = runtime ? preload_library() : NULL;
        const char *before = g_getenv("LD_PRELOAD");

        if (!library)
                return NULL;
        return before && *before && !strstr(before, library)
                       ? g_strdup_printf("%s:%s", before, library)
                       : g_steal_pointer(&library);
}

static void env_print_lttng(const EnvForm *form, bool has_inlines)
{
        g_autofree char *preload = env_preload();
        const Variable variables[] = {
                {"LD_PRELOAD", preload},
                {"DOTNET_LTTng", "1"},
                {"DOTNET_EnableEventLog", "1"},
                {"DOTNET_EventSourceFilter", NO_EVENT_SOURCE},
                {"DOTNET_LTTngConfig", has_inlines ? LTTNG_CONFIG LTTNG_INLINES : LTTNG_CONFIG},
                INLINES_VARIABLE,
        };

        env_print(form, variables + !preload, G_N_ELEMENTS(variables) - !has_inlines - !preload);
        if (!preload)
                preload_note();
}

bool verb_env(const Options *options, GError **error)
{
        const char *wanted = options->format ? options->format : FORMS[0].name;
        size_t form = 0;

        while (form < G_N_ELEMENTS(FORMS) && strcmp(FORMS[form].name, wanted))
                form++;
        if (form == G_N_ELEMENTS(FORMS)) {
                g_set_error(error, ENV_ERROR, 0, "--format %s: not one of sh, env, systemd, docker",
                            wanted);
                return false;
        }
        if (options_has(options, OPTION_PORT))
                return env_print_port(&FORMS[form], options->starts_at_once,
                                      options_has(options, OPTION_INLINES), error);
        env_print_lttng(&FORMS[form], options_has(options, OPTION_INLINES));
        return true;
}
