/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Command line of a verb that reads its own: options are GLib's, the help looks as that of the
 * others does
 */

#include <glib.h>
#include <stdbool.h>

typedef struct CommandLine {
        const char *program;   /* "clrsym session start" */
        const char *arguments; /* how they are shown; NULL: it takes none */
        unsigned max_arguments;
        const char *summary;         /* one line or several */
        const GOptionEntry *entries; /* ends with {NULL} */
} CommandLine;

typedef enum CommandLineResult {
        COMMAND_LINE_GO,
        COMMAND_LINE_HELP,  /* was asked for, and printed */
        COMMAND_LINE_WRONG, /* told on stderr */
} CommandLineResult;

/*
 * Reads what comes behind argv[0], the verb. RET_ARGUMENTS: what is no option; it ends with NULL,
 * its strings are borrowed; g_free() it, unless something else than GO is returned.
 */
CommandLineResult command_line_read(const CommandLine *line, int argc, char **argv,
                                    char ***ret_arguments);

/* Tells of a usage that is wrong; returns the exit status. */
int command_line_fail(const CommandLine *line, const char *reason);
