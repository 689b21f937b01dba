/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "clrsym/clrsym.h"
#include "event/flag-names.h"
#include "push/push-request.h"
#include "unwind/stack-walk.h"
#include "util/size-text.h"

#include <getopt.h>
#include <string.h>

/* Used by `--wait` without a number. */
#define DEFAULT_WAIT_MS 5000
#define MAX_WAIT_S      86400
#define MIN_EVERY_S     1
/* 31 years, more than the uptime of any machine. */
#define MAX_AGE_S 1e9
/* The kernel's default limit is lower. */
/* The maximum size in bytes of a stack that perf copies. */
#define MAX_STACK_COPY 65528
#define MAX_FREQUENCY  1000000

/* LTTng needs a power of two, at least a page; the buffers must fit into /dev/shm. */
#define MIN_BUFFER_SIZE 4096
#define MAX_BUFFER_SIZE (UINT64_C(1) << 30)

/* Stores an option's argument in its member of Options. Returns NULL, or the reason of the failure
 * (static). */
typedef const char *(*Convert)(const char *argument, void *member);

typedef struct OptionRow {
        char letter; /* 0: the option has only a name */
        const char *name;
        const char *argument; /* placeholder in the help text; NULL: the option has no argument */
        bool is_optional;     /* the argument is optional */
        Convert convert;
        size_t offset;
        const char *help;
        bool is_old; /* the argument is an old form: hidden from help */
} OptionRow;

static bool parse_digits(const char *text, size_t n, uint64_t max, uint64_t *ret_u)
{
        size_t i;

        *ret_u = 0;
        for (i = 0; i < n; i++)
                if (!g_ascii_isdigit(text[i]) || __builtin_mul_overflow(*ret_u, 10, ret_u) ||
                    __builtin_add_overflow(*ret_u, (uint64_t)(text[i] - '0'), ret_u))
                        return false;
        return n > 0 && *ret_u <= max;
}

bool process_name_from_text(const char *text, ProcessName *ret_name)
{
        const char *colon = strchr(text, ':');
        const char *pid = colon ? colon + 1 : text;
        uint64_t u;

        *ret_name = (ProcessName){.has_pid_ns = colon != NULL};
        if (colon && !parse_digits(text, (size_t)(colon - text), INT64_MAX, &ret_name->pid_ns))
                return false;
        if (!parse_digits(pid, strlen(pid), INT32_MAX, &u) || u == 0)
                return false;
        ret_name->pid = (int32_t)u;
        return true;
}

static const char *to_text(const char *argument, void *member)
{
        *(const char **)member = argument;
        return NULL;
}

static const char *to_process(const char *argument, void *member)
{
        return process_name_from_text(argument, member) ? NULL : "not a PID or PIDNS:PID";
}

static const char *to_map(const char *argument, void *member)
{
        ProcessMaps *maps = member;
        const char *equals = strchr(argument, '=');
        ProcessMap map;
        uint64_t u;
        unsigned i;

        if (!equals || !parse_digits(argument, (size_t)(equals - argument), INT32_MAX, &u) ||
            !process_name_from_text(equals + 1, &map.process))
                return "not PERFPID=PID or PERFPID=PIDNS:PID";
        map.perf_pid = (int32_t)u;
        for (i = 0; i < maps->n; i++)
                if (maps->maps[i].perf_pid == map.perf_pid)
                        return "that PERFPID was given before";
        if (maps->n == MAX_MAPS)
                return "there are too many of them";
        maps->maps[maps->n++] = map;
        return NULL;
}

static bool parse_seconds(const char *text, double max, double *ret_seconds)
{
        char *end;

        *ret_seconds = g_ascii_strtod(text, &end);
        return end != text && !*end && *ret_seconds >= 0 && *ret_seconds <= max;
}

static const char *to_wait(const char *argument, void *member)
{
        unsigned *ms = member;
        double s;

        *ms = DEFAULT_WAIT_MS;
        if (!argument)
                return NULL;
        if (!parse_seconds(argument, MAX_WAIT_S, &s))
                return "not a number of seconds";
        *ms = (unsigned)(s * 1000);
        return NULL;
}

static const char *to_age(const char *argument, void *member)
{
        uint64_t *ns = member;
        double s;

        if (!parse_seconds(argument, MAX_AGE_S, &s))
                return "not a number of seconds";
        *ns = (uint64_t)(s * 1e9);
        return NULL;
}

