/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The summary of a profile: CPU time, its owners, and its functions
 */

#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct TopSummary {
        FILE *file;         /* borrowed: a terminal or another file */
        uint64_t duration;  /* duration of the recording in ns; 0: not known, and no line about the
                             * CPU */
        uint64_t frequency; /* samples a second of each CPU */
        bool is_whole_machine;
} TopSummary;

/* For PerfNaming.take; DATA is a TopSummary. */
void top_summary_print(const Profile *profile, const ProfileOptions *options, void *data);
