/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Member: a method's name in its type, and the two together
 */

#include "names/name.h"
#include "names/writer.h"

/* RAW in the way of C#. */
void member_append(Writer *writer, const RawName *raw);
