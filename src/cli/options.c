/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <getopt.h>
#include <string.h>

/* For `--wait` without a number. */
#define DEFAULT_WAIT_MS 5000
#define MAX_WAIT_S      86400

typedef struct OptionRow {
        char letter; /* 0: none */
        const char *name;
        int has_argument;
        const char *argument; /* how it is shown, or NULL */
        const char *help;
} OptionRow;

static const OptionRow ROWS[_OPTION_MAX] = {
        [OPTION_SOCKET] = {0, "socket", required_argument, "PATH", "ask the daemon at PATH"},
        [OPTION_TRACE] = {0, "trace", required_argument, "DIR",
                          "ask the trace in DIR, without a daemon"},
        [OPTION_PID] = {'p', "pid", required_argument, "PID",
                        "of this process (in a pid namespace: PIDNS:PID)"},
        [OPTION_AT] = {'t', "at", required_argument, "TIME",
                       "at this time: 473.414890639, now, -5s, HH:MM:SS ..."},
        [OPTION_ALL] = {0, "all", no_argument, NULL, "also what is unloaded"},
        [OPTION_WAIT] = {0, "wait", optional_argument, "SEC",
                         "wait until the events of the time asked for are in (default: 5)"},
        [OPTION_JSON] = {'j', "json", no_argument, NULL, "one JSON object a line"},
};

enum {
        /* getopt_long()'s values of the options; those below are letters. */
        VALUE_HELP = 256,
        VALUE_FIRST,
};

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

void process_name_append(const ProcessName *name, GString *out)
{
        g_string_append_printf(out, "\"pid\":%" G_GINT32_FORMAT, name->pid);
        if (name->has_pid_ns)
                g_string_append_printf(out, ",\"pid_ns\":%" G_GUINT64_FORMAT,
                                       (guint64)name->pid_ns);
}

static bool parse_wait(const char *text, unsigned *ret_ms)
{
        double seconds;
        char *end;

        *ret_ms = DEFAULT_WAIT_MS;
        if (!text)
                return true;
        seconds = g_ascii_strtod(text, &end);
        if (end == text || *end || !(seconds >= 0 && seconds <= MAX_WAIT_S))
                return false;
        *ret_ms = (unsigned)(seconds * 1000);
        return true;
}

/* NULL, or what is wrong (owned). */
static char *apply(Option option, const char *argument, Options *options)
{
        switch (option) {
        case OPTION_SOCKET:
                options->socket = argument;
                return NULL;
        case OPTION_TRACE:
                options->trace = argument;
                return NULL;
        case OPTION_PID:
                options->has_process = true;
                if (!process_name_from_text(argument, &options->process))
                        return g_strdup_printf("--pid %s: not a PID or PIDNS:PID", argument);
                return NULL;
        case OPTION_AT:
                options->at = argument;
                return NULL;
        case OPTION_ALL:
                options->is_all = true;
                return NULL;
        case OPTION_WAIT:
                if (!parse_wait(argument, &options->wait_ms))
                        return g_strdup_printf("--wait=%s: not a number of seconds", argument);
                return NULL;
        case OPTION_JSON:
                options->is_json = true;
                return NULL;
        case _OPTION_MAX:
                break;
        }
        g_assert_not_reached();
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

bool options_parse(int argc, char **argv, unsigned allowed, Options *ret_options, bool *ret_is_help,
                   char **ret_reason)
{
        struct option longs[_OPTION_MAX + 2] = {{"help", no_argument, NULL, VALUE_HELP}};
        g_autoptr(GString) letters = g_string_new(":h");
        size_t n_longs = 1;
        unsigned i;
        int value;

        *ret_options = (Options){0};
        *ret_is_help = false;
        *ret_reason = NULL;
        for (i = 0; i < _OPTION_MAX; i++) {
                const OptionRow *row = &ROWS[i];

                if (!(allowed & OPTION_BIT(i)))
                        continue;
                longs[n_longs++] =
                        (struct option){row->name, row->has_argument, NULL, VALUE_FIRST + (int)i};
                if (row->letter)
                        g_string_append_printf(letters, "%c%s", row->letter,
                                               row->has_argument == required_argument ? ":" : "");
        }

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
                text = row->argument ? g_strdup_printf(row->has_argument == optional_argument
                                                               ? "--%s[=%s]"
                                                               : "--%s %s",
                                                       row->name, row->argument)
                                     : g_strdup_printf("--%s", row->name);
                if (row->letter)
                        fprintf(file, "  -%c, %-16s %s\n", row->letter, text, row->help);
                else
                        fprintf(file, "      %-16s %s\n", text, row->help);
        }
        fprintf(file, "  -h, %-16s %s\n", "--help", "this");
}
