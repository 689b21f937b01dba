/* SPDX-License-Identifier: MIT */
#include "cli/list-table.h"
#include "cli/verbs.h"

static const ListColumn FIELDS[] = {
        {{"PID", true, 0, 0}, "pid"},       {{"NS", true, 5, 0}, "pid_ns"},
        {{"STATE", false, 3, 0}, "state"},  {{"RUNTIME", false, 2, 0}, "runtime"},
        {{"BODIES", true, 1, 0}, "bodies"}, {{"SINCE", true, 4, 0}, "since"},
        {{"GAP", true, 6, 0}, "gap_since"}, {{"COMMAND", false, 0, 0}, "command"},
};

static const ListTable TABLE = {"ListProcesses", "processes", "since",
                                "exited",        FIELDS,      G_N_ELEMENTS(FIELDS)};

bool verb_ps(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);

        return source &&
               list_table_print(&TABLE, source, answer_source_parameters(options), options, error);
}
