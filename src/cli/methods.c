/* SPDX-License-Identifier: MIT */
#include "cli/body-lines.h"
#include "cli/verbs.h"

bool verb_methods(Link *link, const Options *options, GError **error)
{
        g_autoptr(GString) parameters = g_string_new("{\"all\":");

        g_string_append(parameters, options->is_all ? "true" : "false");
        if (options->has_process) {
                g_string_append_c(parameters, ',');
                process_name_append(&options->process, parameters);
        }
        g_string_append_c(parameters, '}');
        return body_lines_print(link, options, "ListMethods", parameters->str, "methods", error);
}