static const char *to_number(const char *argument, void *member)
{
        return parse_digits(argument, strlen(argument), INT64_MAX, member) ? NULL : "not a number";
}

static const char *to_tier(const char *argument, void *member)
{
        unsigned i;

        for (i = 0; i <= CLRSYM_TIER_READY_TO_RUN; i++) {
                const char *name = clrsym_tier_name((clrsym_tier)i);

                if (g_ascii_strcasecmp(argument, name))
                        continue;
                *(const char **)member = name;
                return NULL;
        }
        return "not a tier: QuickJitted, OptimizedTier1, ReadyToRun ..., see clrsym(1)";
}

static const char *to_flag(const char *argument, void *member)
{
        const FlagName *name;

        for (name = method_flag_names; name->name; name++) {
                if (strcmp(argument, name->name))
                        continue;
                *(uint32_t *)member = name->flag;
                return NULL;
        }
        return "not a flag: dynamic, generic, shared, jitted, helper ..., see clrsym(1)";
}

static const char *to_via(const char *argument, void *member)
{
        return attach_via_from_name(argument, member) ? NULL : "not lttng, eventpipe or auto";
}

static const char *to_rundown(const char *argument, void *member)
{
        Options *options = member;

        options->is_rule = true;
        return attach_list_from_name(argument, &options->list) ? NULL : "not always, never or auto";
}

/* The form with an argument is the old spelling of --rundown. */
static const char *to_list(const char *argument, void *member)
{
        return argument ? to_rundown(argument, member) : NULL;
}

static const char *to_port(const char *argument, void *member)
{
        bool *starts_at_once = member;

        *starts_at_once = argument && !strcmp(argument, "nosuspend");
        return !argument || *starts_at_once || !strcmp(argument, "suspend")
                       ? NULL
                       : "not suspend or nosuspend";
}

static const char *to_style(const char *argument, void *member)
{
        /* "full" is the spelling of --names for csharp. */
        if (!strcmp(argument, "full"))
                argument = "csharp";
        return clrsym_style_from_name(argument, member) ? NULL : "not csharp, clr or short";
}

static const char *to_texts(const char *argument, void *member)
{
        GPtrArray **texts = member;

        if (!*texts)
                *texts = g_ptr_array_new();
        g_ptr_array_add(*texts, (char *)argument);
        return NULL;
}

static const char *to_output(const char *argument, void *member)
{
        Options *options = (Options *)(void *)((char *)member - offsetof(Options, outputs));

        options->output = argument;
        return to_texts(argument, &options->outputs);
}

static const char *to_targets(const char *argument, void *member)
{
        g_auto(GStrv) words = g_strsplit(argument, ",", -1);
        GArray **targets = member;
        size_t i;

        if (!*targets)
                *targets = g_array_new(FALSE, FALSE, sizeof(pid_t));
        for (i = 0; words[i]; i++) {
                uint64_t u;
                pid_t pid;

                if (!parse_digits(words[i], strlen(words[i]), INT32_MAX, &u) || u == 0)
                        return "not a PID";
                pid = (pid_t)u;
                g_array_append_val(*targets, pid);
        }
        return words[0] ? NULL : "not a PID";
}

static const char *to_seconds(const char *argument, void *member)
{
        return parse_seconds(argument, MAX_AGE_S, member) && *(double *)member > 0
                       ? NULL
                       : "not a number of seconds, above 0 and up to 1000000000";
}

static const char *to_frequency(const char *argument, void *member)
{
        uint64_t *frequency = member;

        return parse_digits(argument, strlen(argument), MAX_FREQUENCY, frequency) && *frequency
                       ? NULL
                       : "not a number of samples a second from 1 to 1000000";
}

static const char *to_sampler(const char *argument, void *member)
{
        const RecordSource **source = member;

        *source = record_source_find(argument);
        return *source || !strcmp(argument, "perf")
                       ? NULL
                       : "not perf, runtime, alloc, contention or exception";
}

static const char *to_off_cpu(const char *argument, void *member)
{
        *(SampledTime *)member = argument ? SAMPLED_BOTH : SAMPLED_WAITS;
        return !argument || !strcmp(argument, "both") ? NULL : "not both";
}

static const char *to_stacks(const char *argument, void *member)
{
        bool *is_physical = member;

        *is_physical = !strcmp(argument, "physical");
        return *is_physical || !strcmp(argument, "logical") ? NULL : "not logical or physical";
}

