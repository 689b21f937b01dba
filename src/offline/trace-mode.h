/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace mode: clrsymd as the server of one trace, for one client
 *
 * A program that has a trace instead of a daemon starts it with one end of a socket pair, and asks
 * it at the other end as it would ask a daemon.
 */

#include <stdbool.h>

/* True if the command line asks for it: it has --trace. */
bool trace_mode_is_wanted(int argc, char **argv);
/* Parses the command line, serves, and returns the exit status. */
int trace_mode_main(int argc, char **argv);
