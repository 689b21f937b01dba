/* SPDX-License-Identifier: MIT */
#pragma once

/* Resolving: finds the field with the length of each sequence, and the selector of each variant */

#include "ctf/class.h"

/* Resolves all references of a trace. False with ERROR set if one names no earlier integer. */
bool ctf_resolve(CtfTraceClass *trace, GError **error);
