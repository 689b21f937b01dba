/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer wait: how long a command waits for the events that its answers lack
 *
 * With --wait=SEC it waits for everything that the questions mean. By default it waits only if an
 * answer is missing whose events may still arrive, and at most 2 seconds for all questions of a
 * burst: a command that is asked again later may wait again.
 */

#include "cli/answer-source.h"

typedef struct AnswerWait {
        bool is_given;    /* by --wait */
        unsigned ms;      /* given, or what is left of the default */
        gint64 last_time; /* us of g_get_monotonic_time(): when the last wait was over */
} AnswerWait;

void answer_wait_init(AnswerWait *wait, const Options *options);

/* As clrsym_resolve(); asks a second time, and waits, if the first answers are not complete. */
bool answer_wait_resolve(AnswerWait *wait, AnswerSource *source, const clrsym_query *queries,
                         size_t n, clrsym_answer *answers, GError **error);

/* May the answer become a better one once more events have arrived? */
bool answer_is_missing(const clrsym_answer *answer);

/* For callers that ask in another way: ms to wait at the first, and at a second time of asking. */
unsigned answer_wait_first(const AnswerWait *wait);
/* IS_MISSING: the first time an answer was missing. 0: there is no second time. */
unsigned answer_wait_second(AnswerWait *wait, bool is_missing);
/* To be called after the second time. */
void answer_wait_end(AnswerWait *wait);
