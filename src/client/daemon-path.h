/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Daemon path: where the program clrsymd is, which reads traces for us
 */

/*
 * $CLRSYM_DAEMON; else in the build tree that this code lies in; else where it is installed. The
 * caller's; NULL without memory.
 */
char *daemon_path(void);
