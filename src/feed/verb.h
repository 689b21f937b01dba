/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The verb `feed`. Returns the exit status.
 */

int feed_main(int argc, char **argv);
