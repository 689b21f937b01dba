/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The verb `session`: start, stop and list. Returns the exit status.
 */

int session_main(int argc, char **argv);
