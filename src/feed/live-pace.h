/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live pace: when a stream of a live session is to be asked for its next packet or beacon
 *
 * A stream has one of both, a sign, at each tick of the session's live timer, and a packet also
 * whenever a buffer is full. A sign has a time, of the traced machine's clock, and can be read a
 * little later: after its lag. So the next tick's sign is due after a period and the lag. The lag
 * is found out by asking: earlier if the sign was there at the first question, later if it was
 * not. All times are in us; `now` is of CLOCK_MONOTONIC, and the other clock may be any.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct LivePace {
        gint64 period;
        gint64 tick;  /* time of the sign that was the last tick */
        gint64 lag;   /* from a sign's time until it can be read */
        gint64 least; /* the least that it was */
        gint64 step;  /* by how much to ask earlier, if the next sign is there at once */
        gint64 due;   /* the next tick's sign */
        gint64 next;  /* when to ask */
        bool has_tick;
        bool was_early; /* it was asked when the sign was due, and had none */
        bool is_last;   /* the last sign was the one that was due: there are no more */
} LivePace;

/* It is to be asked at once. PERIOD is positive. */
void live_pace_init(LivePace *pace, gint64 period);
/*
 * A sign was read. TIME is its own, or INT64_MIN if it is not known. IS_TICK: it is of a tick; else
 * it may be of a full buffer.
 */
void live_pace_take_sign(LivePace *pace, gint64 now, gint64 time, bool is_tick);
/* What the sign announced was read: there may be more. */
void live_pace_go_on(LivePace *pace);
/* It was asked, and there is nothing new. */
void live_pace_take_nothing(LivePace *pace, gint64 now);
