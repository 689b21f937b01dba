/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A recording of dotnet-trace collect-linux as the input of report: rewritten as perf.data, in a
 * file without a name
 */

#include "symbols/recorder-symbols.h"

#include <glib.h>
#include <stdbool.h>

/* The event of CPU samples, which is shown alone. */
#define COLLECT_CPU_EVENT "cpu"

bool collect_input_is(const char *path);

/*
 * Returns the file, which the caller closes; -1 with ERROR set. SYMBOLS gets the recorder's names,
 * NOTES messages for the user (owned), RET_LOST the number of lost events.
 */
int collect_input_open(const char *path, RecorderSymbols *symbols, GPtrArray *notes,
                       uint64_t *ret_lost, GError **error);
