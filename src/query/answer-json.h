/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers, bodies and processes as JSON objects
 *
 * Unknown parts are null, never invented. Addresses and 64-bit ids are "0x.." strings, times are
 * "S.NNNNNNNNN" strings of CLOCK_MONOTONIC.
 */

#include "tracker/answer.h"

/* In a reply with this many bytes, further answers have no candidates. */
#define ANSWER_JSON_CANDIDATE_BYTES (8u << 20)

void answer_json_append(GString *out, const Question *question, const Answer *answer);

/* The answer to a malformed question: the address as it was sent, and the reason. */
void answer_json_append_invalid(GString *out, const char *address, const char *reason);

/*
 * One row of a list: the process, then the body's fields as in an answer. Offsets are those of
 * ADDRESS; NULL: no offsets.
 */
void body_json_append(GString *out, const Process *process, const Body *body,
                      const uint64_t *address);

/* With the uid of its owner, for viewers that see all users' processes. */
void process_json_append(GString *out, const Process *process, ProcessLife life, bool with_uid);
/* The process, its epoch and its horizon: the members beside a reply's answers. */
void process_key_json_append(GString *out, const Process *process);

/* The code map has N_BODIES of the module; N_LIVE of them are loaded, and take N_BYTES. */
void module_json_append(GString *out, const Process *process, const Module *module,
                        uint64_t n_bodies, uint64_t n_live, uint64_t n_bytes);

void assembly_json_append(GString *out, const Process *process, const Assembly *assembly);

/* An event of Watch; PROCESS and BODY may be NULL. */
void event_json_append(GString *out, const char *event, const Process *process, const Body *body);
