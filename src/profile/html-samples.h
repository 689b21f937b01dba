/* SPDX-License-Identifier: MIT */
#pragma once

/* HTML samples: the samples of a page, by thread, stack and interval of time */

#include "profile/data.h"
#include "profile/profile-file.h"

/* Maximum of counts of samples in intervals: 8 bytes each in the page. */
#define HTML_MAX_CELLS   200000u
#define HTML_MAX_MARKERS 5000u

/*
 * Appends members of the page's data:
 *
 * "processes": [pid, title]; "threads", sorted by process: [process, tid, frame of the name];
 * "time": duration in ns, number of buckets of that;
 * "stacks": the node of each stack's leaf, as difference to the one before; "physical": the node of
 * the thread's own stack, or 0 if it is the same, or an empty list if all are;
 * "cells": a list for each thread, of three numbers for each of its stacks in a bucket: difference
 * to the bucket before, to the stack before in the same bucket, and number of samples; in a
 * comparison "before", the same of the samples that are compared with.
 *
 * "markers": garbage collections and the pauses for them, in the order of their begin, the
 * HTML_MAX_MARKERS longest: [0: collection, 1: pause; process or -1; begin in ns from the first
 * sample; length in ns; text].
 *
 * A comparison has one process, one thread and one bucket. Others have as many buckets, a power of
 * two, as make no more than HTML_MAX_CELLS counts; or one. MARKERS: of ProfileMarker; NULL: none
 * are known.
 */
void html_samples_append(ProfileFile *out, const Profile *profile, const GArray *markers);
