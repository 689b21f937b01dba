/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The verb `doctor`. Returns the exit status: 1 if something stands in the way of names.
 */

int doctor_main(int argc, char **argv);
