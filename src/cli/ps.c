/* SPDX-License-Identifier: MIT */
#include "cli/list-table.h"
#include "cli/verbs.h"

#define UID_FIELD                                                                                  \
        {                                                                                          \
                {"UID", true, 4, 0}, "uid"                                                         \
        }
#define TIERING_FIELD                                                                              \
        {                                                                                          \
                {"TIERING", false, 7, 0}, "tiering"                                                \
        }
#define COMMAND_FIELD                                                                              \
        {                                                                                          \
                {"COMMAND", false, 0, 0}, "command"                                                \
        }
#define FIELDS                                                                                     \
        {{"PID", true, 0, 0}, "pid"}, {{"NS", true, 5, 0}, "pid_ns"},                              \
                {{"STATE", false, 3, 0}, "state"}, {{"RUNTIME", false, 2, 0}, "runtime"},          \
                {{"BODIES", true, 1, 0}, "bodies"}, {{"SINCE", true, 4, 0}, "since"},              \
        {                                                                                          \
                {"GAP", true, 6, 0}, "gap_since"                                                   \
        }

static const ListColumn SHORT[] = {FIELDS, COMMAND_FIELD};
static const ListColumn LONG[] = {UID_FIELD, FIELDS, TIERING_FIELD, COMMAND_FIELD};

#define TABLE(fields)                                                                              \
        {                                                                                          \
                "ListProcesses", "processes", "since", "exited", fields, G_N_ELEMENTS(fields)      \
        }

static const ListTable TABLES[] = {TABLE(SHORT), TABLE(LONG)};

bool verb_ps(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);

        return source && list_table_print(&TABLES[options_has(options, OPTION_LONG)], source,
                                          answer_source_parameters(options), options, error);
}
