/* SPDX-License-Identifier: MIT */
#pragma once

#include "perf/frames.h"
#include "profile/profile.h"

/* FRAME as a profile has it; texts are borrowed. */
ProfileFrame profile_row_of(const NamedFrame *frame);
