/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * World steps: what may happen in a world, drawn step by step
 */

#include "support/world.h"

/*
 * Makes a tracker and streams. MIX, DRAW and N_ANSWERS are set, LOG may be, and all else is zero.
 */
void world_begin(World *w);
/* Something happens by the chances of the mix, and some questions are asked. */
void world_step(World *w);
/* The failure stays. */
void world_end(World *w);
