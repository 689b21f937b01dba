/* SPDX-License-Identifier: MIT */
#pragma once

/* Type handles: the runtime's addresses of types, which occur in names of dynamic methods */

/*
 * Removes the addresses of types from NAME, in style csharp, in place: "M(type:0x7f12<int>)"
 * becomes "M(type<int>)". With an address, one method would have another name in each run.
 */
void type_handles_drop(char *name);
