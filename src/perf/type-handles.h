/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type handles: the runtime's own addresses of types, which stand in the names of dynamic methods
 */

/*
 * Takes the runtime's own handles of types out of NAME, a name of the style csharp, in its place:
 * "M(type:0x7f12<int>)" becomes "M(type<int>)". They are addresses, so that one method would have
 * another name in each run.
 */
void type_handles_drop(char *name);
