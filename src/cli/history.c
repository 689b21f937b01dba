/* SPDX-License-Identifier: MIT */
#include "cli/body-lines.h"
#include "cli/verbs.h"

bool verb_history(Link *link, const Options *options, GError **error)
{
        return body_lines_print_each(link, options, "History", "addr", error);
}
