/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * TSDL: the text metadata of CTF 1.8, as every LTTng since 2.0 writes it
 *
 * Parts of the language that LTTng never writes (pointers, variants without a selector) are refused
 * with name and line.
 */

#include "ctf/class.h"

/* Parses N bytes of TEXT. NULL with ERROR set. References are not resolved yet. */
CtfTraceClass *tsdl_parse(const char *text, size_t n, GError **error);
