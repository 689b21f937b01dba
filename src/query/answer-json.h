/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers, bodies and processes as JSON objects
 *
 * Unknown parts are null, never invented. Addresses and 64-bit ids are "0x.." strings, times are
 * "S.NNNNNNNNN" strings of CLOCK_MONOTONIC.
 */

#include "core/answer.h"

void answer_json_append(GString *out, const Question *question, const Answer *answer);

/* A question that is none: what was asked comes back as it was, with the reason. */
void answer_json_append_invalid(GString *out, const char *address, const char *reason);

/*
 * One row of a list: the process, then the body's fields as in an answer; ADDRESS, or NULL, is the
 * one that offsets are for.
 */
void body_json_append(GString *out, const Process *process, const Body *body,
                      const uint64_t *address);

void process_json_append(GString *out, const Process *process);
/* The process, its epoch and its horizon: what goes with answers. */
void process_key_json_append(GString *out, const Process *process);

/* N_BODIES are known of the module, N_LIVE of them loaded, which take N_BYTES. */
void module_json_append(GString *out, const Process *process, const Module *module,
                        uint64_t n_bodies, uint64_t n_live, uint64_t n_bytes);

/* News, as Watch sends them; PROCESS and BODY may be NULL. */
void event_json_append(GString *out, const char *event, const Process *process, const Body *body);
