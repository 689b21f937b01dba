/* SPDX-License-Identifier: MIT */
#pragma once

/* Question text: a query of Resolve in its usual spelling, read without a JSON tree */

#include "tracker/answer.h"

/*
 * Reads TEXT, N bytes: an object of pid, addr, pid_ns and time, each at most once. False if TEXT is
 * anything else, or if a value is invalid: then the JSON parser decides.
 */
bool question_from_text(const char *text, size_t n, Question *ret_question);
