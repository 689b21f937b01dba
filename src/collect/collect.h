/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collect: a recording of dotnet-trace collect-linux, as a perf.data file
 *
 * Its Universal events become perf's records: samples with their callers, mappings, names of
 * processes. Names of code go to a RecorderSymbols. The file is read once, in the order of its
 * events, and written at once: memory is bounded by the reader's limits, those of RecorderSymbols,
 * COLLECT_MAX_THREADS and COLLECT_MAX_FILES.
 */

#include "nettrace/reader.h"
#include "symbols/recorder-symbols.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Maximum of threads with a name, and of files with an identity. */
#define COLLECT_MAX_THREADS (1u << 20)
#define COLLECT_MAX_FILES   (1u << 16)

/* True if FD, whose beginning is read, is a recording of collect-linux. */
bool collect_is(int fd);

typedef struct CollectReport {
        uint64_t n_samples;
        uint64_t n_lost; /* events, by their sequence numbers */
        bool is_cut;     /* the file ends without its end mark */
        char *damage;    /* owned: the damage before which reading ended; NULL: none */
        char *unknown;   /* owned: lines about unknown events; "": none */
} CollectReport;

void collect_report_clear(CollectReport *report);

/*
 * Reads FD, and writes the file OUTPUT. STOPS: a result other than 0 ends the reading; NULL: never.
 * False with ERROR set (of G_FILE_ERROR): OUTPUT cannot be written, or the reading was stopped. Of
 * a damaged file, everything before the damage is read. RET_REPORT is set if true.
 */
bool collect_convert(int fd, int output, RecorderSymbols *symbols, int (*stops)(void),
                     CollectReport *ret_report, GError **error);
