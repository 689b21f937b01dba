/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metrics file: all metrics, written again and again, for node_exporter's textfile collector
 */

#include "query/query.h"

typedef struct MetricsFile MetricsFile;

/* Writes PATH now and every INTERVAL seconds; what CONTEXT points to is borrowed. */
MetricsFile *metrics_file_new(const char *path, unsigned interval, const QueryContext *context);
bool metrics_file_is(const MetricsFile *file, const char *path, unsigned interval);
/* Removes the file: nobody would know that what it says is over. */
void metrics_file_free(MetricsFile *file);
