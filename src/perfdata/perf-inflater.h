/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfInflater: the compressed records of perf record -z
 *
 * The compressed records of a file contain one stream of zstd, so a record can begin in one of them
 * and end in the next. Memory: PERF_MAX_INFLATED bytes, the maximum of one compressed record.
 */

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAX_INFLATED ((size_t)64 << 20)

typedef struct PerfInflater PerfInflater;

PerfInflater *perf_inflater_new(void);
/* NULL is fine. */
void perf_inflater_free(PerfInflater *inflater);
/* Continues at the begin of the stream. */
void perf_inflater_rewind(PerfInflater *inflater);

/*
 * Takes the N bytes of a compressed record. All records of the previous one must have been
 * returned.
 */
bool perf_inflater_put(PerfInflater *inflater, const void *bytes, size_t n, GError **error);
/*
 * The next record, valid until the next put; NULL: its rest is in the next compressed record.
 * False: the record's size is invalid.
 */
bool perf_inflater_next(PerfInflater *inflater, const struct perf_event_header **ret_record);
