/* SPDX-License-Identifier: MIT */

/*
 * clrsym: names for addresses in .NET processes
 */

#include "cli/verbs.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

enum {
        EXIT_ANSWERED,
        EXIT_FAILED,
        EXIT_USAGE,
};

typedef struct Verb {
        const char *name;
        const char *alias; /* or NULL */
        bool (*run)(Link *link, const Options *options, GError **error);
        unsigned options;      /* OPTION_BITs */
        const char *arguments; /* how they are shown; NULL: it takes none */
        const char *help;
} Verb;

static const Verb VERBS[] = {
        {"resolve", NULL, verb_resolve,
         OPTIONS_COMMON | OPTION_BIT(OPTION_PID) | OPTION_BIT(OPTION_AT) | OPTION_BIT(OPTION_WAIT),
         "[ADDR...]", "name addresses; without ADDR, those on stdin: [PID] ADDR [TIME] a line"},
        {"ps", "processes", verb_processes, OPTIONS_COMMON, NULL, "list the processes"},
        {"methods", NULL, verb_methods,
         OPTIONS_COMMON | OPTION_BIT(OPTION_PID) | OPTION_BIT(OPTION_ALL), NULL,
         "list the code that is loaded"},
        {"status", NULL, verb_status, OPTIONS_COMMON, NULL, "show counters"},
};

static void print_usage(FILE *file)
{
        size_t i;

        fprintf(file, "Usage: clrsym VERB [OPTION...] [ARGUMENT...]\n\n");
        for (i = 0; i < G_N_ELEMENTS(VERBS); i++)
                fprintf(file, "  %-8s %s\n", VERBS[i].name, VERBS[i].help);
        fprintf(file, "\nclrsym VERB --help shows the options; clrsym --version the version.\n");
}

static void print_verb_usage(FILE *file, const Verb *verb)
{
        fprintf(file, "Usage: clrsym %s [OPTION...]%s%s\n\n%c%s.\n\n", verb->name,
                verb->arguments ? " " : "", verb->arguments ? verb->arguments : "",
                g_ascii_toupper(verb->help[0]), verb->help + 1);
        options_print(file, verb->options);
}

static const Verb *find_verb(const char *name)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(VERBS); i++)
                if (!strcmp(name, VERBS[i].name) || !g_strcmp0(name, VERBS[i].alias))
                        return &VERBS[i];
        return NULL;
}

static int fail_usage(const char *verb, const char *reason)
{
        fprintf(stderr, "clrsym: %s: see clrsym %s%s--help\n", reason, verb, *verb ? " " : "");
        return EXIT_USAGE;
}

/* Also what stdio kept until now has to get out. A reader that went away is no error to speak of.
 */
static bool close_output(void)
{
        int error;

        errno = 0;
        if (!ferror(stdout) && fflush(stdout) == 0 && fclose(stdout) == 0)
                return true;
        error = errno;
        if (error != EPIPE)
                fprintf(stderr, "clrsym: cannot write the answers: %s\n",
                        error ? g_strerror(error) : "output failed");
        return false;
}

static int run(const Verb *verb, const Options *options)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(Link) link = link_open(options, &error);

        if (link && verb->run(link, options, &error))
                return close_output() ? EXIT_ANSWERED : EXIT_FAILED;
        if (!error)
                return close_output() ? EXIT_ANSWERED : EXIT_FAILED;
        close_output();
        fprintf(stderr, "clrsym: %s\n", error->message);
        return EXIT_FAILED;
}

int main(int argc, char **argv)
{
        g_autofree char *reason = NULL;
        const Verb *verb;
        Options options;
        bool is_help;

        setlocale(LC_ALL, "");
        if (argc < 2) {
                print_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--version")) {
                printf("clrsym " CLRSYM_VERSION "\n");
                return close_output() ? EXIT_ANSWERED : EXIT_FAILED;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
                print_usage(stdout);
                return close_output() ? EXIT_ANSWERED : EXIT_FAILED;
        }
        verb = find_verb(argv[1]);
        if (!verb) {
                reason = g_strdup_printf("no verb %s", argv[1]);
                return fail_usage("", reason);
        }
        if (!options_parse(argc - 1, argv + 1, verb->options, &options, &is_help, &reason))
                return fail_usage(verb->name, reason);
        if (is_help) {
                print_verb_usage(stdout, verb);
                return close_output() ? EXIT_ANSWERED : EXIT_FAILED;
        }
        if (!verb->arguments && *options.arguments)
                return fail_usage(verb->name, "it takes no arguments");
        if (verb->run == verb_resolve && *options.arguments && !options.has_process)
                return fail_usage(verb->name, "ADDR needs --pid PID");
        return run(verb, &options);
}
