/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Seconds with a fraction, "473.414890639", as clrsym and perf write times
 *
 * Numbers are nanoseconds. Nine digits are exact in every JSON reader.
 */

#include "util/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* 20 digits and the NUL fit, with the point. */
#define SECONDS_TEXT_SIZE 24

/* Writes "S.NNNNNNNNN" into BUFFER and returns it. */
char *seconds_to_text(uint64_t ns, char buffer[SECONDS_TEXT_SIZE]);

/* Reads "S" or "S.FRACTION"; digits after the ninth are dropped. Returns the first character after
 * it; NULL: TEXT begins otherwise, or the number is out of range. */
const char *seconds_parse(const char *text, uint64_t *ret_ns);

/* True if the whole TEXT is "S.NNNNNNNNN", with nine digits in the fraction. */
bool seconds_from_text(const char *text, uint64_t *ret_ns);
