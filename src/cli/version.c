/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "util/printable-string.h"

/* Interfaces of the query socket have no version numbers, because members are only added. */
#define INTERFACE "org.clrsym.Symbolizer"

/* A program's version, and the versions of its protocols. */
typedef struct Version {
        const char *program;
        /*
         * {"version":..., "interfaces":[...], "bulk_version":...} or {"error":...}; printing takes
         * it over
         */
        json_t *value;
} Version;

/* Adds the members NAMES of METHOD's reply. An older daemon may lack some. */
static bool add_members(json_t *value, AnswerSource *source, const char *method,
                        const char *const *names, GError **error)
{
        json_auto_t *info = answer_source_call(source, method, NULL, error);

        if (!info)
                return false;
        for (; *names; names++)
                if (json_object_get(info, *names))
                        json_object_set(value, *names, json_object_get(info, *names));
        return true;
}

static json_t *ask_daemon(const Options *options)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, &error);
        static const char *const INFO[] = {"version", "interfaces", NULL};
        static const char *const STATUS[] = {"bulk_version", "ingest_version", NULL};
        json_t *value = json_object();

        if (!source || !add_members(value, source, "org.varlink.service.GetInfo", INFO, &error) ||
            !add_members(value, source, INTERFACE ".Status", STATUS, &error)) {
                json_object_clear(value);
                json_object_set_new(value, "error", json_string(error->message));
        }
        return value;
}

static void append_number(GString *line, const json_t *value, const char *member, const char *what)
{
        if (json_object_get(value, member))
                g_string_append_printf(line, ", %s %" G_GUINT64_FORMAT, what,
                                       (guint64)field_number(value, member));
}

static void version_print_text(const Version *version)
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
        append_number(line, version->value, "bulk_version", "binary form");
        append_number(line, version->value, "ingest_version", "ingest protocol");
        output_line(line->str, line->len);
}

/* A missing daemon is not an error here. */
bool verb_version(const Options *options, GError **error)
{
        Version versions[] = {
                {"clrsym", json_pack("{s:s}", "version", CLRSYM_VERSION)},
                {"libclrsym",
                 json_pack("{s:s, s:[s], s:i}", "version", clrsym_version(), "interfaces",
                           INTERFACE, "bulk_version", (int)clrsym_bulk_version())},
                {"clrsymd", ask_daemon(options)},
        };
        json_auto_t *all = json_object();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(versions); i++) {
                if (!options_has(options, OPTION_JSON))
                        version_print_text(&versions[i]);
                json_object_set_new(all, versions[i].program, versions[i].value);
        }
        if (options_has(options, OPTION_JSON)) {
                output_json(all);
        }
        return true;
}
