/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Times that need no clock: seconds and nanoseconds of CLOCK_MONOTONIC
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * "473.414890639", with the colon that perf puts behind it, or "473414890639". False for all other
 * text, which may still be a time (clrsym_time() knows).
 */
bool time_from_plain_text(const char *text, uint64_t *ret_time);
