/* SPDX-License-Identifier: MIT */
#include "session/command-line.h"

#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2

static void print_help(const CommandLine *line)
{
        const GOptionEntry *entry;

        printf("Usage: %s [OPTION...]%s%s\n\n%s\n\n", line->program, line->arguments ? " " : "",
               line->arguments ? line->arguments : "", line->summary);
        for (entry = line->entries; entry->long_name; entry++) {
                g_autofree char *text =
                        g_strconcat("--", entry->long_name, entry->arg_description ? " " : "",
                                    entry->arg_description, NULL);

                if (entry->short_name)
                        printf("  -%c, %-20s  %s\n", entry->short_name, text, entry->description);
                else
                        printf("      %-20s  %s\n", text, entry->description);
        }
        printf("  -h, %-20s  this\n", "--help");
}

int command_line_fail(const CommandLine *line, const char *reason)
{
        fprintf(stderr, "clrsym: %s: see %s --help\n", reason, line->program);
        return EXIT_USAGE;
}

CommandLineResult command_line_read(const CommandLine *line, int argc, char **argv,
                                    char ***ret_arguments)
{
        gboolean is_help = FALSE;
        const GOptionEntry own[] = {
                {"help", 'h', 0, G_OPTION_ARG_NONE, &is_help, NULL, NULL},
                {NULL},
        };
        GOptionContext *context = g_option_context_new(NULL);
        g_autofree char **rest = g_memdup2(argv, ((gsize)argc + 1) * sizeof(*argv));
        g_autoptr(GError) error = NULL;
        g_autofree char *reason = NULL;
        bool ok;

        g_option_context_set_help_enabled(context, FALSE);
        g_option_context_add_main_entries(context, line->entries, NULL);
        g_option_context_add_main_entries(context, own, NULL);
        ok = g_option_context_parse(context, &argc, &rest, &error);
        g_option_context_free(context);
        if (ok && is_help) {
                print_help(line);
                return COMMAND_LINE_HELP;
        }
        if (!ok)
                reason = g_strdup(error->message);
        else if ((unsigned)argc > line->max_arguments + 1)
                reason = g_strdup(line->max_arguments ? "it takes one argument at most"
                                                      : "it takes no arguments");
        if (reason) {
                command_line_fail(line, reason);
                return COMMAND_LINE_WRONG;
        }
        *ret_arguments = g_memdup2(rest + 1, (gsize)argc * sizeof(*rest));
        return COMMAND_LINE_GO;
}
