/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Match: which process of the trace each process of a recording is
 *
 * perf knows a process by its pid in the namespace that perf ran in, the trace by its own. What
 * decides is where its code is: two programs have the same code at the same addresses only if they
 * were started so on purpose.
 */

#include "cli/options.h"
#include "cli/perf-recording.h"
#include "clrsym/clrsym.h"

/*
 * ProcessMaps of the processes of RECORDING that have managed code, those that were given among
 * them. False if one could be several of the trace, or (unless OPTIONS force it) none is in it:
 * ERROR has the choices. NOTES gets a line for each that has no map (owned).
 */
bool perf_match(clrsym *handle, const Recording *recording, const Options *options,
                int64_t clock_offset, GArray *ret_maps, GPtrArray *notes, GError **error);
