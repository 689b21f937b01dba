/* SPDX-License-Identifier: MIT */
#include "cli/answer-wait.h"

#define DEFAULT_MS 2000u
/* A runtime takes so long to confirm its events: a shorter wait is useless. */
#define LEAST_MS 250u

void answer_wait_init(AnswerWait *wait, const Options *options)
{
        const bool is_given = options->trace || options_has(options, OPTION_WAIT);

        *wait = (AnswerWait){
                .is_given = is_given,
                .ms = is_given ? options->wait_ms : DEFAULT_MS,
                .last_time = g_get_monotonic_time(),
        };
}

unsigned answer_wait_first(const AnswerWait *wait)
{
        return wait->is_given ? wait->ms : 0;
}

unsigned answer_wait_second(AnswerWait *wait, bool is_missing)
{
        const gint64 now = g_get_monotonic_time();

        if (wait->is_given || !is_missing)
                return 0;
        wait->ms = (unsigned)MIN(wait->ms + (now - wait->last_time) / 1000, DEFAULT_MS);
        wait->last_time = now;
        return wait->ms >= LEAST_MS ? wait->ms : 0;
}

void answer_wait_end(AnswerWait *wait)
{
        const gint64 now = g_get_monotonic_time();

        wait->ms -= (unsigned)MIN((now - wait->last_time) / 1000, wait->ms);
        wait->last_time = now;
}

bool answer_is_missing(const clrsym_answer *answer)
{
        switch (answer->status) {
        case CLRSYM_PENDING:
        case CLRSYM_NO_PROCESS:
                return true;
        case CLRSYM_AMBIGUOUS:
                return answer->confidence >= CLRSYM_PROVISIONAL;
        default:
                return false;
        }
}

bool answer_wait_resolve(AnswerWait *wait, AnswerSource *source, const clrsym_query *queries,
                         size_t n, clrsym_answer *answers, GError **error)
{
        clrsym *handle = answer_source_handle(source);
        bool is_missing = false;
        unsigned wait_ms;
        size_t i;
        int r;

        r = clrsym_resolve(handle, queries, n, answer_wait_first(wait), answers);
        for (i = 0; r == 0 && i < n; i++)
                is_missing = is_missing || answer_is_missing(&answers[i]);
        wait_ms = r == 0 ? answer_wait_second(wait, is_missing) : 0;
        if (wait_ms) {
                r = clrsym_resolve(handle, queries, n, wait_ms, answers);
                answer_wait_end(wait);
        }
        if (r < 0)
                answer_source_set_error(source, error);
        return r == 0;
}
