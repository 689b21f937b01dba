/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Living: what a process has mapped, and since when, while it lives
 */

#include "perf/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/* Keeps MAPPING, whose path it takes over; false if there is no memory. */
typedef bool (*LivingFn)(void *data, const Mapping *mapping);

/*
 * Calls FN for each file that the process has mapped to run code of. Their `time` is when the
 * process began, by CLOCK_MONOTONIC or later, for that one stands still in a machine that sleeps.
 * False if FN was.
 */
bool living_mappings(int32_t pid, LivingFn fn, void *data);
