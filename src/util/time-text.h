/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Times as people and perf write them
 *
 * A time is CLOCK_MONOTONIC in ns.
 */

#include <stdbool.h>
#include <stdint.h>

/* The references of relative times and times of the day. */
typedef struct TimeContext {
        uint64_t now;         /* the time of "now", and the end of "-5s" */
        bool has_offset;      /* is clock_offset known? */
        int64_t clock_offset; /* realtime = time + clock_offset, ns */
        uint64_t begin, end;  /* of the data: these decide the day of "HH:MM:SS" */
} TimeContext;

/*
 * Accepts "S.FRAC" (perf's trailing colon too), integer ns, "now", "-5s" (also ms, us, m, h),
 * "@UNIXTIME[.frac]", "HH:MM:SS[.frac]" and "YYYY-MM-DD HH:MM:SS[.frac]" (local time; also with a
 * T between). Returns NULL on success, else a static text for people that names the error.
 */
const char *time_from_text(const char *text, const TimeContext *context, uint64_t *ret_time);
