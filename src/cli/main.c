/* SPDX-License-Identifier: MIT */

/*
 * clrsym: names for addresses in .NET processes
 */

#include "cli/output.h"
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
        bool (*run)(Link *link, const Options *options, GError **error);
        unsigned options;      /* OPTION_BITs */
        const char *arguments; /* how they are shown; NULL: it takes none */
        const char *help;
} Verb;

static const Verb VERBS[] = {
        {"resolve", verb_resolve,
         OPTIONS_COMMON | OPTION_BIT(OPTION_PID) | OPTION_BIT(OPTION_AT) | OPTION_BIT(OPTION_WAIT),
         "[ADDR...]", "name addresses; without ADDR, those on stdin: [PID] ADDR [TIME] a line"},
        {"ps", verb_ps, OPTIONS_COMMON, NULL, "list the processes"},
        {"methods", verb_methods, OPTIONS_COMMON | OPTION_BIT(OPTION_PID) | OPTION_BIT(OPTION_ALL),
         NULL, "list the code that is loaded"},
        {"history", verb_history, OPTIONS_COMMON | OPTION_BIT(OPTION_PID), "ADDR...",
         "list what lived at an address, newest first"},
        {"versions", verb_versions, OPTIONS_COMMON | OPTION_BIT(OPTION_PID), "METHOD...",
         "list every native body of a method: Namespace.Type.Method, or its id 0x..."},
        {"status", verb_status, OPTIONS_COMMON, NULL, "show counters"},
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
                if (!strcmp(name, VERBS[i].name))
                        return &VERBS[i];
        return NULL;
}

static int fail_usage(const char *verb, const char *reason)
{
        fprintf(stderr, "clrsym: %s: see clrsym %s%s--help\n", reason, verb, *verb ? " " : "");
        return EXIT_USAGE;
}

/* Says why the answers could not be written; a reader that went away is no error to speak of. */
static int end_output(void)
{
        int error = output_flush() ? 0 : output_error();

        if (!error && fflush(stdout) != 0)
                error = errno;
        if (error && error != EPIPE)
                fprintf(stderr, "clrsym: cannot write the answers: %s\n", g_strerror(error));
        return error ? EXIT_FAILED : EXIT_ANSWERED;
}

static int run(const Verb *verb, const Options *options)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(Link) link = link_open(options, &error);

        /* False without an error: the output failed. */
        if (link && (verb->run(link, options, &error) || !error))
                return end_output();
        end_output();
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
                return end_output();
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
                print_usage(stdout);
                return end_output();
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
                return end_output();
        }
        if (!verb->arguments && *options.arguments)
                return fail_usage(verb->name, "it takes no arguments");
        if (verb->arguments && *verb->arguments != '[' && !*options.arguments)
                return fail_usage(verb->name, "it needs an argument");
        if (verb->run == verb_resolve && *options.arguments && !options.has_process)
                return fail_usage(verb->name, "ADDR needs --pid PID");
        return run(verb, &options);
}
