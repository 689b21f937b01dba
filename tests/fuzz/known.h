/* SPDX-License-Identifier: MIT */
#pragma once

/* What every tracker must be able to do, whatever it was fed. */

#include "tracker/tracker.h"

/* Answers queries about it, and is the same after a checkpoint. */
void known_check(const Tracker *tracker);
