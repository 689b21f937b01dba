/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verbs.h"

/* Interfaces of the query socket have no numbers: they are only ever added to. */
#define INTERFACE "org.clrsym.Symbolizer"

/* Who has which version, and speaks what. Takes over VALUE. */
typedef struct Version {
        const char *program;
        json_t *value; /* owned: {"version":..., "interfaces":[...]}, or {"error":...} */
} Version;

static json_t *ask_daemon(const Options *options)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, &error);
        json_t *info, *value;
        JsonSpan reply;

        if (!link ||
            !link_call(link, "org.varlink.service.GetInfo", json_object(), 0, &reply, &error))
                return json_pack("{s:s}", "error", error->message);
        info = json_span_load(reply);
        value = json_pack("{s:O?, s:O?}", "version", json_object_get(info, "version"), "interfaces",
                          json_object_get(info, "interfaces"));
        json_decref(info);
        return value;
}

static void print_text(const Version *version)
{
        g_autoptr(GString) line = g_string_new(version->program);
        const char *number = field_text(version->value, "version");
        const char *error = field_text(version->value, "error");
        const json_t *interfaces = json_object_get(version->value, "interfaces");
        size_t i;

        if (error)
                g_string_append(line, ": ");
        else
                g_string_append_c(line, ' ');
        printable_append(line, error ? error : number ? number : "?");
        for (i = 0; i < json_array_size(interfaces); i++) {
                const char *name = json_string_value(json_array_get(interfaces, i));

                g_string_append(line, i ? ", " : ": ");
                printable_append(line, name ? name : "?");
        }
        output_line(line->str, line->len);
}

/* Without a daemon, too, which is no failure here. */
bool verb_version(const Options *options, GError **error)
{
        Version versions[] = {
                {"clrsym", json_pack("{s:s}", "version", CLRSYM_VERSION)},
                {"libclrsym",
                 json_pack("{s:s, s:[s]}", "version", clrsym_version(), "interfaces", INTERFACE)},
                {"clrsymd", ask_daemon(options)},
        };
        json_t *all = json_object();
        char *text;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(versions); i++) {
                if (!options_has(options, OPTION_JSON))
                        print_text(&versions[i]);
                json_object_set_new(all, versions[i].program, versions[i].value);
        }
        if (options_has(options, OPTION_JSON)) {
                text = json_dumps(all, JSON_COMPACT);
                output_print("%s\n", text);
                free(text);
        }
        json_decref(all);
        return true;
}
