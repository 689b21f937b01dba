/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump: what the ways to read a trace for `clrsym dump` share
 */

/* After the trace's name. */
#define DUMP_NOTHING                                                                               \
        "not one event of the .NET runtime in this trace: `clrsym doctor` finds out why"
