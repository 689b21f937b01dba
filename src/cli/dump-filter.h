/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump filter: which events `clrsym dump` prints
 */

#include "cli/options.h"
#include "event/record.h"
#include "event/stream.h"

/* What is wrong with a trace without any event that could be printed; after its name. */
#define DUMP_NOTHING                                                                               \
        "not one event of the .NET runtime in this trace: `clrsym doctor` finds out why"

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

/* OPTIONS is borrowed. */
void dump_filter_init(DumpFilter *filter, const Options *options);
void dump_filter_deinit(DumpFilter *filter);

/* By its event and its process. */
bool dump_filter_has_record(const DumpFilter *filter, const Record *record);

/* Appends the event or the loss to OUT, if FILTER has it. */
void dump_filter_append_record(const DumpFilter *filter, GString *out, const Record *record);
void dump_filter_append_gap(const DumpFilter *filter, GString *out, uint64_t stream_id,
                            const StreamGap *gap);
