/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers: what is at addresses, asked many at a time, and printed one a line
 */

#include "cli/link.h"

/* Strings are borrowed. */
typedef struct AddressQuestion {
        ProcessName process;
        const char *address; /* hexadecimal, with or without 0x */
        const char *time;    /* as people write it; NULL: none */
        const char *wrong;   /* NULL, or why it is no question: then ADDRESS is what was said */
} AddressQuestion;

/* The daemon's own words. */
bool answers_print_json(Link *link, const AddressQuestion *questions, size_t n, unsigned wait_ms,
                        GError **error);
/* For people: asked in the binary form, which is many times as fast. */
bool answers_print_text(Link *link, const AddressQuestion *questions, size_t n, unsigned wait_ms,
                        GError **error);
