/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Silences: when nobody held the session of a target, for the daemon to know
 *
 * Each is a file of the holder's directory until the daemon has taken it, and as long as it goes
 * on: a later holder goes on with it. If there is no daemon, it is tried again.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Silences Silences;

typedef struct SilenceTarget {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        int32_t vpid;    /* in its own */
        uint64_t pid_ns; /* that */
} SilenceTarget;

/*
 * Reads what an earlier holder of DIRECTORY has left. INGEST is the path of the daemon's socket;
 * both are copied. CHANGED is called when silences_is_pending() may be another, never from within a
 * call.
 */
Silences *silences_new(const char *directory, const char *ingest, void (*changed)(void *data),
                       void *data);
/* Waits a moment for what can still be told. */
void silences_free(Silences *silences);

/* Times are ns of CLOCK_MONOTONIC. From BEGIN on nobody holds it, or somebody might not. */
void silences_begin(Silences *silences, const SilenceTarget *target, uint64_t begin);
/* It is held from END on. */
void silences_end(Silences *silences, const SilenceTarget *target, uint64_t end);

/* True while something is to be told to a daemon that was there once. */
bool silences_is_pending(const Silences *silences);
