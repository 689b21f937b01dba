/* SPDX-License-Identifier: MIT */
#include "cli/verbs.h"

#include "cli/answers.h"
#include "cli/output-form.h"

#include <string.h>

#define ANY_NUMBER UINT32_MAX

#define BIT(name) OPTION_BIT(OPTION_##name)
/* Options of every verb that asks a daemon or a trace. */
#define COMMON         (BIT(SOCKET) | BIT(TRACE) | BIT(VERBOSE) | BIT(JSON))
#define COMMON_PROCESS (COMMON | BIT(PID))
#define NAME_OPTIONS   (BIT(STYLE) | BIT(SYMBOLS))
#define LINE_OPTIONS   (BIT(LINES) | BIT(SYMBOLS) | BIT(SOURCE_MAP))

static const char *check_resolve(const Options *options)
{
        if (options_has(options, OPTION_FILTER))
                return *options->arguments                  ? "--filter reads stdin, not ADDR"
                       : options_has(options, OPTION_JSON)  ? "--filter copies text: no --json"
                       : options_has(options, OPTION_LINES) ? "--filter copies text: no --lines"
                                                            : NULL;
        return *options->arguments && !options_has(options, OPTION_PID) ? "ADDR needs --pid PID"
                                                                        : NULL;
}

static const char *check_time(const Options *options)
{
        return options->at && options_has(options, OPTION_UNLOADED)
                       ? "give --at or --unloaded, not both"
                       : NULL;
}

static const char *check_history(const Options *options)
{
        char **argument = options->arguments;
        uint64_t address;

        while (*argument && address_from_text(*argument, &address))
                argument++;
        return *argument ? "an ADDR is hexadecimal, as 0x7ff36eaa1c70" : NULL;
}

static const char *check_processes(const Options *options)
{
        int n = (*options->arguments != NULL) + options_has(options, OPTION_ALL) +
                options_has(options, OPTION_USER) +
                (options_has(options, OPTION_LIST) && !options->is_rule);

        return n == 1 ? NULL : "give exactly one of PID, --all and --user NAME";
}

static const char *check_attach(const Options *options)
{
        const bool is_of_all =
                options_has(options, OPTION_ALL) || options_has(options, OPTION_USER);

        if ((options_has(options, OPTION_FOLLOW) || options->exclude) && !is_of_all)
                return "--follow and --exclude need --all or --user NAME";
        if (options_has(options, OPTION_FOLLOW) && options_has(options, OPTION_AGAIN))
                return "give --follow or --again, not both";
        return options_has(options, OPTION_LIST) && !options->is_rule && !*options->arguments
                       ? NULL
                       : check_processes(options);
}

static const char *check_report(const Options *options)
{
        if (options->before)
                return !*options->arguments ? "--diff BEFORE needs AFTER"
                       : options->input     ? "give --diff BEFORE AFTER or --input, not both"
                       : options_has(options, OPTION_SUMMARY)
                               ? "--diff writes a flame graph, and has no --summary"
                               : NULL;
        return options->input && *options->arguments ? "give RECORDING or --input, not both" : NULL;
}

static const char *check_perf(const Options *options)
{
        if (!options->before && *options->arguments)
                return "a recording is given by --input; AFTER goes with --diff BEFORE";
        return check_report(options);
}

static const OptionText PERF_TEXTS[] = {
        {OPTION_FORMAT, "FORM", OUTPUT_FORMATS},
        {OPTION_EVENT, "NAME", "only samples of this event, if several were recorded"},
        {0},
};
static const OptionText MODULES_TEXTS[] = {
        {OPTION_LONG, NULL, "also show flags, the assembly, the native image and the PDB"},
        {0},
};
static const OptionText RECORD_TEXTS[] = {
        {OPTION_FORMAT, "FORM", OUTPUT_FORMATS},
        {OPTION_OUTPUT, "FILE", "write FILE; several times (default: clrsym-record.html)"},
        {0},
};
static const OptionText PERFMAP_TEXTS[] = {
        {OPTION_FOLLOW, NULL,
         "keep /tmp/perf-PID.map (or the file of -o) current while the program runs"},
        {OPTION_FORCE, NULL, "with --follow: replace a file that another program writes"},
        {OPTION_KEEP, NULL,
         "with --follow: leave the file there if clrsym ends before the program"},
        {0},
};
static const OptionText STACK_TEXTS[] = {
        {OPTION_PID, "PID", "the process, as the argument PID (in a pid namespace: PIDNS:PID)"},
        {OPTION_ALL, NULL,
         "print each thread and frame; else equal stacks and recursions are folded"},
        {OPTION_VERBOSE, NULL, "report on stderr how long the process was stopped"},
        {OPTION_WAIT, "SEC", ".NET 11: look for SEC seconds (5) which async methods await others"},
        {0},
};
static const OptionText ATTACH_TEXTS[] = {
        {OPTION_WAIT, "SEC", "how long to wait until clrsymd knows all code (default: 10)"},
        {0},
};
static const OptionText FEED_TEXTS[] = {
        {OPTION_RELAY_OUTPUT, "DIR",
         "the directory that lttng-relayd writes to, if clrsym does not find it"},
        {0},
};
static const OptionText START_TEXTS[] = {
        {OPTION_OUTPUT, "DIR", "record to this directory"},
        {OPTION_RELAY_OUTPUT, "DIR", "the directory that a new lttng-relayd writes to"},
        {OPTION_FORCE, NULL, "continue even if the buffers take much of /dev/shm"},
        {0},
};

