/* SPDX-License-Identifier: MIT */
#include "feed/live-pace.h"

/* us between questions for a sign that is due. */
#define POLL 5000
/* us between questions for a sign that is long overdue. */
#define SLOW_POLL 20000
/* Periods. */
#define LONG_OVERDUE 3
/* us between questions before a sign is due, because buffers can be full. */
#define MOST 100000
/* us: the first step to an earlier question, the last one, and the step to a later one. */
#define FIRST_STEP 250
#define LAST_STEP  32000
#define STEP_BACK  1000

void live_pace_init(LivePace *pace, gint64 period)
{
        *pace = (LivePace){.period = period, .step = FIRST_STEP};
}

static void live_pace_set_next(LivePace *pace, gint64 now)
{
        bool is_overdue = now - pace->due > LONG_OVERDUE * pace->period;

        pace->next = MAX(pace->due, now + (is_overdue ? SLOW_POLL : POLL));
        pace->next = MIN(pace->next, now + MOST);
}

/* No sign was recognised as a tick for longer than a period, or ever. */
static bool live_pace_is_unsure(const LivePace *pace, gint64 time)
{
        return !pace->has_tick || time - pace->tick > pace->period / 4 * 5 || time < pace->tick;
}

static void live_pace_learn(LivePace *pace, gint64 lag)
{
        if (!pace->has_tick) {
                pace->lag = pace->least = lag;
                return;
        }
        if (pace->was_early) {
                pace->lag += STEP_BACK;
                pace->step = FIRST_STEP;
        } else {
                pace->lag -= pace->step;
                pace->step = MIN(2 * pace->step, LAST_STEP);
        }
        /* While a stream has many packets, each can be read at once. */
        pace->least = MIN(pace->least, lag);
        pace->lag = CLAMP(pace->lag, pace->least - POLL, lag);
}

void live_pace_take_sign(LivePace *pace, gint64 now, gint64 time, bool is_tick)
{
        if (time == G_MININT64) {
                pace->due = now + pace->period;
        } else if (is_tick || live_pace_is_unsure(pace, time)) {
                live_pace_learn(pace, now - time);
                pace->has_tick = true;
                pace->tick = time;
                pace->due = time + pace->lag + pace->period;
                pace->was_early = false;
        }
        /* A packet of a full buffer can be one of several, and an old sign one of many. */
        pace->is_last = is_tick && time != G_MININT64 && now - time < pace->least + pace->period;
        live_pace_set_next(pace, now);
}

void live_pace_go_on(LivePace *pace)
{
        if (!pace->is_last)
                pace->next = 0;
}

void live_pace_take_nothing(LivePace *pace, gint64 now)
{
        pace->was_early |= now >= pace->due;
        live_pace_set_next(pace, now);
}
