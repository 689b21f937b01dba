/* SPDX-License-Identifier: MIT */
#include "perf/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stores VALUE (NULL: no '=') in the member at OFFSET. False: malformed. */
typedef bool (*TakeValue)(Settings *settings, const char *value, size_t offset);

static void *settings_member(Settings *settings, size_t offset)
{
        return (char *)settings + offset;
}

static bool settings_take_text(Settings *settings, const char *value, size_t offset)
{
        *(const char **)settings_member(settings, offset) = value;
        return value && *value;
}

static bool take_texts(Settings *settings, const char *value, size_t offset)
{
        SettingTexts *list = settings_member(settings, offset);
        const char **texts;

        if (!value || !*value)
                return false;
        texts = realloc(list->texts, (list->n + 1) * sizeof(*texts));
        if (!texts)
                return false;
        list->texts = texts;
        texts[list->n++] = value;
        return true;
}

static bool take_flag(Settings *settings, const char *value, size_t offset)
{
        *(bool *)settings_member(settings, offset) = true;
        return !value;
}

/* Parses a number from MIN to MAX with END behind it. Returns the text after END, or NULL. */
static const char *parse_number(const char *text, int64_t min, int64_t max, char end, int64_t *ret)
{
        char *rest;

        if (!text || (*text != '-' && (*text < '0' || *text > '9')))
                return NULL;
        errno = 0;
        *ret = strtoll(text, &rest, 10);
        if (errno || rest == text || *rest != end || *ret < min || *ret > max)
                return NULL;
        return end ? rest + 1 : rest;
}

static bool take_unsigned(Settings *settings, const char *value, size_t offset)
{
        int64_t n;

        if (!parse_number(value, 0, INT32_MAX, '\0', &n))
                return false;
        *(unsigned *)settings_member(settings, offset) = (unsigned)n;
        return true;
}

static bool take_fd(Settings *settings, const char *value, size_t offset)
{
        int64_t n;

        if (!parse_number(value, 0, INT32_MAX, '\0', &n))
                return false;
        *(int *)settings_member(settings, offset) = (int)n;
        return true;
}

static bool take_word(const char *value, const char *const *words, unsigned n, void *ret_word)
{
        unsigned i;

        for (i = 0; value && i < n; i++)
                if (!strcmp(value, words[i])) {
                        memcpy(ret_word, &i, sizeof(i));
                        return true;
                }
        return false;
}

static bool take_form(Settings *settings, const char *value, size_t offset)
{
        static const char *const WORDS[] = {
                [FORM_TEXT] = "text",
                [FORM_FOLDED] = "folded",
        };

        return take_word(value, WORDS, sizeof(WORDS) / sizeof(WORDS[0]),
                         settings_member(settings, offset));
}

static bool take_style(Settings *settings, const char *value, size_t offset)
{
        /* names=full means csharp. */
        if (value && !strcmp(value, "full"))
                value = "csharp";
        return value && clrsym_style_from_name(value, settings_member(settings, offset));
}

/* "OFFSET,SLACK" */
static bool settings_take_clock(Settings *settings, const char *value, size_t offset)
{
        int64_t slack;

        value = parse_number(value, INT64_MIN, INT64_MAX, ',', &settings->clock_offset);
        if (!value || !parse_number(value, 0, INT64_MAX, '\0', &slack))
                return false;
        settings->clock_slack = (uint64_t)slack;
        settings->has_clock = true;
        return true;
}

/* "PERFPID=PID" or "PERFPID=NS:PID" */
static bool take_map(Settings *settings, const char *value, size_t offset)
{
        const char *colon = value ? strchr(value, ':') : NULL;
        PidMap map = {.has_pid_ns = colon != NULL};
        int64_t perf_pid, pid, pid_ns = 0;
        PidMap *maps;

        value = parse_number(value, 0, INT32_MAX, '=', &perf_pid);
        if (value && colon)
                value = parse_number(value, 0, INT64_MAX, ':', &pid_ns);
        if (!value || !parse_number(value, 1, INT32_MAX, '\0', &pid))
                return false;
        map.perf_pid = (int32_t)perf_pid;
        map.pid = (int32_t)pid;
        map.pid_ns = (uint64_t)pid_ns;
        maps = realloc(settings->maps, (settings->n_maps + 1) * sizeof(*maps));
        if (!maps)
                return false;
        maps[settings->n_maps++] = map;
        settings->maps = maps;
        return true;
}

#define MEMBER(name) offsetof(Settings, name)