static const Verb SESSION_VERBS[] = {
        {.name = "start",
         .run = verb_session_start,
         .use = {BIT(LIVE) | BIT(OUTPUT) | BIT(TRACK) | BIT(DISK) | BIT(BUFFER_SIZE) |
                         BIT(TRACE_FORMAT) | BIT(NAME) | BIT(RELAY_OUTPUT) | BIT(FORCE) | BIT(KEEP),
                 START_TEXTS},
         .check = verb_session_start_check,
         .help = "start a session with the events that describe .NET code"},
        {.name = "stop",
         .run = verb_session_stop,
         .arguments = "[NAME]",
         .max_arguments = 1,
         .help = "end a session that clrsym started, and the LTTng daemons started for it"},
        {.name = "list",
         .run = verb_session_list,
         .use = {.allowed = BIT(JSON)},
         .help = "list the sessions of the session daemon"},
        {.name = "repair",
         .run = verb_session_repair,
         .use = {.allowed = BIT(QUIET) | BIT(RESTART)},
         .arguments = "[NAME]",
         .max_arguments = 1,
         .help = "restart a live session and those of its LTTng daemons that have died"},
        {.name = "fix",
         .is_hidden = true,
         .run = verb_session_repair,
         .use = {.allowed = BIT(QUIET) | BIT(RESTART)},
         .arguments = "[NAME]",
         .max_arguments = 1,
         .help = "restart a live session and those of its LTTng daemons that have died"},
};

#define REPORT_USE                                                                                 \
        {                                                                                          \
                BIT(SOCKET) | BIT(TRACE) | BIT(VERBOSE) | BIT(INPUT) | BIT(DIFF) | BIT(OUTPUT) |   \
                        BIT(FORMAT) | BIT(STYLE) | BIT(TIERS) | BIT(EXPLAIN) | BIT(SUMMARY) |      \
                        BIT(ANNOTATE) | BIT(STACKS) | BIT(EVENT) | BIT(MAP) | BIT(FORCE) |         \
                        LINE_OPTIONS,                                                              \
                        PERF_TEXTS                                                                 \
        }
#define SNAPSHOT_OPTIONS (BIT(TRACE) | BIT(OUTPUT) | BIT(JIT_EVENTS) | BIT(VERBOSE))

