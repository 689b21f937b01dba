/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The settings of a Namer, as perf's filter takes them (perf/settings.h), for a recording
 */

#include "cli/options.h"
#include "cli/perf-clock.h"
#include "cli/perf-recording.h"

/* All are borrowed. */
typedef struct NamingSettings {
        const Options *options;
        const Recording *recording;
        const GArray *maps;     /* of ProcessMap: perf's processes among those of the events */
        const PerfClock *clock; /* of perf; NULL: the recording is a .nettrace file */
        const char *trace;      /* with the events; NULL: a daemon has them */
        const char *event;      /* whose samples are wanted; NULL: all */
        bool has_no_events;     /* there is neither a daemon nor a trace */
        bool is_over;           /* no more events come: they are not waited for */
} NamingSettings;

/* Owned strings. */
GPtrArray *naming_settings_new(const NamingSettings *naming);
