/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Interface: a type in C# spelling, in the names of explicit implementations
 *
 * System.Collections.Generic.IDictionary<System.Int32,TValue[]>
 */

#include "names/writer.h"

TypeAppend interface_append;
