/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Member: a method's name in its type, and the two together
 */

#include "names/raw-name.h"
#include "names/writer.h"

/* Writes RAW as C# would. */
void member_append(Writer *writer, const RawName *raw);
