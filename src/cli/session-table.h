/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session table: the tracing sessions that clrsym started, and their feeders
 */

#include <jansson.h>
#include <stdbool.h>

/*
 * REPORT is that of feed/report.h. Empty tables are not printed. There is an empty line between two
 * tables, and, if IS_CONTINUED, before the first.
 */
void session_table_print(const json_t *report, bool is_continued);
