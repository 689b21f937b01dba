/* SPDX-License-Identifier: MIT */
#pragma once

/* Session report: the tracing sessions that clrsym started, and the visible feeders */

#include <jansson.h>

/* {"sessions": [...], "feeders": [...]}; a member without rows is omitted. The caller owns it.
 * clrsym(1) describes the rows, under status. Changes nothing. */
json_t *session_report_new(void);
