/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON decode: processes, bodies, answers and events from the daemon's JSON
 *
 * The results borrow their texts from the JSON. Functions return NULL, or the name of the first
 * missing or wrong member (static): then the whole row is refused.
 */

#include "clrsym/clrsym.h"

#include <jansson.h>

const char *json_decode_process(const json_t *row, clrsym_process *ret);
/* In RET_PROCESS only pid, pid_ns and generation are set. */
const char *json_decode_body(const json_t *row, clrsym_process *ret_process, clrsym_body *ret_body);
/*
 * An answer of Resolve: `pid` is the one of the question, and `generation` is not known. The caller
 * sets `inlined`: json_decode_inlined() fills N_INLINED of them.
 */
const char *json_decode_answer(const json_t *row, clrsym_answer *ret);
const char *json_decode_inlined(const json_t *row, clrsym_inlined *ret);
const char *json_decode_event(const json_t *row, clrsym_event *ret);
