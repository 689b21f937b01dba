/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Each test program has one suite: it defines suite_new(), suite.c runs it and prints TAP.
 */

#include <check.h>
#include <glib.h>
#include <stdbool.h>

/*
 * Without it, check writes the place of each passed assertion to a file, to report the last one
 * before a crash. Some tests have millions of assertions: that took more than half of their time.
 */
#define _mark_point(file, line) ((void)0)

#ifdef __SANITIZE_ADDRESS__
enum { SUITE_IS_SANITIZED = true };
#else
enum { SUITE_IS_SANITIZED = false };
#endif

Suite *suite_new(void);

/*
 * True if random tests run all rounds: in `tests/all --full`, except with sanitizers, which are
 * slow.
 */
bool suite_has_all_rounds(void);
