/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbol: a body's name for people
 */

#include "tracker/process.h"

/*
 * "Namespace.Type.Method(args)" as the runtime writes types; control characters and what is not
 * printable are escaped, because the traced program chooses the names. "method 0x..." where no
 * event gave a name. Appends to OUT.
 */
void symbol_append(GString *out, const Process *process, const Body *body);
