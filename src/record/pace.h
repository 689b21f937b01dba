/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pace: keeps perf record from polling without a pause
 *
 * perf 6.1 continues to poll the event of a thread that has ended, which returns at once, and so
 * uses a whole core. So perf is then stopped (SIGSTOP) while its buffers have room for samples, and
 * continued for a moment, in which it writes them.
 */

#include <glib.h>
#include <sys/types.h>

typedef struct Pace Pace;

/* BYTES: the maximum of bytes that perf samples of one CPU in a second. */
Pace *pace_new(guint64 bytes);
/* perf records the present threads of PIDS, and what they start. To be called before perf looks for
 * them, and again after that. */
void pace_note_threads(Pace *pace, const pid_t *pids, unsigned n);
/* To be called again after the returned ms, or earlier. NOW: us of g_get_monotonic_time(). */
unsigned pace_step(Pace *pace, pid_t perf, gint64 now);
/* NULL is fine. */
void pace_free(Pace *pace);
