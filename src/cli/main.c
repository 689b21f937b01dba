/* SPDX-License-Identifier: MIT */

/*
 * clrsym: names for addresses in .NET processes
 */

#include "cli/output.h"
#include "cli/symbol-text.h"
#include "cli/verbs.h"
#include "doctor/verb.h"
#include "feed/verb.h"
#include "session/verb.h"

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
        bool (*run)(const Options *options, GError **error);
        unsigned options;      /* OPTION_BITs */
        unsigned required;     /* of these */
        const char *arguments; /* how they are shown; NULL: it takes none */
        unsigned min_arguments, max_arguments;
        /* What else is wrong with the options, or NULL. Static. */
        const char *(*check)(const Options *options);
        const char *help;
} Verb;

#define ANY_NUMBER UINT32_MAX

#define BIT(name) OPTION_BIT(OPTION_##name)
/* What every verb that asks questions takes. */
#define COMMON         (BIT(SOCKET) | BIT(TRACE) | BIT(JSON))
#define COMMON_PROCESS (COMMON | BIT(PID))

static const char *check_resolve(const Options *options)
{
        if (options_has(options, OPTION_FILTER))
                return *options->arguments                 ? "--filter reads stdin, not ADDR"
                       : options_has(options, OPTION_JSON) ? "--filter copies text: no --json"
                                                           : NULL;
        return *options->arguments && !options_has(options, OPTION_PID) ? "ADDR needs --pid PID"
                                                                        : NULL;
}

static const char *check_time(const Options *options)
{
        return options->at && options_has(options, OPTION_ALL) ? "--at and --all: one of them"
                                                               : NULL;
}

static const char *check_processes(const Options *options)
{
        int n = (*options->arguments != NULL) + options_has(options, OPTION_EVERY) +
                options_has(options, OPTION_USER) + options_has(options, OPTION_LIST);

        return n == 1 ? NULL : "it needs one of PID, --all and --user NAME";
}

static const char *check_attach(const Options *options)
{
        return options_has(options, OPTION_LIST) && !*options->arguments ? NULL
                                                                         : check_processes(options);
}

static const Verb VERBS[] = {
        {"resolve", verb_resolve, COMMON_PROCESS | BIT(AT) | BIT(WAIT) | BIT(FILTER) | BIT(STYLE),
         0, "[ADDR...]", 0, ANY_NUMBER, check_resolve,
         "name addresses; without ADDR, those on stdin: [PID] ADDR [TIME] a line"},
        {"ps", verb_ps, COMMON_PROCESS | BIT(AT), 0, NULL, 0, 0, NULL, "list the processes"},
        {"methods", verb_methods,
         COMMON_PROCESS | BIT(AT) | BIT(ALL) | BIT(TIER) | BIT(MIN_VERSIONS) | BIT(REJITTED) |
                 BIT(OLDER) | BIT(SORT) | BIT(STYLE),
         0, "[GLOB]", 0, 1, check_time, "list the code that is loaded, or was"},
        {"history", verb_history, COMMON_PROCESS | BIT(AT) | BIT(STYLE), 0, "ADDR...", 1,
         ANY_NUMBER, NULL, "list what lived at an address, newest first"},
        {"versions", verb_versions, COMMON_PROCESS | BIT(AT) | BIT(IL_VERSION) | BIT(STYLE), 0,
         "METHOD...", 1, ANY_NUMBER, NULL,
         "list every native body of a method: Namespace.Type.Method, or its id 0x..."},
        {"modules", verb_modules, COMMON_PROCESS | BIT(AT) | BIT(ALL), 0, NULL, 0, 0, check_time,
         "list the modules"},
        {"perfmap", verb_perfmap, COMMON_PROCESS | BIT(AT) | BIT(OUTPUT), 0, NULL, 0, 0, NULL,
         "print a perf map that is right for one moment"},
        {"perf", verb_perf,
         BIT(SOCKET) | BIT(TRACE) | BIT(INPUT) | BIT(OUTPUT) | BIT(NAMES) | BIT(TIERS) |
                 BIT(ANNOTATE) | BIT(SAMPLED) | BIT(MAP) | BIT(FORCE),
         0, NULL, 0, 0, NULL,
         "name the managed frames of a perf.data; print it, or write a flame graph or profile"},
        {"dump", verb_dump, BIT(PID) | BIT(EVENT) | BIT(JSON), 0, "DIR", 1, 1, NULL,
         "print the events of a trace as JSON, one a line"},
        {"jit", verb_jit, COMMON_PROCESS | BIT(STYLE), 0, NULL, 0, 0, NULL,
         "show what was compiled when, what took long, and what was not inlined"},
        {"status", verb_status, COMMON, 0, NULL, 0, 0, NULL,
         "show counters, tracing sessions and feeders"},
        {"metrics", verb_metrics, COMMON, 0, NULL, 0, 0, NULL, "print metrics, as OpenMetrics"},
        {"save", verb_save, BIT(TRACE) | BIT(OUTPUT) | BIT(JIT_EVENTS), BIT(TRACE) | BIT(OUTPUT),
         NULL, 0, 0, NULL, "save a trace as a snapshot, which --trace opens at once"},
        {"attach", verb_attach,
         BIT(SOCKET) | BIT(EVERY) | BIT(USER) | BIT(AGAIN) | BIT(LIST) | BIT(WAIT) | BIT(JSON), 0,
         "[PID...]", 0, ANY_NUMBER, check_attach,
         "trace running processes that were started without"},
        {"detach", verb_detach, BIT(EVERY) | BIT(USER) | BIT(JSON), 0, "[PID...]", 0, ANY_NUMBER,
         check_processes, "stop what attach began"},
        {"env", verb_env, BIT(FORMAT), 0, NULL, 0, 0, NULL,
         "print the environment of programs that are to be traced from their start"},
};