static const Verb VERBS[] = {
        {.name = "record",
         .run = verb_record,
         .use = {BIT(TARGETS) | BIT(ALL_CPUS) | BIT(DURATION) | BIT(FREQUENCY) | BIT(SAMPLER) |
                         BIT(ALLOC) | BIT(OFF_CPU) | BIT(STACKS) | BIT(CALL_GRAPH) | BIT(OUTPUT) |
                         BIT(FORMAT) | BIT(STYLE) | BIT(TIERS) | BIT(EXPLAIN) | BIT(EVERY) |
                         BIT(PUSH) | LINE_OPTIONS,
                 RECORD_TEXTS, .takes_command = true},
         .arguments = "[COMMAND [ARG...]]",
         .max_arguments = ANY_NUMBER,
         .check = verb_record_check,
         .status = verb_record_status,
         .help = "record where a program spends its time, and write a flame graph"},
        {.name = "report",
         .run = verb_report,
         .reads_arguments = true,
         .use = REPORT_USE,
         .check = check_report,
         .arguments = "[RECORDING]",
         .max_arguments = 1,
         .help = "name the frames of a recording; print it, or write a flame graph or profile"},
        {.name = "stack",
         .run = verb_stack,
         .use = {BIT(SOCKET) | BIT(TRACE) | BIT(VERBOSE) | BIT(JSON) | BIT(PID) | BIT(ALL) |
                         BIT(STYLE) | BIT(TIERS) | BIT(EXPLAIN) | BIT(REGISTERS) | BIT(DEBUGGER) |
                         BIT(STACKS) | BIT(WALK) | BIT(WAIT) | LINE_OPTIONS,
                 STACK_TEXTS},
         .arguments = "[PID|CORE]",
         .max_arguments = 1,
         .reads_arguments = true,
         .check = verb_stack_check,
         .help = "print the stacks of all threads of a process or a core file"},
        {.name = "doctor",
         .run = verb_doctor,
         .use = {.allowed = BIT(SOCKET) | BIT(JSON)},
         .arguments = "[PID]",
         .max_arguments = 1,
         .check = verb_doctor_check,
         .help = "report what prevents names, in general or of a process, and how to fix it"},
        {.name = "resolve",
         .run = verb_resolve,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(WAIT) | BIT(FILTER) | BIT(STYLE) |
                            LINE_OPTIONS},
         .arguments = "[ADDR...]",
         .max_arguments = ANY_NUMBER,
         .check = check_resolve,
         .help = "name addresses; without ADDR, those on stdin: [PID] ADDR [TIME] a line"},
        {.name = "ps",
         .run = verb_ps,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(LONG)},
         .help = "list the processes"},
        {.name = "methods",
         .run = verb_methods,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(UNLOADED) | BIT(TIER) |
                            BIT(MIN_VERSIONS) | BIT(REJITTED) | BIT(OLDER) | BIT(FLAG) | BIT(SORT) |
                            NAME_OPTIONS},
         .arguments = "[GLOB]",
         .max_arguments = 1,
         .check = check_time,
         .help = "list the code that is or was loaded"},
        {.name = "history",
         .run = verb_history,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(STYLE) | LINE_OPTIONS},
         .arguments = "ADDR...",
         .min_arguments = 1,
         .max_arguments = ANY_NUMBER,
         .check = check_history,
         .help = "list the code that was at an address, newest first"},
        {.name = "versions",
         .run = verb_versions,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(IL_VERSION) | BIT(STYLE) | LINE_OPTIONS},
         .arguments = "METHOD...",
         .min_arguments = 1,
         .max_arguments = ANY_NUMBER,
         .help = "list every native body of a method: Namespace.Type.Method, or its id 0x..."},
        {.name = "modules",
         .run = verb_modules,
         .use = {BIT(LONG) | COMMON_PROCESS | BIT(AT) | BIT(UNLOADED), MODULES_TEXTS},
         .check = check_time,
         .help = "list the modules"},
        {.name = "assemblies",
         .run = verb_assemblies,
         .use = {.allowed = COMMON_PROCESS | BIT(AT) | BIT(UNLOADED)},
         .check = check_time,
         .help = "list the assemblies"},
        {.name = "perfmap",
         .run = verb_perfmap,
         .use = {COMMON_PROCESS | BIT(AT) | BIT(OUTPUT) | BIT(FOLLOW) | BIT(FORCE) | BIT(KEEP),
                 PERFMAP_TEXTS},
         .check = verb_perfmap_check,
         .help = "print a perf map that is right for one moment"},
        {.name = "dump",
         .run = verb_dump,
         .use = {.allowed = BIT(PID) | BIT(EVENT) | BIT(VERBOSE) | BIT(JSON)},
         .arguments = "PATH",
         .min_arguments = 1,
         .max_arguments = 1,
         .reads_arguments = true,
         .help = "print the events of a trace as JSON, one a line"},
        {.name = "inlines",
         .run = verb_inlines,
         .use = {.allowed = BIT(TRACE) | BIT(PID) | BIT(VERBOSE) | BIT(JSON) | BIT(STYLE)},
         .arguments = "METHOD",
         .min_arguments = 1,
         .max_arguments = 1,
         .required = BIT(TRACE),
         .help = "show which calls of a method were inlined or became tail calls, and why not"},
        {.name = "jit",
         .run = verb_jit,
         .use = {.allowed = COMMON_PROCESS | NAME_OPTIONS},
         .help = "show what was compiled when, what took long, and what was not inlined"},
        {.name = "status",
         .run = verb_status,
         .use = {.allowed = COMMON},
         .help = "show counters, tracing sessions and feeders"},
        {.name = "metrics",
         .run = verb_metrics,
         .use = {.allowed = COMMON},
         .help = "print metrics, as OpenMetrics"},
        {.name = "snapshot",
         .run = verb_save,
         .use = {.allowed = SNAPSHOT_OPTIONS},
         .required = BIT(TRACE) | BIT(OUTPUT),
         .help = "save a trace as a snapshot, which --trace opens at once"},
        {.name = "attach",
         .run = verb_attach,
         .use = {BIT(SOCKET) | BIT(ALL) | BIT(USER) | BIT(AGAIN) | BIT(VIA) | BIT(LIST) |
                         BIT(RUNDOWN) | BIT(FOLLOW) | BIT(EXCLUDE) | BIT(WAIT) | BIT(JSON),
                 ATTACH_TEXTS},
         .arguments = "[PID...]",
         .max_arguments = ANY_NUMBER,
         .check = check_attach,
         .help = "trace running processes that were started without tracing"},
        {.name = "detach",
         .run = verb_detach,
         .use = {.allowed = BIT(ALL) | BIT(USER) | BIT(JSON)},
         .arguments = "[PID...]",
         .max_arguments = ANY_NUMBER,
         .check = check_processes,
         .help = "end attachments"},
        {.name = "env",
         .run = verb_env,
         .use = {.allowed = BIT(FORMAT) | BIT(PORT) | BIT(INLINES)},
         .help = "print the environment variables that trace a program from its start"},
        {.name = "session",
         .verbs = SESSION_VERBS,
         .n_verbs = G_N_ELEMENTS(SESSION_VERBS),
         .help = "start, stop and list tracing sessions"},
        {.name = "feed",
         .run = verb_feed,
         .use = {BIT(SESSION) | BIT(INGEST_SOCKET) | BIT(RELAY_OUTPUT) | BIT(JIT_EVENTS),
                 FEED_TEXTS},
         .arguments = "[URL]",
         .max_arguments = 1,
         .reads_arguments = true,
         .check = verb_feed_check,
         .help = "feed a live session into clrsymd until stopped"},
        {.name = "import",
         .run = verb_import,
         .use = {BIT(INGEST_SOCKET) | BIT(JIT_EVENTS), FEED_TEXTS},
         .arguments = "PATH",
         .min_arguments = 1,
         .max_arguments = 1,
         .reads_arguments = true,
         .help = "feed a recorded trace, .nettrace file or snapshot into clrsymd"},
        {.name = "help",
         .run = verb_help,
         .arguments = "[VERB...]",
         .max_arguments = 2,
         .check = verb_help_check,
         .help = "show what a verb does, and its options"},
        {.name = "--version",
         .run = verb_version,
         .use = {.allowed = BIT(SOCKET) | BIT(JSON)},
         .help = "show the versions of the program, the library and the daemon"},
        /* Old spellings */
        {.name = "perf",
         .is_hidden = true,
         .run = verb_perf,
         .reads_arguments = true,
         .use = REPORT_USE,
         .check = check_perf,
         .arguments = "[AFTER]",
         .max_arguments = 1,
         .help = "name the frames of a perf.data; print it, or write a flame graph or profile"},
        {.name = "save",
         .is_hidden = true,
         .run = verb_save,
         .use = {.allowed = SNAPSHOT_OPTIONS},
         .required = BIT(TRACE) | BIT(OUTPUT),
         .help = "save a trace as a snapshot, which --trace opens at once"},
};