static const struct {
        const char *name;
        TakeValue take;
        size_t offset;
        const char *want; /* expected form, for the error message */
} ROWS[] = {
        {"socket", settings_take_text, MEMBER(socket), "socket=PATH"},
        {"trace", settings_take_text, MEMBER(trace), "trace=DIR"},
        {"no-events", take_flag, MEMBER(has_no_events), "no-events, without a value"},
        {"event", settings_take_text, MEMBER(event), "event=NAME"},
        {"format", take_form, MEMBER(form), "format=text or format=folded"},
        {"style", take_style, MEMBER(style), "style=csharp, style=clr or style=short"},
        {"names", take_style, MEMBER(style), "style=csharp, style=clr or style=short"},
        {"tier", take_flag, MEMBER(has_tier), "tier, without a value"},
        {"explain", take_flag, MEMBER(has_source), "explain, without a value"},
        {"annotate", take_flag, MEMBER(is_annotated), "annotate, without a value"},
        {"lines", take_flag, MEMBER(has_lines), "lines, without a value"},
        {"symbols", take_texts, MEMBER(symbols), "symbols=DIR"},
        {"program", take_texts, MEMBER(programs), "program=PATH"},
        {"source-map", take_texts, MEMBER(source_maps), "source-map=FROM=TO"},
        {"map", take_map, 0, "map=PERFPID=PID or map=PERFPID=NAMESPACE:PID"},
        {"mapped-only", take_flag, MEMBER(is_mapped_only), "mapped-only, without a value"},
        {"clock", settings_take_clock, 0, "clock=OFFSET,SLACK in nanoseconds"},
        {"wait", take_unsigned, MEMBER(wait_ms), "wait=MILLISECONDS"},
        {"report", take_fd, MEMBER(report_fd), "report=FD"},
        {"mappings", take_fd, MEMBER(mappings_fd), "mappings=FD"},
};

static int compare_maps(const void *one, const void *other)
{
        int32_t a = ((const PidMap *)one)->perf_pid, b = ((const PidMap *)other)->perf_pid;

        return (a > b) - (a < b);
}

static bool take_argument(Settings *settings, const char *argument, char *ret_reason,
                          size_t n_reason)
{
        const char *equals = strchr(argument, '=');
        size_t n = equals ? (size_t)(equals - argument) : strlen(argument), i;

        for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
                if (strlen(ROWS[i].name) != n || memcmp(argument, ROWS[i].name, n) != 0)
                        continue;
                if (ROWS[i].take(settings, equals ? equals + 1 : NULL, ROWS[i].offset))
                        return true;
                snprintf(ret_reason, n_reason, "--dlarg %s: it is %s", argument, ROWS[i].want);
                return false;
        }
        snprintf(ret_reason, n_reason, "--dlarg %s: not known: see perf script --list-dlfilters -v",
                 argument);
        return false;
}

bool settings_read(Settings *settings, char **arguments, int n, char *ret_reason, size_t n_reason)
{
        size_t i;
        int j;

        *settings = (Settings){
                .style = CLRSYM_STYLE_CSHARP,
                .clock_slack = DEFAULT_CLOCK_SLACK,
                .report_fd = -1,
                .mappings_fd = -1,
                .wait_ms = 2000,
        };
        for (j = 0; j < n; j++)
                if (!take_argument(settings, arguments[j], ret_reason, n_reason))
                        return false;
        if (settings->socket && settings->trace) {
                snprintf(ret_reason, n_reason, "give --dlarg socket or --dlarg trace, not both");
                return false;
        }
        if (settings->n_maps)
                qsort(settings->maps, settings->n_maps, sizeof(*settings->maps), compare_maps);
        for (i = 1; i < settings->n_maps; i++)
                if (settings->maps[i - 1].perf_pid == settings->maps[i].perf_pid) {
                        snprintf(ret_reason, n_reason, "--dlarg map: %" PRId32 " is mapped twice",
                                 settings->maps[i].perf_pid);
                        return false;
                }
        return true;
}

void settings_deinit(Settings *settings)
{
        free(settings->programs.texts);
        free(settings->symbols.texts);
        free(settings->source_maps.texts);
        settings->symbols = settings->source_maps = (SettingTexts){0};
        free(settings->maps);
        settings->maps = NULL;
        settings->n_maps = 0;
}

const PidMap *settings_map(const Settings *settings, int32_t perf_pid)
{
        const PidMap key = {.perf_pid = perf_pid};

        return settings->n_maps
                       ? bsearch(&key, settings->maps, settings->n_maps, sizeof(key), compare_maps)
                       : NULL;
}
