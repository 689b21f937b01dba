/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The summary of a profile: how much CPU was used, whose time it was, and in which functions
 */

#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct TopSummary {
        FILE *file;         /* borrowed: a terminal, or something else */
        uint64_t duration;  /* ns that were recorded; 0: not known, then there is no line about the
                               CPU */
        uint64_t frequency; /* samples a second of a CPU */
        bool is_whole_machine;
} TopSummary;

/* DATA is a TopSummary; as PerfNaming has it. */
void top_summary_print(const Profile *profile, const ProfileOptions *options, void *data);
