/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers to questions about addresses: asked in batches, printed one a line
 */

#include "cli/answer-wait.h"
#include "cli/line-source.h"
#include "cli/native-processes.h"

/* Strings are borrowed. */
typedef struct AddressQuestion {
        ProcessName process;
        const char *address; /* hexadecimal, with or without 0x */
        const char *time;    /* see TIMES in clrsym(1); NULL: none */
        const char *wrong;   /* why the question is invalid, and ADDRESS is the input; NULL: it is
                              * valid */
} AddressQuestion;

/* The process of QUESTION, and whether it has a time; without the address and the time. */
clrsym_query address_question_query(const AddressQuestion *question);
/* True if TEXT is an address: 1 to 16 hexadecimal digits, with or without 0x. */
bool address_from_text(const char *text, uint64_t *ret_address);

/* What answers have besides the daemon's members. */
typedef struct AnswerExtras {
        LineSource *lines;        /* owned: the source line of each answer; NULL: no lines */
        NativeProcesses *natives; /* owned: names of native code where no method is; NULL: none */
} AnswerExtras;

/* Prints JSON. */
bool answers_print_json(AnswerSource *source, const AnswerExtras *extras,
                        const AddressQuestion *questions, size_t n, AnswerWait *wait,
                        GError **error);
/* Prints text. Uses the binary form of the protocol, which is many times faster than JSON. */
bool answers_print_text(AnswerSource *source, const AnswerExtras *extras,
                        const AddressQuestion *questions, size_t n, AnswerWait *wait,
                        GError **error);
