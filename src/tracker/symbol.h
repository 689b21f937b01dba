/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbol: a body's name for people
 */

#include "tracker/process.h"

/*
 * Appends "Namespace.Type.Method(args)" to OUT, with the runtime's spelling of types. Control and
 * unprintable characters are escaped, because the traced program chooses the names. A method
 * without a name is "method 0x...".
 */
void symbol_append(GString *out, const Process *process, const Body *body);
