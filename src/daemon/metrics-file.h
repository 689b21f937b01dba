/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metrics file: all metrics, written at an interval, for node_exporter's textfile collector
 */

#include "query/query.h"

typedef struct MetricsFile MetricsFile;

/* Writes PATH now and every INTERVAL seconds; the pointers in CONTEXT are borrowed. */
MetricsFile *metrics_file_new(const char *path, unsigned interval, const QueryContext *context);
bool metrics_file_is(const MetricsFile *file, const char *path, unsigned interval);
/* Removes the file, because its metrics are no longer true. */
void metrics_file_free(MetricsFile *file);
