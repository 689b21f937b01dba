/* SPDX-License-Identifier: MIT */
#include "cli/body-table.h"
#include "cli/verbs.h"

bool verb_versions(const Options *options, GError **error)
{
        return body_table_print_each(options, "Versions", "method", error);
}
