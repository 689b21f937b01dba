/* SPDX-License-Identifier: MIT */
#pragma once

/* Question text: parses a query of Resolve in its usual form, without a JSON tree */

#include "tracker/answer.h"

/*
 * Parses TEXT, N bytes: an object of pid, addr, pid_ns and time, each at most once. False: another
 * form, or an invalid value: then the JSON parser decides.
 */
bool question_from_text(const char *text, size_t n, Question *ret_question);