static const char *to_walk(const char *argument, void *member)
{
        bool *is_walked_by_runtime = member;

        *is_walked_by_runtime = !strcmp(argument, "runtime");
        return *is_walked_by_runtime || !strcmp(argument, "ptrace") ? NULL
                                                                    : "not ptrace or runtime";
}

static const char *to_call_graph(const char *argument, void *member)
{
        static const char *const COPYING[] = {"both", "dwarf"};
        size_t i;

        *(const char **)member = argument;
        if (!stack_walk_machine(NULL))
                return strcmp(argument, "fp")
                               ? "not fp: copies of stacks are read on x86-64 and arm64 only"
                               : NULL;
        for (i = 0; i < G_N_ELEMENTS(COPYING); i++) {
                const size_t n = strlen(COPYING[i]);
                uint64_t size;

                if (!g_str_has_prefix(argument, COPYING[i]))
                        continue;
                if (!argument[n] || (argument[n] == ',' &&
                                     parse_digits(argument + n + 1, strlen(argument) - n - 1,
                                                  MAX_STACK_COPY, &size) &&
                                     size))
                        return NULL;
        }
        return strcmp(argument, "fp")
                       ? "not fp, dwarf or both; or dwarf,BYTES or both,BYTES, up to "
                         "65528"
                       : NULL;
}

/* "10", "10s" */
static const char *to_every(const char *argument, void *member)
{
        g_autofree char *text = g_strdup(argument);

        if (g_str_has_suffix(text, "s"))
                text[strlen(text) - 1] = '\0';
        return parse_seconds(text, MAX_WAIT_S, member) && *(double *)member >= MIN_EVERY_S
                       ? NULL
                       : "not a number of seconds from 1 to 86400 (a day)";
}

static const char *to_push(const char *argument, void *member)
{
        *(const char **)member = argument;
        return push_url_check(argument);
}

static const char *to_symbols(const char *argument, void *member)
{
        return *argument ? to_texts(argument, member) : "not a directory";
}

static const char *to_source_map(const char *argument, void *member)
{
        const char *equals = strchr(argument, '=');

        return equals && equals > argument ? to_texts(argument, member) : "not FROM=TO";
}

static const char *to_size(const char *argument, void *member)
{
        return size_from_text(argument, member) ? NULL : "not a size like 500M or 2G";
}

static const char *to_buffer_size(const char *argument, void *member)
{
        uint64_t *size = member;

        return size_from_text(argument, size) && *size >= MIN_BUFFER_SIZE &&
                               *size <= MAX_BUFFER_SIZE && !(*size & (*size - 1))
                       ? NULL
                       : "not a power of two from 4K to 1G";
}

static const char *to_trace_format(const char *argument, void *member)
{
        return trace_format_from_name(argument, member) ? NULL : "not ctf-1.8 or ctf-2";
}

static const char *to_sort(const char *argument, void *member)
{
        static const char *const NAMES[_SORT_MAX] = {
                [SORT_JIT] = "jit",     [SORT_SIZE] = "size",     [SORT_VERSIONS] = "versions",
                [SORT_REUSE] = "reuse", [SORT_LOADED] = "loaded", [SORT_IL_SIZE] = "il-size",
        };
        unsigned i;

        for (i = SORT_NONE + 1; i < _SORT_MAX; i++)
                if (!strcmp(argument, NAMES[i])) {
                        *(Sort *)member = (Sort)i;
                        return NULL;
                }
        return "not one of jit, size, versions, reuse, loaded, il-size";
}

#define MEMBER(name) offsetof(Options, name)

