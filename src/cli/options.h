/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Options of the verbs: one table for all of them, of which each verb takes a part
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum Option {
        OPTION_SOCKET,
        OPTION_TRACE,
        OPTION_PID,
        OPTION_AT,
        OPTION_ALL,
        OPTION_WAIT,
        OPTION_JSON,
        _OPTION_MAX,
} Option;

#define OPTION_BIT(option) (1u << (option))
/* What every verb that asks questions takes. */
#define OPTIONS_COMMON                                                                             \
        (OPTION_BIT(OPTION_SOCKET) | OPTION_BIT(OPTION_TRACE) | OPTION_BIT(OPTION_JSON))

/* PID, or PIDNS:PID. */
typedef struct ProcessName {
        bool has_pid_ns;
        uint64_t pid_ns;
        int32_t pid;
} ProcessName;

bool process_name_from_text(const char *text, ProcessName *ret_name);
/* Appends the members "pid" and, if known, "pid_ns", without braces. */
void process_name_append(const ProcessName *name, GString *out);

/* Strings are borrowed from the command line. */
typedef struct Options {
        const char *socket; /* or NULL */
        const char *trace;  /* or NULL */
        bool has_process;
        ProcessName process;
        const char *at; /* or NULL */
        bool is_all;
        bool is_json;
        unsigned wait_ms;
        char **arguments; /* what is no option; ends with NULL */
} Options;

/*
 * Reads the options behind the verb argv[0], of which ALLOWED can be given. False if they are
 * wrong: RET_REASON says how (owned).
 */
bool options_parse(int argc, char **argv, unsigned allowed, Options *ret_options, bool *ret_is_help,
                   char **ret_reason);

/* A line for each option in ALLOWED. */
void options_print(FILE *file, unsigned allowed);
