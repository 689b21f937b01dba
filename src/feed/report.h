/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Report: the tracing sessions that were started here, and the feeders that can be seen
 */

#include <jansson.h>

/*
 * {"sessions": [...], "feeders": [...]}, without the member of which there is none; the caller's.
 * clrsym(1), under status, says what is in a row. Changes nothing.
 */
json_t *report_new(void);
