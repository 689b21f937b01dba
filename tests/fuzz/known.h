/* SPDX-License-Identifier: MIT */
#pragma once

/* Checks of a tracker that must succeed whatever it was fed. */

#include "tracker/tracker.h"

/* Checks that TRACKER answers queries, and that a checkpoint does not change it. */
void known_check(const Tracker *tracker);
