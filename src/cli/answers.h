/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers to questions about addresses: asked many at a time, printed one a line
 */

#include "cli/answer-wait.h"
#include "cli/line-source.h"

/* Strings are borrowed. */
typedef struct AddressQuestion {
        ProcessName process;
        const char *address; /* hexadecimal, with or without 0x */
        const char *time;    /* see TIMES in clrsym(1); NULL: none */
        const char *wrong;   /* NULL, or why the question is invalid: then ADDRESS is the input */
} AddressQuestion;

/* True if TEXT is an address: 1 to 16 hexadecimal digits, with or without 0x. */
bool address_from_text(const char *text, uint64_t *ret_address);

/* Prints the daemon's JSON. LINES: adds the source line of each; NULL: does not. */
bool answers_print_json(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, AnswerWait *wait, GError **error);
/* Prints text. Uses the binary form of the protocol, which is many times as fast. */
bool answers_print_text(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, AnswerWait *wait, GError **error);
