/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Daemon path: where the program clrsymd is, which reads traces for the library
 */

/*
 * $CLRSYM_DAEMON; else the one of the build tree that this code is in; else the installed one. The
 * caller owns the result; NULL without memory.
 */
char *daemon_path(void);
