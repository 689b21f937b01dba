/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mappings of a live process, from /proc/PID/maps
 */

#include "perf/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes over MAPPING's path. False: no memory. */
typedef bool (*ProcMapsFn)(void *data, const Mapping *mapping);

/*
 * Calls FN for each executable mapping of a file. Its `time` is the start of the process, in ns
 * since boot; suspends count, so it can be later than CLOCK_MONOTONIC. False: FN returned false.
 */
bool proc_maps_read(int32_t pid, ProcMapsFn fn, void *data);
