/* SPDX-License-Identifier: MIT */
#pragma once

#include "perf/frames.h"
#include "profile/profile.h"

/* Converts FRAME to a profile's frame; texts are borrowed. */
ProfileFrame profile_row_of(const NamedFrame *frame);
