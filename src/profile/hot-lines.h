/* SPDX-License-Identifier: MIT */
#pragma once

/* Hot lines: the number of samples in each line of each method */

#include "profile/data.h"

typedef struct HotLine {
        uint32_t line;  /* from 1 */
        uint64_t self;  /* samples that ended in the line */
        uint64_t total; /* samples in the line or its callees; a recursion counts once */
} HotLine;

/* A method's lines in one source. */
typedef struct HotMethod {
        uint32_t frame;       /* a frame of the method */
        const char *file;     /* borrowed from the profile */
        const char *checksum; /* borrowed from the profile; NULL: not known */
        GArray *lines;        /* owned: of HotLine, by number */
        uint64_t weight; /* sum over all lines: twice the self samples, and the total samples */
} HotMethod;

/* The methods with lines, those with most samples first: of HotMethod (owned). */
GPtrArray *hot_lines_new(const Profile *profile);
