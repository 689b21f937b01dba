/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "clrsym/clrsym.h"

#include <getopt.h>
#include <string.h>

/* For `--wait` without a number. */
#define DEFAULT_WAIT_MS 5000
#define MAX_WAIT_S      86400
/* A machine that has been up for longer is none. */
#define MAX_AGE_S 1e9

/* Puts an option's argument into the member of Options; NULL, or what it is not (static). */
typedef const char *(*Convert)(const char *argument, void *member);

typedef struct OptionRow {
        char letter; /* 0: none */
        const char *name;
        const char *argument; /* how it is shown; NULL: it takes none */
        bool is_optional;     /* its argument */
        Convert convert;
        size_t offset;
        const char *help;
} OptionRow;

static bool digits(const char *text, size_t n, uint64_t max, uint64_t *ret_u)
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
        if (colon && !digits(text, (size_t)(colon - text), INT64_MAX, &ret_name->pid_ns))
                return false;
        if (!digits(pid, strlen(pid), INT32_MAX, &u) || u == 0)
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

        if (!equals || !digits(argument, (size_t)(equals - argument), INT32_MAX, &u) ||
            !process_name_from_text(equals + 1, &map.process))
                return "not PERFPID=PID or PERFPID=PIDNS:PID";
        map.perf_pid = (int32_t)u;
        for (i = 0; i < maps->n; i++)
                if (maps->maps[i].perf_pid == map.perf_pid)
                        return "that PERFPID was given before";
        if (maps->n == MAX_MAPS)
                return "more than can be given";
        maps->maps[maps->n++] = map;
        return NULL;
}

static const char *to_names(const char *argument, void *member)
{
        if (strcmp(argument, "full") != 0 && strcmp(argument, "short") != 0 &&
            strcmp(argument, "clr") != 0)
                return "not full, short or clr";
        *(const char **)member = argument;
        return NULL;
}

static bool seconds(const char *text, double max, double *ret_seconds)
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
        if (!seconds(argument, MAX_WAIT_S, &s))
                return "not a number of seconds";
        *ms = (unsigned)(s * 1000);
        return NULL;
}

static const char *to_age(const char *argument, void *member)
{
        uint64_t *ns = member;
        double s;

        if (!seconds(argument, MAX_AGE_S, &s))
                return "not a number of seconds";
        *ns = (uint64_t)(s * 1e9);
        return NULL;
}

