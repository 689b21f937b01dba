/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Match: maps each process of a recording to a process of the trace
 *
 * perf identifies a process by its pid in perf's namespace, the trace by its pid in its own. The
 * addresses of its code decide: two programs have the same code at the same addresses only if
 * somebody arranged that.
 */

#include "cli/options.h"
#include "cli/perf-recording.h"
#include "clrsym/clrsym.h"

/*
 * PERF_NS: the pid namespace that perf ran in, by its inode; 0: not known.
 *
 * RET_MAPS: ProcessMaps of the processes of RECORDING that have managed code, including those that
 * were given. False if one matches several processes of the trace, or (unless OPTIONS force it)
 * none does: ERROR lists the choices. NOTES gets a line for each process without a map (owned).
 */
bool perf_match(clrsym *handle, const Recording *recording, const Options *options,
                uint64_t perf_ns, int64_t clock_offset, GArray *ret_maps, GPtrArray *notes,
                GError **error);
