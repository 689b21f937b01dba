/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mappings of a live process, from /proc/PID/maps
 */

#include "perf/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes MAPPING, whose path it owns; false if there is no memory. */
typedef bool (*ProcMapsFn)(void *data, const Mapping *mapping);

/*
 * Calls FN for each executable mapping of a file. Its `time` is the start of the process, by
 * CLOCK_MONOTONIC or later, because that clock stands still while the machine is suspended. False
 * if FN returned false.
 */
bool proc_maps_read(int32_t pid, ProcMapsFn fn, void *data);
