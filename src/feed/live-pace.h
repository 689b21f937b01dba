/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live pace: when to ask for the next packet or beacon of a live session's stream
 *
 * A stream has a sign, a packet or a beacon, at each tick of the session's live timer, and also a
 * packet whenever a buffer is full. A sign has a time of the traced machine's clock, and can be
 * read after a lag. So the next tick's sign is due after a period and the lag. The lag is found by
 * asking: the next question is earlier if the sign was there at the first question, and later if it
 * was not. All times are in us; `now` is of CLOCK_MONOTONIC, and the other clock may be any.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct LivePace {
        gint64 period;
        gint64 tick;  /* time of the sign of the last tick */
        gint64 lag;   /* from a sign's time until it can be read */
        gint64 least; /* the smallest lag */
        gint64 step;  /* how much earlier to ask, if the next sign is there at the first question */
        gint64 due;   /* the time of the next tick's sign */
        gint64 next;  /* the time of the next question */
        bool has_tick;
        bool was_early; /* the first question after the due time found no sign */
        bool is_last;   /* the last sign was that of the due tick: there are no more */
} LivePace;

/* The stream is asked at once. PERIOD is positive. */
void live_pace_init(LivePace *pace, gint64 period);
/* A sign was read. TIME is its own, or INT64_MIN if it is not known. IS_TICK: the sign is that of a
 * tick; else it can be that of a full buffer. */
void live_pace_take_sign(LivePace *pace, gint64 now, gint64 time, bool is_tick);
/* The packet of the sign was read: there can be more. */
void live_pace_go_on(LivePace *pace);
/* The stream was asked, and has nothing new. */
void live_pace_take_nothing(LivePace *pace, gint64 now);
