/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sessions: tables of the tracing sessions that were started here, and of their feeders
 */

#include <jansson.h>
#include <stdbool.h>

/*
 * REPORT is that of feed/report.h. Prints nothing of what it lacks; an empty line between two
 * tables, and before the first if it comes BEHIND something else.
 */
void sessions_print(const json_t *report, bool behind);
