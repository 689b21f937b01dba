/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer wait: how long a command waits for missing events
 *
 * With --wait=SEC a command waits for all events that its questions need. By default it waits only
 * if an answer is missing whose events may still arrive, and at most 2 seconds for all questions of
 * a burst. A later burst may wait again.
 */

#include "cli/answer-source.h"

typedef struct AnswerWait {
        bool is_given;    /* set by --wait */
        unsigned ms;      /* the given time, or the rest of the default */
        gint64 last_time; /* us of g_get_monotonic_time(): end of the last wait */
} AnswerWait;

void answer_wait_init(AnswerWait *wait, const Options *options);

/* As clrsym_resolve(). If the first answers are incomplete, waits and asks a second time. */
bool answer_wait_resolve(AnswerWait *wait, AnswerSource *source, const clrsym_query *queries,
                         size_t n, clrsym_answer *answers, GError **error);

/* True if later events may improve the answer. */
bool answer_is_missing(const clrsym_answer *answer);

/* For callers with a call of their own: ms to wait in the first and in the second call. */
unsigned answer_wait_first(const AnswerWait *wait);
/* IS_MISSING: the first call lacked an answer. 0: there is no second call. */
unsigned answer_wait_second(AnswerWait *wait, bool is_missing);
/* Call this after the second call. */
void answer_wait_end(AnswerWait *wait);
