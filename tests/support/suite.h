/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Each test program has one suite: it defines suite_new(), suite.c runs it and prints TAP.
 */

#include <check.h>
#include <glib.h>

/*
 * check writes to a file where each assertion is that holds, to report after which one a test
 * crashed. Some tests make millions: it took more than half of their time.
 */
#define _mark_point(file, line) ((void)0)

Suite *suite_new(void);
