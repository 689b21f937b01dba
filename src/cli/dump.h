/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump: the events of a trace, in the order of their times
 */

#include "cli/options.h"
#include "event/record.h"
#include "event/stream.h"

/* How events are written; each may append nothing. */
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
 * Prints what FILTER has of PATH, which an event reader can read. False with ERROR
 * set, or if the output has failed.
 */
bool dump_path(const DumpFilter *filter, const char *path, GError **error);
