/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collect: a recording of dotnet-trace collect-linux, as a perf.data file
 *
 * Its Universal events become perf's records: samples with their callers, mappings, names of
 * processes. Names of code go into a RecorderSymbols, apart. The file is read once, in the order of
 * its events, and all of it goes to the new file at once: memory is bounded by the reader's limits,
 * those of RecorderSymbols, COLLECT_MAX_THREADS and COLLECT_MAX_FILES.
 */

#include "nettrace/reader.h"
#include "symbols/recorder-symbols.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Threads with a name, and files with an identity; more have none. */
#define COLLECT_MAX_THREADS (1u << 20)
#define COLLECT_MAX_FILES   (1u << 16)

/* Is FD, of which the begin is read, a recording of collect-linux? */
bool collect_is(int fd);

typedef struct CollectReport {
        uint64_t n_samples;
        uint64_t n_lost; /* events, by their numbers */
        bool is_cut;     /* the file ends before its end mark */
        char *damage;    /* owned: why the rest was not read; NULL: it was */
        char *unknown;   /* owned: lines about events that are not known; "": there are none */
} CollectReport;

void collect_report_clear(CollectReport *report);

/*
 * Reads FD, and writes the file OUTPUT. STOPS: not 0 ends the reading; NULL: it never does. False
 * with ERROR set (of G_FILE_ERROR): OUTPUT cannot be written, or the reading was stopped. What a
 * damaged file has before the damage is read. RET_REPORT is set if true.
 */
bool collect_convert(int fd, int output, RecorderSymbols *symbols, int (*stops)(void),
                     CollectReport *ret_report, GError **error);
