/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers, for people
 */

#include <glib.h>
#include <stdint.h>

/* "1,234,567" */
void number_append(GString *out, uint64_t number);
/* "12.3 %"; of nothing, nothing is 0 %. */
void number_append_share(GString *out, uint64_t part, uint64_t whole);
/* "3.21 s", "45.6 ms", "789 ns" */
void number_append_duration(GString *out, uint64_t ns);
