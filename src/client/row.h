/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Row: processes, bodies and events from the JSON that they come in
 *
 * What is filled in borrows its texts from the JSON. Functions return NULL, or the name of the
 * first member that is missing or makes no sense (static): nothing of the row is believed then.
 */

#include "clrsym/clrsym.h"

#include <jansson.h>

const char *row_process(const json_t *row, clrsym_process *ret);
/* Of the process only what identifies it. */
const char *row_body(const json_t *row, clrsym_process *ret_process, clrsym_body *ret_body);
const char *row_event(const json_t *row, clrsym_event *ret);

/* "S.NNNNNNNNN" in ns. */
bool row_time_from_text(const char *text, uint64_t *ret_time);
