/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers, bodies and processes as JSON objects
 *
 * Unknown parts are null, never invented. Addresses and 64-bit ids are "0x.." strings, times are
 * "S.NNNNNNNNN" strings of CLOCK_MONOTONIC.
 */

#include "tracker/answer.h"

/* Above this size of a reply, answers have no candidates. */
#define ANSWER_JSON_CANDIDATE_BYTES (8u << 20)

void answer_json_append(GString *out, const Question *question, const Answer *answer);

/* Appends the answer to a malformed question: the address as received, and the reason. */
void answer_json_append_invalid(GString *out, const char *address, const char *reason);

/*
 * Appends a row of a list: the process, then the body's fields as in an answer. ADDRESS: for the
 * offsets; NULL: no offsets.
 */
void body_json_append(GString *out, const Process *process, const Body *body,
                      const uint64_t *address);

/* WITH_UID: adds the owner's uid, for viewers that see all users' processes. */
void process_json_append(GString *out, const Process *process, ProcessLife life, bool with_uid);
/* Appends the process, its epoch and its horizon, the members beside a reply's answers. */
void process_key_json_append(GString *out, const Process *process);

/* N_BODIES: bodies of the module in the code map; N_LIVE of them are loaded, with N_BYTES. */
void module_json_append(GString *out, const Process *process, const Module *module,
                        uint64_t n_bodies, uint64_t n_live, uint64_t n_bytes);

void assembly_json_append(GString *out, const Process *process, const Assembly *assembly);

/* Appends an event of Watch; PROCESS and BODY may be NULL. */
void event_json_append(GString *out, const char *event, const Process *process, const Body *body);