static const OptionRow ROWS[_OPTION_MAX] = {
        [OPTION_SOCKET] = {0, "socket", "PATH", false, to_text, MEMBER(socket),
                           "ask the daemon at PATH"},
        [OPTION_INGEST_SOCKET] = {.name = "ingest-socket",
                                  .argument = "PATH",
                                  .convert = to_text,
                                  .offset = MEMBER(socket),
                                  .help = "the daemon's ingest socket (default: "
                                          "/run/clrsym/ingest)"},
        [OPTION_TRACE] = {0, "trace", "PATH", false, to_text, MEMBER(trace),
                          "ask a trace without a daemon: a directory, .nettrace or snapshot"},
        [OPTION_PID] = {'p', "pid", "PID", false, to_process, MEMBER(process),
                        "only this process (in a pid namespace: PIDNS:PID)"},
        [OPTION_AT] = {'t', "at", "TIME", false, to_text, MEMBER(at),
                       "at this time: 473.414890639, now, -5s, HH:MM:SS ..."},
        [OPTION_WAIT] = {0, "wait", "SEC", true, to_wait, MEMBER(wait_ms),
                         "wait for events before the question (default: 5)"},
        [OPTION_FILTER] = {0, "filter", NULL, false, NULL, 0,
                           "copy stdin to stdout, with names for the addresses in it"},
        [OPTION_ALL] = {.name = "all", .help = "every .NET process"},
        [OPTION_UNLOADED] = {.name = "unloaded", .help = "include what is unloaded"},
        [OPTION_LONG] = {'l', "long", NULL, false, NULL, 0,
                         "also print the uid and the tiering of each process"},
        [OPTION_TIER] = {0, "tier", "TIER", false, to_tier, MEMBER(tier),
                         "only code of this tier: QuickJitted, OptimizedTier1, ReadyToRun ..."},
        [OPTION_MIN_VERSIONS] = {0, "min-versions", "N", false, to_number, MEMBER(min_versions),
                                 "only methods that had N native bodies or more"},
        [OPTION_REJITTED] = {0, "rejitted", NULL, false, NULL, 0,
                             "only code whose IL a profiler replaced"},
        [OPTION_OLDER] = {0, "older", "SEC", false, to_age, MEMBER(older_ns),
                          "only code that has lived for SEC seconds or longer"},
        [OPTION_FLAG] = {0, "flag", "FLAG", false, to_flag, MEMBER(flag),
                         "only methods of this kind: dynamic, generic, shared, jitted, helper ..."},
        [OPTION_SORT] = {0, "sort", "KEY", false, to_sort, MEMBER(sort),
                         "largest first: jit, size, versions, reuse, loaded or il-size"},
        [OPTION_IL_VERSION] = {0, "il-version", "N", false, to_number, MEMBER(il_version),
                               "only code of this version of the IL"},
        [OPTION_STYLE] = {0, "style", "STYLE", false, to_style, MEMBER(style),
                          "names in the style csharp (default), clr or short: clrsym-names(7)"},
        [OPTION_LINES] = {0, "lines", NULL, false, NULL, 0,
                          "add the source line, where the assembly's PDB is found"},
        [OPTION_SYMBOLS] = {0, "symbols", "DIR", false, to_symbols, MEMBER(symbols),
                            "look for symbols in DIR too; can be given several times"},
        [OPTION_SOURCE_MAP] = {0, "source-map", "FROM=TO", false, to_source_map,
                               MEMBER(source_maps),
                               "sources whose path begins with FROM are in TO"},
        [OPTION_EVENT] = {0, "event", "GLOB", false, to_text, MEMBER(event),
                          "only these events: 'MethodLoad*', '*ILToNative*' ..."},
        [OPTION_INPUT] = {'i', "input", "FILE", false, to_text, MEMBER(input),
                          "a recording: perf.data (default), .nettrace or .clrsym"},
        [OPTION_DIFF] = {0, "diff", "BEFORE", false, to_text, MEMBER(before),
                         "compare AFTER with this recording, in a flame graph"},
        [OPTION_TIERS] = {0, "tiers", NULL, false, NULL, 0, "text: add the tier of managed code"},
        [OPTION_EXPLAIN] = {0, "explain", NULL, false, NULL, 0,
                            "text: add which source named each frame"},
        [OPTION_WALK] = {0, "walk", "HOW", false, to_walk, MEMBER(is_walked_by_runtime),
                         "ptrace (default: a short stop) or runtime (managed frames only)"},
        [OPTION_REGISTERS] = {.name = "registers",
                              .help = "JSON: add the registers of each frame, as far as known"},
        [OPTION_DEBUGGER] = {.name = "debugger",
                             .help = "a debugger has stopped PID: stdin has its threads, as JSON"},
        [OPTION_SUMMARY] = {.name = "summary",
                            .help = "print whose time it was, and the functions with most of it"},
        [OPTION_ANNOTATE] = {0, "annotate", NULL, false, NULL, 0,
                             "folded: append _[j] to managed names, _[k] to the kernel's"},
        [OPTION_MAP] = {0, "map", "MAP", false, to_map, MEMBER(maps),
                        "PERFPID=PIDNS:PID: the process that perf calls PERFPID"},
        [OPTION_USER] = {0, "user", "NAME", false, to_text, MEMBER(user),
                         "every process of this user"},
        [OPTION_AGAIN] = {0, "again", NULL, false, NULL, 0,
                          "request another rundown of processes that are attached already"},
        [OPTION_VIA] = {0, "via", "SOURCE", false, to_via, MEMBER(via),
                        "source of events: lttng; eventpipe, which needs only a daemon; or auto"},
        [OPTION_LIST] = {.name = "list",
                         .argument = "RULE",
                         .is_optional = true,
                         .is_old = true,
                         .convert = to_list,
                         .help = "show what is attached"},
        [OPTION_RUNDOWN] = {.name = "rundown",
                            .argument = "RULE",
                            .convert = to_rundown,
                            .help = "list the code that is already loaded: always, never or auto"},
        [OPTION_FOLLOW] = {0, "follow", NULL, false, NULL, 0,
                           "do not end; also attach processes that start later"},
        [OPTION_EXCLUDE] = {0, "exclude", "RULE", false, to_texts, MEMBER(exclude),
                            "exclude user:NAME, cgroup:GLOB or command:GLOB; several times"},
        [OPTION_FORMAT] = {0, "format", "FORM", false, to_text, MEMBER(format),
                           "sh, env, systemd or docker (default: sh)"},
        [OPTION_PORT] =
                {0, "port", "HOW", true, to_port, MEMBER(starts_at_once),
                 "print the variable for a port that connects to the holder: suspend or nosuspend"},
        [OPTION_INLINES] =
                {0, "inlines", NULL, false, NULL, 0,
                 "also print the variables that make the runtime report inlined methods"},
        [OPTION_LIVE] = {0, "live", NULL, false, NULL, 0,
                         "through lttng-relayd, for clrsym feed (the default)"},
        [OPTION_OUTPUT] = {'o', "output", "FILE", false, to_output, MEMBER(outputs),
                           "write to FILE"},
        [OPTION_TRACK] = {0, "track", "PID[,PID...]", false, to_texts, MEMBER(track),
                          "only these processes; can be given several times"},
        [OPTION_DISK] = {0, "disk", "SIZE", false, to_size, MEMBER(disk),
                         "limit of the trace of one user's programs (live: 2G)"},
        [OPTION_BUFFER_SIZE] = {0, "buffer-size", "SIZE", false, to_buffer_size,
                                MEMBER(buffer_size), "size of each sub-buffer (default: 1M)"},
        [OPTION_TRACE_FORMAT] = {0, "trace-format", "FORMAT", false, to_trace_format,
                                 MEMBER(trace_format), "ctf-1.8 (default) or ctf-2"},
        [OPTION_NAME] = {0, "name", "NAME", false, to_text, MEMBER(name),
                         "the session's name (default: clrsym)"},
        [OPTION_SESSION] = {0, "session", "NAME", false, to_text, MEMBER(session),
                            "the live session (default: the one that clrsym started)"},
        [OPTION_RELAY_OUTPUT] = {0, "relay-output", "DIR", false, to_text, MEMBER(relay_output),
                                 "the directory that lttng-relayd writes to"},
        [OPTION_JIT_EVENTS] = {0, "jit-events", NULL, false, NULL, 0,
                               "include the events that clrsym jit shows"},
        [OPTION_FORCE] = {'f', "force", NULL, false, NULL, 0,
                          "continue even if the recording seems to be of another boot or program"},
        [OPTION_RESTART] = {.letter = 'f',
                            .name = "restart",
                            .help = "restart the session even if nothing seems to be missing"},
        [OPTION_KEEP] = {0, "keep", NULL, false, NULL, 0,
                         "never remove the session's files of lttng-relayd"},
        [OPTION_QUIET] = {'q', "quiet", NULL, false, NULL, 0, "report only what was done"},
        [OPTION_VERBOSE] = {'v', "verbose", NULL, false, NULL, 0,
                            "report on stderr how many events are newer than this clrsym"},
        [OPTION_JSON] = {'j', "json", NULL, false, NULL, 0, "JSON, one object a line"},
        [OPTION_TARGETS] = {'p', "pid", "PID[,PID...]", false, to_targets, MEMBER(targets),
                            "these processes, and what they start; can be given several times"},
        [OPTION_ALL_CPUS] = {'a', "all-cpus", NULL, false, NULL, 0,
                             "the whole machine, with every .NET process on it"},
        [OPTION_DURATION] = {'d', "duration", "SEC", false, to_seconds, MEMBER(seconds),
                             "end after SEC seconds (default: at Ctrl-C, or with the command)"},
        [OPTION_FREQUENCY] = {'F', "freq", "HZ", false, to_frequency, MEMBER(frequency),
                              "samples a second of each CPU (default: 499)"},
        [OPTION_SAMPLER] = {.name = "sampler",
                            .argument = "NAME",
                            .convert = to_sampler,
                            .offset = MEMBER(source),
                            .help = "perf (default), runtime, alloc, contention or exception"},
        [OPTION_ALLOC] = {0, "alloc", NULL, false, NULL, 0,
                          "where memory is allocated, in bytes: --sampler alloc"},
        [OPTION_OFF_CPU] = {.name = "off-cpu",
                            .argument = "both",
                            .is_optional = true,
                            .convert = to_off_cpu,
                            .offset = MEMBER(time),
                            .help = "where threads wait, in ns; both: also where they use CPUs"},
        [OPTION_STACKS] =
                {0, "stacks", "KIND", false, to_stacks, MEMBER(is_physical),
                 "logical (default: the callers of async methods await them) or physical"},
        [OPTION_CALL_GRAPH] =
                {'g', "call-graph", "HOW", false, to_call_graph, MEMBER(call_graph),
                 "how callers are found: both[,BYTES] (default), fp or dwarf[,BYTES]"},
        [OPTION_EVERY] = {0, "every", "SEC", false, to_every, MEMBER(every),
                          "record until a signal; a profile each SEC seconds, to --push or -o DIR"},
        [OPTION_PUSH] = {0, "push", "URL", false, to_push, MEMBER(push),
                         "send each profile to Pyroscope, Parca or OpenTelemetry; needs --every"},
};