const Verb VERBS_ROOT = {.name = "clrsym", .verbs = VERBS, .n_verbs = G_N_ELEMENTS(VERBS)};

const Verb *verb_find(const Verb *parent, const char *name)
{
        unsigned i;

        for (i = 0; i < parent->n_verbs; i++)
                if (!strcmp(name, parent->verbs[i].name))
                        return &parent->verbs[i];
        return NULL;
}

/* Maximum number of letters: longer words are not guessed. */
#define MAX_WORD 16

/* The number of letters to add, remove, replace, or swap with the next, to turn B into A. */
static unsigned word_distance(const char *a, const char *b)
{
        unsigned rows[3][MAX_WORD + 1]; /* for the letter before the last, the last, and the current
                                         * one */
        const size_t n_a = strlen(a), n_b = strlen(b);
        size_t i, j;

        if (n_a > MAX_WORD || n_b > MAX_WORD)
                return UINT_MAX;
        for (j = 0; j <= n_b; j++)
                rows[0][j] = (unsigned)j;
        for (i = 1; i <= n_a; i++) {
                unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

                row[0] = (unsigned)i;
                for (j = 1; j <= n_b; j++) {
                        row[j] = MIN(MIN(last[j], row[j - 1]) + 1,
                                     last[j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                row[j] = MIN(row[j], before[j - 2] + 1);
                }
        }
        return rows[n_a % 3][n_b];
}

/* One letter in three may be wrong. */
const Verb *verb_guess(const Verb *parent, const char *name)
{
        unsigned least = (unsigned)MAX(strlen(name) / 3, 1), i;
        const Verb *nearest = NULL;

        for (i = 0; i < parent->n_verbs; i++) {
                const unsigned distance = word_distance(name, parent->verbs[i].name);

                if (!parent->verbs[i].is_hidden &&
                    (distance < least || (distance == least && !nearest))) {
                        least = distance;
                        nearest = &parent->verbs[i];
                }
        }
        return nearest;
}
