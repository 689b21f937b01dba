/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Settings of a Namer for a recording, as perf's filter takes them (perf/settings.h)
 */

#include "cli/options.h"
#include "cli/perf-clock.h"
#include "cli/perf-recording.h"

/* All are borrowed. */
typedef struct NamingSettings {
        const Options *options;
        const Recording *recording;
        const GArray *maps;     /* ProcessMap: maps perf's processes to those of the events */
        const PerfClock *clock; /* clock of perf; NULL: the recording is a .nettrace file */
        const char *trace;      /* the trace with the events; NULL: a daemon has them */
        const char *event;      /* the event of the wanted samples; NULL: all events */
        bool has_no_events;     /* there is neither a daemon nor a trace */
        bool is_over;           /* do not wait: no more events come */
} NamingSettings;

/* Owned strings. */
GPtrArray *naming_settings_new(const NamingSettings *naming);
