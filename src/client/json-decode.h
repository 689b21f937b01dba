/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON decode: processes, bodies and events from the daemon's JSON
 *
 * The results borrow their texts from the JSON. Functions return NULL, or the name of the first
 * member that is missing or wrong (static): then the whole row is refused.
 */

#include "clrsym/clrsym.h"

#include <jansson.h>

const char *json_decode_process(const json_t *row, clrsym_process *ret);
/* In RET_PROCESS only pid, pid_ns and generation are set. */
const char *json_decode_body(const json_t *row, clrsym_process *ret_process, clrsym_body *ret_body);
const char *json_decode_event(const json_t *row, clrsym_event *ret);
