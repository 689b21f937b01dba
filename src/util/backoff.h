/* SPDX-License-Identifier: MIT */
#pragma once

/* Backoff: the delay of the next retry after a failure */

typedef struct Backoff {
        unsigned next_ms;
} Backoff;

#define BACKOFF_FIRST_MS 200
#define BACKOFF_MOST_MS  10000
/* After it has worked for this long, the next failure counts as the first. */
#define BACKOFF_GOOD_MS 60000

/* Reports a failure after WORKED_MS of success. Returns how many ms to wait. */
static inline unsigned backoff_fail(Backoff *backoff, unsigned long long worked_ms)
{
        unsigned wait;

        if (backoff->next_ms == 0 || worked_ms >= BACKOFF_GOOD_MS)
                backoff->next_ms = BACKOFF_FIRST_MS;
        wait = backoff->next_ms;
        backoff->next_ms = wait * 2 < BACKOFF_MOST_MS ? wait * 2 : BACKOFF_MOST_MS;
        return wait;
}

static inline void backoff_reset(Backoff *backoff)
{
        backoff->next_ms = 0;
}
