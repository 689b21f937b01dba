/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Options of the verbs: one table for all of them, of which each verb takes a part
 */

#include "clrsym/clrsym.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum Option {
        OPTION_SOCKET,
        OPTION_TRACE,
        OPTION_PID,
        OPTION_AT,
        OPTION_WAIT,
        OPTION_FILTER,
        OPTION_ALL,
        OPTION_TIER,
        OPTION_MIN_VERSIONS,
        OPTION_REJITTED,
        OPTION_OLDER,
        OPTION_SORT,
        OPTION_IL_VERSION,
        OPTION_STYLE,
        OPTION_EVENT,
        OPTION_JIT_EVENTS,
        OPTION_INPUT,
        OPTION_OUTPUT,
        OPTION_NAMES,
        OPTION_TIERS,
        OPTION_ANNOTATE,
        OPTION_SAMPLED,
        OPTION_MAP,
        OPTION_FORCE,
        OPTION_EVERY,
        OPTION_USER,
        OPTION_AGAIN,
        OPTION_LIST,
        OPTION_FORMAT,
        OPTION_JSON,
        _OPTION_MAX,
} Option;

#define OPTION_BIT(option) (1u << (option))

/* PID, or PIDNS:PID. */
typedef struct ProcessName {
        bool has_pid_ns;
        uint64_t pid_ns;
        int32_t pid;
} ProcessName;

bool process_name_from_text(const char *text, ProcessName *ret_name);

/* PERFPID=PID, or PERFPID=PIDNS:PID: what perf calls PERFPID. */
typedef struct ProcessMap {
        int32_t perf_pid;
        ProcessName process;
} ProcessMap;

/* Nobody types more. */
#define MAX_MAPS 64

typedef struct ProcessMaps {
        ProcessMap maps[MAX_MAPS];
        unsigned n;
} ProcessMaps;

typedef enum Sort {
        SORT_NONE,
        SORT_JIT,
        SORT_SIZE,
        SORT_VERSIONS,
        SORT_REUSE,
        SORT_LOADED,
        _SORT_MAX,
} Sort;

/* What was not given is zero. Strings are borrowed from the command line. */
typedef struct Options {
        unsigned given; /* OPTION_BITs */
        const char *socket;
        const char *trace;
        ProcessName process;
        const char *at;
        unsigned wait_ms;
        const char *tier; /* as clrsym_tier_name() spells it; static */
        uint64_t min_versions;
        uint64_t older_ns;
        Sort sort;
        uint64_t il_version;
        clrsym_style style;
        const char *event;
        const char *input;
        const char *output;
        const char *names; /* "full", "short" or "clr" */
        ProcessMaps maps;
        const char *user;
        const char *format;
        char **arguments; /* what is no option; ends with NULL */
} Options;

static inline bool options_has(const Options *options, Option option)
{
        return options->given & OPTION_BIT(option);
}

/*
 * Reads the options behind the verb argv[0], of which ALLOWED can be given. False if they are
 * wrong: RET_REASON says how (owned).
 */
bool options_parse(int argc, char **argv, unsigned allowed, Options *ret_options, bool *ret_is_help,
                   char **ret_reason);

/* "pid", and how its argument is shown: "PID", or NULL. */
const char *option_name(Option option);
const char *option_argument(Option option);

/* A line for each option in ALLOWED. */
void options_print(FILE *file, unsigned allowed);
