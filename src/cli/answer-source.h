/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer source: a daemon, or a trace with a daemon of its own, and its replies
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <jansson.h>

typedef struct AnswerSource AnswerSource;

/* How a trace is opened. */
typedef enum AnswerSourceFlags {
        ANSWER_SOURCE_PLAIN = 0,
        ANSWER_SOURCE_JIT_EVENTS = 1, /* also take the events about the JIT's work */
        ANSWER_SOURCE_SAVE = 2,       /* write a snapshot to options->output */
        ANSWER_SOURCE_ONCE = 4,       /* do not reconnect: a lost connection is an error */
} AnswerSourceFlags;

AnswerSource *answer_source_open(const Options *options, AnswerSourceFlags flags, GError **error);
/* Prints on stderr how TRACE is read, for --verbose; NULL: nothing. */
void answer_source_print_note(const char *trace, const char *note);
/* Prints why SUBJECT, an argument, found nothing, to a person at a terminal. */
void answer_source_print_hint(const char *subject, const char *hint);
void answer_source_free(AnswerSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AnswerSource, answer_source_free)

/* For calls that the functions below do not make. Borrowed. */
clrsym *answer_source_handle(AnswerSource *source);
/* Sets ERROR from the library's message about its last call. */
void answer_source_set_error(AnswerSource *source, GError **error);

/* {"pid":..., "pid_ns":...}, or {} if no process is named. The caller owns it. */
json_t *answer_source_parameters(const Options *options);

/*
 * Calls METHOD; its only parameter is the process of OPTIONS (NULL: none). Owned; NULL with ERROR
 * set.
 */
json_t *answer_source_call(AnswerSource *source, const char *method, const Options *options,
                           GError **error);
/* Calls METHOD without parameters, and prints the reply on a line. */
bool answer_source_print(AnswerSource *source, const char *method, GError **error);

/*
 * Calls METHOD, and FN for each element of the array MEMBER of the replies. Takes over PARAMETERS.
 * If FN returns a value other than 0, the list ends; less than 0 is a failure of a clrsym_row_
 * function.
 */
bool answer_source_rows(AnswerSource *source, const char *method, json_t *parameters,
                        const char *member, clrsym_row_fn fn, void *data, GError **error);
/* Calls Resolve with PARAMETERS, the text of a JSON object, and FN for each answer. */
bool answer_source_resolve(AnswerSource *source, const char *parameters, unsigned wait_ms,
                           clrsym_row_fn fn, void *data, GError **error);
/* For answer_source_rows(): prints the row on a line. */
int answer_source_print_row(clrsym_row *row, void *data);
/* As answer_source_rows(); prints each element on a line. */
bool answer_source_print_rows(AnswerSource *source, const char *method, json_t *parameters,
                              const char *member, GError **error);

/* Converts TEXT to ns; TIMES in clrsym(1) describes its forms. */
bool answer_source_time(AnswerSource *source, const char *text, uint64_t *ret_time, GError **error);

/* All failures here end the program with a message: one code is enough. */
#define ANSWER_SOURCE_ERROR (g_quark_from_static_string("clrsym-source"))
