/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A recording of dotnet-trace collect-linux as the input of report: rewritten as perf.data, in a
 * file without a name
 */

#include "symbols/recorder-symbols.h"

#include <glib.h>
#include <stdbool.h>

/* The event of samples of CPUs, which is shown by itself. */
#define COLLECT_CPU_EVENT "cpu"

bool collect_input_is(const char *path);

/*
 * The file, to be closed; SYMBOLS gets the recorder's names. NOTES gets messages for the user
 * (owned), RET_LOST the number of lost events. -1 with ERROR set.
 */
int collect_input_open(const char *path, RecorderSymbols *symbols, GPtrArray *notes,
                       uint64_t *ret_lost, GError **error);
