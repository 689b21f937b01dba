/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Verbs: the commands of clrsym
 */

#include "cli/options.h"

/* Exit status of every verb. */
typedef enum ExitCode {
        EXIT_OK,
        EXIT_FAILED, /* for doctor also: there is a problem, or a check is undecided */
        EXIT_USAGE,
} ExitCode;

/*
 * Prints to stdout. False with ERROR set on failure; without ERROR if the output could not be
 * written, or if the printed text reports the failure.
 */
typedef bool (*VerbFn)(const Options *options, GError **error);

typedef struct Verb Verb;

struct Verb {
        const char *name;
        bool is_hidden; /* an old spelling: accepted, but hidden */
        VerbFn run;
        OptionUse use;
        OptionSet required;    /* required ones among the allowed options */
        const char *arguments; /* arguments in the help text; NULL: no arguments */
        unsigned min_arguments, max_arguments;
        bool reads_arguments; /* if arguments are paths, they are paths of input */
        /* Returns another mistake in the usage, or NULL. Static. */
        const char *(*check)(const Options *options);
        const char *help;
        int (*status)(void); /* the exit status if it succeeds; NULL: EXIT_OK */
        /* If RUN is NULL: verbs for the next word. */
        const Verb *verbs;
        unsigned n_verbs;
};

/* The verbs that `clrsym --help` shows, in this order. */
extern const Verb VERBS_ROOT;

/* The verb of PARENT with that name, or NULL. */
const Verb *verb_find(const Verb *parent, const char *name);
/* The verb with the name most similar to NAME, or NULL. */
const Verb *verb_guess(const Verb *parent, const char *name);

bool verb_resolve(const Options *options, GError **error);
bool verb_ps(const Options *options, GError **error);
bool verb_methods(const Options *options, GError **error);
bool verb_history(const Options *options, GError **error);
bool verb_versions(const Options *options, GError **error);
bool verb_modules(const Options *options, GError **error);
bool verb_assemblies(const Options *options, GError **error);
bool verb_perfmap(const Options *options, GError **error);
bool verb_record(const Options *options, GError **error);
bool verb_perf(const Options *options, GError **error);
bool verb_stack(const Options *options, GError **error);
bool verb_report(const Options *options, GError **error);
bool verb_dump(const Options *options, GError **error);
bool verb_inlines(const Options *options, GError **error);
bool verb_jit(const Options *options, GError **error);
bool verb_status(const Options *options, GError **error);
bool verb_metrics(const Options *options, GError **error);
bool verb_save(const Options *options, GError **error);
bool verb_attach(const Options *options, GError **error);
bool verb_detach(const Options *options, GError **error);
bool verb_env(const Options *options, GError **error);
bool verb_session_start(const Options *options, GError **error);
bool verb_session_stop(const Options *options, GError **error);
bool verb_session_list(const Options *options, GError **error);
bool verb_session_repair(const Options *options, GError **error);
bool verb_feed(const Options *options, GError **error);
bool verb_import(const Options *options, GError **error);
bool verb_doctor(const Options *options, GError **error);
bool verb_version(const Options *options, GError **error);
bool verb_help(const Options *options, GError **error);

/* The exit status of the recorded command. */
int verb_record_status(void);

/* A mistake in the usage of these verbs, or NULL. Static. */
const char *verb_session_start_check(const Options *options);
const char *verb_record_check(const Options *options);
const char *verb_stack_check(const Options *options);
const char *verb_feed_check(const Options *options);
const char *verb_doctor_check(const Options *options);
const char *verb_perfmap_check(const Options *options);
const char *verb_help_check(const Options *options);