/* Old spellings, hidden from help. */
static const struct {
        const char *name;
        Option option;
} ALIASES[] = {
        {"names", OPTION_STYLE},
        {"all", OPTION_UNLOADED},
        {"socket", OPTION_INGEST_SOCKET},
        {"force", OPTION_RESTART},
};

enum {
        /* Values of getopt_long() above those of letters. */
        VALUE_HELP = 256,
        VALUE_FIRST,
        /* Options, aliases, --help and the end of the table. */
        N_LONG = _OPTION_MAX + G_N_ELEMENTS(ALIASES) + 2,
};

void options_clear(Options *options)
{
        g_clear_pointer(&options->exclude, g_ptr_array_unref);
        g_clear_pointer(&options->track, g_ptr_array_unref);
        g_clear_pointer(&options->outputs, g_ptr_array_unref);
        g_clear_pointer(&options->targets, g_array_unref);
        g_clear_pointer(&options->symbols, g_ptr_array_unref);
        g_clear_pointer(&options->source_maps, g_ptr_array_unref);
}

/* NAME is the spelling that the user typed. Returns what is wrong (owned), or NULL. */
static char *option_apply(Option option, const char *name, const char *argument, Options *options)
{
        const OptionRow *row = &ROWS[option];
        const char *wrong =
                row->convert ? row->convert(argument, (char *)options + row->offset) : NULL;

        options->given |= OPTION_BIT(option);
        return wrong ? g_strdup_printf("--%s%s%s: %s", name, row->is_optional ? "=" : " ",
                                       argument && *argument ? argument : "\"\"", wrong)
                     : NULL;
}

