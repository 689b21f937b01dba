/* SPDX-License-Identifier: MIT */
#include "cli/body-table.h"
#include "cli/verbs.h"

bool verb_history(const Options *options, GError **error)
{
        return body_table_print_each(options, "History", "addr", error);
}
