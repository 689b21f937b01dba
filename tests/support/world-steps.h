/* SPDX-License-Identifier: MIT */
#pragma once

/* World steps: random steps of a world */

#include "support/world.h"

/*
 * Makes a tracker and streams. The caller has set MIX, DRAW and N_ANSWERS, perhaps LOG, and zeroed
 * the rest.
 */
void world_begin(World *w);
/* Takes one random step of the mix, and asks some questions. */
void world_step(World *w);
/* Keeps the failure. */
void world_end(World *w);