static Option option_from_value(OptionSet allowed, int value)
{
        unsigned i;

        if (value >= VALUE_FIRST)
                return (Option)(value - VALUE_FIRST);
        for (i = 0; i < _OPTION_MAX; i++)
                if (ROWS[i].letter == value && (allowed & OPTION_BIT(i)))
                        break;
        return (Option)i;
}

static struct option option_to_long(Option option, const char *name)
{
        const OptionRow *row = &ROWS[option];

        return (struct option){
                .name = name,
                .has_arg = row->is_optional ? optional_argument
                           : row->argument  ? required_argument
                                            : no_argument,
                .val = VALUE_FIRST + (int)option,
        };
}

/* Describes the options for getopt_long(). */
static void option_set_describe(OptionSet allowed, struct option longs[N_LONG], GString *letters)
{
        unsigned i;

        for (i = 0; i < _OPTION_MAX; i++) {
                if (!(allowed & OPTION_BIT(i)))
                        continue;
                *longs++ = option_to_long((Option)i, ROWS[i].name);
                if (ROWS[i].letter)
                        g_string_append_printf(letters, "%c%s", ROWS[i].letter,
                                               ROWS[i].argument ? ":" : "");
        }
        for (i = 0; i < G_N_ELEMENTS(ALIASES); i++)
                if (allowed & OPTION_BIT(ALIASES[i].option))
                        *longs++ = option_to_long(ALIASES[i].option, ALIASES[i].name);
        *longs++ = (struct option){"help", no_argument, NULL, VALUE_HELP};
        *longs = (struct option){0};
}

