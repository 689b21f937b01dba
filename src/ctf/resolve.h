/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Resolving: the field that gives the length of each sequence and selects each variant's option
 */

#include "ctf/class.h"

/* Resolves all references of a trace. False with ERROR set if one names no earlier integer. */
bool ctf_resolve(CtfTraceClass *trace, GError **error);
