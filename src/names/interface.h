/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Interface: a type as C# writes it into the names of what implements it explicitly
 *
 *   System.Collections.Generic.IDictionary<System.Int32,TValue[]>
 */

#include "names/writer.h"

TypeAppend interface_append;