bool options_parse(int argc, char **argv, const OptionUse *use, Options *ret_options,
                   bool *ret_is_help, char **ret_reason)
{
        g_auto(Options) options = {0};
        g_autoptr(GString) letters = g_string_new(use->takes_command ? "+:h" : ":h");
        struct option longs[N_LONG];
        char *reason = NULL;
        bool is_help = false;
        int value, i;

        option_set_describe(use->allowed, longs, letters);
        optind = 0;
        while (!is_help && !reason &&
               (i = -1, value = getopt_long(argc, argv, letters->str, longs, &i)) != -1) {
                Option option = option_from_value(use->allowed, value);

                if (value == 'h' || value == VALUE_HELP)
                        is_help = true;
                else if (value == ':')
                        reason = g_strdup_printf("%s needs a value", argv[optind - 1]);
                else if (value == '?' && optopt > 0 && optopt < VALUE_HELP)
                        reason = g_strdup_printf("unknown option -%c", optopt);
                else if (value == '?' && optopt)
                        reason = g_strdup_printf("%s: the option takes no value", argv[optind - 1]);
                else if (value == '?')
                        reason = g_strdup_printf("unknown option %s", argv[optind - 1]);
                else
                        reason = option_apply(option, i >= 0 ? longs[i].name : ROWS[option].name,
                                              optarg, &options);
        }
        options.arguments = argv + optind;
        if (!reason && !is_help && options.socket && options.trace)
                reason = g_strdup("give --socket or --trace, not both");
        if (reason) {
                *ret_reason = reason;
                return false;
        }
        *ret_is_help = is_help;
        *ret_options = options;
        options = (Options){0};
        return true;
}

void options_append_required(GString *out, OptionSet required)
{
        unsigned i;

        for (i = 0; i < _OPTION_MAX; i++)
                if (required & OPTION_BIT(i))
                        g_string_append_printf(out, " --%s %s", ROWS[i].name, ROWS[i].argument);
}

static const OptionText *option_text(const OptionUse *use, Option option)
{
        const OptionText *text;

        for (text = use->texts; text && text->help; text++)
                if (text->option == option)
                        return text;
        return NULL;
}

/* "--name ARGUMENT", as the verb's help shows it. */
static char *option_spelling(const OptionUse *use, Option option)
{
        const OptionRow *row = &ROWS[option];
        const OptionText *text = option_text(use, option);

        if (!row->argument || row->is_old)
                return g_strdup_printf("--%s", row->name);
        return g_strdup_printf(row->is_optional ? "--%s[=%s]" : "--%s %s", row->name,
                               text ? text->argument : row->argument);
}

void options_append_help(GString *out, const OptionUse *use)
{
        size_t width = strlen("--help");
        unsigned pass, i;

        /* The first pass measures the width of the column, the second one appends. */
        for (pass = 0; pass < 2; pass++)
                for (i = 0; i < _OPTION_MAX; i++) {
                        g_autofree char *spelling = NULL;
                        const OptionText *text = option_text(use, (Option)i);

                        if (!(use->allowed & OPTION_BIT(i)))
                                continue;
                        spelling = option_spelling(use, (Option)i);
                        if (pass == 0)
                                width = MAX(width, strlen(spelling));
                        else
                                g_string_append_printf(out, "  %c%c%c %-*s  %s\n",
                                                       ROWS[i].letter ? '-' : ' ',
                                                       ROWS[i].letter ? ROWS[i].letter : ' ',
                                                       ROWS[i].letter ? ',' : ' ', (int)width,
                                                       spelling, text ? text->help : ROWS[i].help);
                }
        g_string_append_printf(out, "  -h, %-*s  %s\n", (int)width, "--help", "show this help");
}
