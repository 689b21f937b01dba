/* SPDX-License-Identifier: MIT */
#include "cli/list-table.h"
#include "cli/verbs.h"

static const ListColumn FIELDS[] = {
        {{"PID", true, 1, 0}, "pid"},           {{"ID", false, 2, 0}, "id"},
        {{"BODIES", true, 6, 0}, "bodies"},     {{"LIVE", true, 5, 0}, "live"},
        {{"BYTES", true, 7, 0}, "live_bytes"},  {{"LOADED", true, 3, 0}, "loaded"},
        {{"UNLOADED", true, 4, 0}, "unloaded"}, {{"PATH", false, 0, 0}, "path"},
};

static const ListTable TABLE = {"ListModules", "modules", "loaded",
                                "unloaded",    FIELDS,    G_N_ELEMENTS(FIELDS)};

bool verb_modules(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        bool is_all = options_has(options, OPTION_ALL) || options->at;
        json_t *parameters;

        if (!source)
                return false;
        parameters = answer_source_parameters(options);
        json_object_set_new(parameters, "all", json_boolean(is_all));
        return list_table_print(&TABLE, source, parameters, options, error);
}
