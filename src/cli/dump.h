/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump: the events of a trace, in the order of their times
 */

#include "cli/options.h"
#include "event/record.h"
#include "event/stream.h"

/* A format of events; each function may append nothing. */
typedef struct DumpFormat {
        void (*append_record)(void *userdata, GString *out, const Record *record);
        void (*append_gap)(void *userdata, GString *out, const StreamGap *gap);
        void *userdata;
} DumpFormat;

typedef struct DumpFilter {
        const Options *options;   /* borrowed */
        GPatternSpec *pattern;    /* owned; NULL: any event */
        const DumpFormat *format; /* borrowed; NULL: JSON of all fields */
} DumpFilter;

/*
 * Prints the events of PATH that FILTER accepts; an event reader can read PATH. False with ERROR
 * set; without ERROR if the output failed.
 */
bool dump_path(const DumpFilter *filter, const char *path, GError **error);