/* Called as `clrsym --version`. */
static const Verb VERSION = {
        "--version", verb_version, BIT(SOCKET) | BIT(JSON),
        0,           NULL,         0,
        0,           NULL,         "show the versions of the program, the library and the daemon"};

/* Verbs that ask no questions of a daemon or a trace: each reads its own command line. */
static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
        const char *help;
} TOOLS[] = {
        {"session", session_main, "start, stop and list tracing sessions"},
        {"feed", feed_main, "feed a live session into clrsymd"},
        {"doctor", doctor_main, "say what stands in the way of names, and what mends it"},
};

static void print_usage(FILE *file)
{
        size_t i;

        fprintf(file, "Usage: clrsym VERB [OPTION...] [ARGUMENT...]\n\n");
        for (i = 0; i < G_N_ELEMENTS(VERBS); i++)
                fprintf(file, "  %-9s  %s\n", VERBS[i].name, VERBS[i].help);
        for (i = 0; i < G_N_ELEMENTS(TOOLS); i++)
                fprintf(file, "  %-9s  %s\n", TOOLS[i].name, TOOLS[i].help);
        fprintf(file, "  %-9s  %s\n", VERSION.name, VERSION.help);
        fprintf(file, "\nclrsym VERB --help shows the options.\n");
}

static void print_verb_usage(FILE *file, const Verb *verb)
{
        unsigned i;

        fprintf(file, "Usage: clrsym %s", verb->name);
        for (i = 0; i < _OPTION_MAX; i++)
                if (verb->required & OPTION_BIT(i))
                        fprintf(file, " --%s %s", option_name((Option)i),
                                option_argument((Option)i));
        if (verb->options != verb->required)
                fprintf(file, " [OPTION...]");
        if (verb->arguments)
                fprintf(file, " %s", verb->arguments);
        fprintf(file, "\n\n%c%s.\n\n", g_ascii_toupper(verb->help[0]), verb->help + 1);
        options_print(file, verb->options);
}

static const Verb *find_verb(const char *name)
{
        size_t i;

        if (!strcmp(name, VERSION.name))
                return &VERSION;
        for (i = 0; i < G_N_ELEMENTS(VERBS); i++)
                if (!strcmp(name, VERBS[i].name))
                        return &VERBS[i];
        return NULL;
}

/* NULL, or what is wrong (owned). */
static char *check_usage(const Verb *verb, const Options *options)
{
        guint n = g_strv_length(options->arguments);
        const char *reason = verb->check ? verb->check(options) : NULL;
        unsigned i;

        for (i = 0; i < _OPTION_MAX; i++)
                if (verb->required & ~options->given & OPTION_BIT(i))
                        return g_strdup_printf("it needs --%s %s", option_name((Option)i),
                                               option_argument((Option)i));
        if (n > verb->max_arguments)
                return g_strdup_printf(verb->max_arguments ? "it takes one argument"
                                                           : "it takes no arguments");
        if (n < verb->min_arguments)
                return g_strdup_printf("it needs %s", verb->arguments);
        return g_strdup(reason);
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

        /* False without an error: the output failed. */
        if (verb->run(options, &error) || !error)
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
        size_t i;

        setlocale(LC_ALL, "");
        if (argc < 2) {
                print_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
                print_usage(stdout);
                return end_output();
        }
        for (i = 0; i < G_N_ELEMENTS(TOOLS); i++)
                if (!strcmp(argv[1], TOOLS[i].name))
                        return TOOLS[i].main(argc - 1, argv + 1);
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
        reason = check_usage(verb, &options);
        if (options_has(&options, OPTION_STYLE))
                symbol_text_set_style(options.style);
        return reason ? fail_usage(verb->name, reason) : run(verb, &options);
}
