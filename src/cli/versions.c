/* SPDX-License-Identifier: MIT */
#include "cli/body-lines.h"
#include "cli/verbs.h"

bool verb_versions(Link *link, const Options *options, GError **error)
{
        return body_lines_print_each(link, options, "Versions", "method", error);
}
