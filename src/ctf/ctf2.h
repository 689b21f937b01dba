/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The JSON metadata of CTF 2
 *
 * A JSON text sequence (RFC 7464): fragments with a record separator before each. Layout source:
 * CTF2-SPEC-2.0, and the output of lttng-sessiond 2.15 and 2.16 and of babeltrace2's sink.ctf.fs.
 */

#include "ctf/class.h"

/* Parses N bytes of TEXT. NULL with ERROR set. References are not resolved yet. */
CtfTraceClass *ctf2_parse(const char *text, size_t n, GError **error);