static const char *to_number(const char *argument, void *member)
{
        return digits(argument, strlen(argument), INT64_MAX, member) ? NULL : "not a number";
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

static const char *to_style(const char *argument, void *member)
{
        return clrsym_style_from_name(argument, member) ? NULL : "not clr, csharp or short";
}

static const char *to_sort(const char *argument, void *member)
{
        static const char *const NAMES[_SORT_MAX] = {
                [SORT_JIT] = "jit",     [SORT_SIZE] = "size",     [SORT_VERSIONS] = "versions",
                [SORT_REUSE] = "reuse", [SORT_LOADED] = "loaded",
        };
        unsigned i;

        for (i = SORT_NONE + 1; i < _SORT_MAX; i++)
                if (!strcmp(argument, NAMES[i])) {
                        *(Sort *)member = (Sort)i;
                        return NULL;
                }
        return "not one of jit, size, versions, reuse, loaded";
}

#define MEMBER(name) offsetof(Options, name)

static const OptionRow ROWS[_OPTION_MAX] = {
        [OPTION_SOCKET] = {0, "socket", "PATH", false, to_text, MEMBER(socket),
                           "ask the daemon at PATH"},
        [OPTION_TRACE] = {0, "trace", "DIR", false, to_text, MEMBER(trace),
                          "ask the trace in DIR, or a snapshot of one, without a daemon"},
        [OPTION_PID] = {'p', "pid", "PID", false, to_process, MEMBER(process),
                        "of this process (in a pid namespace: PIDNS:PID)"},
        [OPTION_AT] = {'t', "at", "TIME", false, to_text, MEMBER(at),
                       "at this time: 473.414890639, now, -5s, HH:MM:SS ..."},
        [OPTION_WAIT] = {0, "wait", "SEC", true, to_wait, MEMBER(wait_ms),
                         "wait until the events of the time asked for are in (default: 5)"},
        [OPTION_FILTER] = {0, "filter", NULL, false, NULL, 0,
                           "copy stdin to stdout, with names for the addresses in it"},
        [OPTION_ALL] = {0, "all", NULL, false, NULL, 0, "also what is unloaded"},
        [OPTION_TIER] = {0, "tier", "TIER", false, to_tier, MEMBER(tier),
                         "only code of this tier: QuickJitted, OptimizedTier1, ReadyToRun ..."},
        [OPTION_MIN_VERSIONS] = {0, "min-versions", "N", false, to_number, MEMBER(min_versions),
                                 "only methods that had N native bodies or more"},
        [OPTION_REJITTED] = {0, "rejitted", NULL, false, NULL, 0,
                             "only code whose IL a profiler replaced"},
        [OPTION_OLDER] = {0, "older", "SEC", false, to_age, MEMBER(older_ns),
                          "only code that has lived for SEC seconds or longer"},
        [OPTION_SORT] = {0, "sort", "KEY", false, to_sort, MEMBER(sort),
                         "largest first: jit, size, versions, reuse or loaded"},
        [OPTION_IL_VERSION] = {0, "il-version", "N", false, to_number, MEMBER(il_version),
                               "only code of this version of the IL"},
        [OPTION_STYLE] = {0, "style", "STYLE", false, to_style, MEMBER(style),
                          "names as csharp (default), clr or short has them: clrsym-names(7)"},
        [OPTION_EVENT] = {0, "event", "GLOB", false, to_text, MEMBER(event),
                          "only these events: 'MethodLoad*', '*ILToNative*' ..."},
        [OPTION_JIT_EVENTS] = {0, "jit-events", NULL, false, NULL, 0,
                               "also the events that clrsym jit is about"},
        [OPTION_INPUT] = {'i', "input", "FILE", false, to_text, MEMBER(input),
                          "the recording (default: perf.data)"},
        [OPTION_NAMES] = {0, "names", "FORM", false, to_names, MEMBER(names),
                          "full (default), short: Type.Method, or clr: as the runtime has it"},
        [OPTION_TIERS] = {0, "tiers", NULL, false, NULL, 0, "text: with the tier of managed code"},
        [OPTION_ANNOTATE] = {0, "annotate", NULL, false, NULL, 0,
                             "folded: _[j] behind managed names, _[k] behind the kernel's"},
        [OPTION_SAMPLED] = {0, "event", "NAME", false, to_text, MEMBER(event),
                            "only samples of this event, where several were recorded"},
        [OPTION_MAP] = {0, "map", "MAP", false, to_map, MEMBER(maps),
                        "PERFPID=PIDNS:PID: which process it is that perf calls PERFPID"},
        [OPTION_FORCE] = {0, "force", NULL, false, NULL, 0,
                          "also if the recording seems to be of another boot or program"},
        [OPTION_OUTPUT] = {'o', "output", "FILE", false, to_text, MEMBER(output), "write to FILE"},
        [OPTION_EVERY] = {0, "all", NULL, false, NULL, 0, "every process that there is"},
        [OPTION_USER] = {0, "user", "NAME", false, to_text, MEMBER(user),
                         "every process of this user"},
        [OPTION_AGAIN] = {0, "again", NULL, false, NULL, 0,
                          "have everything listed once more, if it is attached already"},
        [OPTION_LIST] = {0, "list", NULL, false, NULL, 0, "show what is attached"},
        [OPTION_FORMAT] = {0, "format", "FORM", false, to_text, MEMBER(format),
                           "sh, env, systemd or docker (default: sh)"},
        [OPTION_JSON] = {'j', "json", NULL, false, NULL, 0, "JSON, one object a line"},
};

enum {
        /* getopt_long()'s values of the options; those below are letters. */
        VALUE_HELP = 256,
        VALUE_FIRST,
};

const char *option_name(Option option)
{
        return ROWS[option].name;
}

const char *option_argument(Option option)
{
        return ROWS[option].argument;
}

/* NULL, or what is wrong (owned). */
static char *apply(Option option, const char *argument, Options *options)
{
        const OptionRow *row = &ROWS[option];
        const char *wrong =
                row->convert ? row->convert(argument, (char *)options + row->offset) : NULL;

        options->given |= OPTION_BIT(option);
        return wrong ? g_strdup_printf("--%s%s%s: %s", row->name, row->is_optional ? "=" : " ",
                                       argument, wrong)
                     : NULL;
}

static Option option_of(int value)
{
        unsigned i;

        if (value >= VALUE_FIRST)
                return (Option)(value - VALUE_FIRST);
        for (i = 0; i < _OPTION_MAX; i++)
                if (ROWS[i].letter == value)
                        break;
        return (Option)i;
}

/* What getopt_long() is told; LONGS has room for all options, --help and an end. */
static void describe(unsigned allowed, struct option *longs, GString *letters)
{
        unsigned i;

        for (i = 0; i < _OPTION_MAX; i++) {
                const OptionRow *row = &ROWS[i];
                int argument = row->is_optional ? optional_argument
                               : row->argument  ? required_argument
                                                : no_argument;

                if (!(allowed & OPTION_BIT(i)))
                        continue;
                *longs++ = (struct option){row->name, argument, NULL, VALUE_FIRST + (int)i};
                if (row->letter)
                        g_string_append_printf(letters, "%c%s", row->letter,
                                               argument == required_argument ? ":" : "");
        }
        *longs++ = (struct option){"help", no_argument, NULL, VALUE_HELP};
        *longs = (struct option){0};
}

bool options_parse(int argc, char **argv, unsigned allowed, Options *ret_options, bool *ret_is_help,
                   char **ret_reason)
{
        struct option longs[_OPTION_MAX + 2];
        g_autoptr(GString) letters = g_string_new(":h");
        int value;

        *ret_options = (Options){0};
        *ret_is_help = false;
        *ret_reason = NULL;
        describe(allowed, longs, letters);
        optind = 0;
        while ((value = getopt_long(argc, argv, letters->str, longs, NULL)) != -1) {
                if (value == 'h' || value == VALUE_HELP) {
                        *ret_is_help = true;
                        return true;
                }
                if (value == ':')
                        *ret_reason = g_strdup_printf("%s needs a value", argv[optind - 1]);
                else if (value == '?' && optopt > 0 && optopt < VALUE_HELP)
                        *ret_reason = g_strdup_printf("unknown option -%c", optopt);
                else if (value == '?')
                        *ret_reason = g_strdup_printf("unknown option %s", argv[optind - 1]);
                else
                        *ret_reason = apply(option_of(value), optarg, ret_options);
                if (*ret_reason)
                        return false;
        }
        ret_options->arguments = argv + optind;
        if (ret_options->socket && ret_options->trace)
                *ret_reason = g_strdup("--socket and --trace: one of them, not both");
        return !*ret_reason;
}

void options_print(FILE *file, unsigned allowed)
{
        unsigned i;

        for (i = 0; i < _OPTION_MAX; i++) {
                const OptionRow *row = &ROWS[i];
                g_autofree char *text = NULL;

                if (!(allowed & OPTION_BIT(i)))
                        continue;
                text = row->argument ? g_strdup_printf(row->is_optional ? "--%s[=%s]" : "--%s %s",
                                                       row->name, row->argument)
                                     : g_strdup_printf("--%s", row->name);
                if (row->letter)
                        fprintf(file, "  -%c, %-17s %s\n", row->letter, text, row->help);
                else
                        fprintf(file, "      %-17s %s\n", text, row->help);
        }
        fprintf(file, "  -h, %-17s %s\n", "--help", "this");
}
