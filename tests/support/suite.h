/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Each test program has one suite: it defines suite_new(), suite.c runs it and prints TAP.
 */

#include <check.h>
#include <glib.h>
#include <stdbool.h>

/*
 * check writes to a file where each assertion is that holds, to report after which one a test
 * crashed. Some tests make millions: it took more than half of their time.
 */
#define _mark_point(file, line) ((void)0)

#ifdef __SANITIZE_ADDRESS__
enum { SUITE_IS_SANITIZED = true };
#else
enum { SUITE_IS_SANITIZED = false };
#endif

Suite *suite_new(void);

/* All rounds of a random test: by `tests/all --full`, but for the sanitizers, which are slow. */
bool suite_has_all_rounds(void);
