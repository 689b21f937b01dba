/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Question text: a query of Resolve as nearly every client writes it, read without a tree of JSON
 */

#include "tracker/answer.h"

/*
 * Reads TEXT, N bytes: an object of pid, addr, pid_ns and time, each at most once. False if it is
 * anything else, or if a value is wrong: then only a parser of all JSON can say what it is.
 */
bool question_from_text(const char *text, size_t n, Question *ret_question);
