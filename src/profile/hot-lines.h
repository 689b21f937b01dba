/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Hot lines: how many samples were in each line of each method
 */

#include "profile/data.h"

typedef struct HotLine {
        uint32_t line;  /* from 1 */
        uint64_t self;  /* samples that ended there */
        uint64_t total; /* samples that were there or in what it called; a recursion counts once */
} HotLine;

/* A method's lines in one source. */
typedef struct HotMethod {
        uint32_t frame;       /* one of the method */
        const char *file;     /* borrowed from the profile */
        const char *checksum; /* the same; NULL: not known */
        GArray *lines;        /* owned: of HotLine, by number */
        uint64_t weight;      /* of all lines: twice the self samples, and the total ones */
} HotMethod;

/* The methods that have lines, those with most samples first: of HotMethod (owned). */
GPtrArray *hot_lines_new(const Profile *profile);
