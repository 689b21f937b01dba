/* SPDX-License-Identifier: MIT */

/*
 * clrsym modules, clrsym assemblies
 */

#include "cli/list-table.h"
#include "cli/verbs.h"

#define FIELDS                                                                                     \
        {{"PID", true, 1, 0}, "pid"}, {{"ID", false, 2, 0}, "id"},                                 \
                {{"BODIES", true, 6, 0}, "bodies"}, {{"LIVE", true, 5, 0}, "live"},                \
                {{"BYTES", true, 7, 0}, "live_bytes"}, {{"LOADED", true, 3, 0}, "loaded"},         \
        {                                                                                          \
                {"UNLOADED", true, 4, 0}, "unloaded"                                               \
        }
#define PATH_FIELD                                                                                 \
        {                                                                                          \
                {"PATH", false, 0, 0}, "path"                                                      \
        }

static const ListColumn SHORT[] = {FIELDS, PATH_FIELD};
static const ListColumn LONG[] = {
        FIELDS,
        {{"FLAGS", false, 8, 0}, "flag_names"},
        {{"ASSEMBLY", false, 10, 0}, "assembly"},
        {{"PDB-ID", false, 9, 0}, "pdb_guid"},
        {{"PDB", false, 11, 0}, "pdb_path"},
        {{"NATIVE", false, 12, 0}, "native_path"},
        PATH_FIELD,
};
static const ListColumn ASSEMBLY[] = {
        {{"PID", true, 1, 0}, "pid"},           {{"ID", false, 2, 0}, "id"},
        {{"FLAGS", false, 5, 0}, "flag_names"}, {{"BINDING", false, 6, 0}, "binding_id"},
        {{"LOADED", true, 3, 0}, "loaded"},     {{"UNLOADED", true, 4, 0}, "unloaded"},
        {{"NAME", false, 0, 0}, "name"},
};

#define TABLE(method, member, fields)                                                              \
        {                                                                                          \
                method, member, "loaded", "unloaded", fields, G_N_ELEMENTS(fields)                 \
        }

static const ListTable MODULES[] = {TABLE("ListModules", "modules", SHORT),
                                    TABLE("ListModules", "modules", LONG)};
static const ListTable ASSEMBLIES = TABLE("ListAssemblies", "assemblies", ASSEMBLY);

static bool print_table(const ListTable *table, const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        bool is_all = options_has(options, OPTION_UNLOADED) || options->at;
        json_t *parameters;

        if (!source)
                return false;
        parameters = answer_source_parameters(options);
        json_object_set_new(parameters, "all", json_boolean(is_all));
        return list_table_print(table, source, parameters, options, error);
}

bool verb_modules(const Options *options, GError **error)
{
        return print_table(&MODULES[options_has(options, OPTION_LONG)], options, error);
}

bool verb_assemblies(const Options *options, GError **error)
{
        return print_table(&ASSEMBLIES, options, error);
}
