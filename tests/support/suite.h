/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Each test program has one suite: it defines suite_new(), suite.c runs it and prints TAP.
 */

#include <check.h>
#include <glib.h>

Suite *suite_new(void);
