/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text frame: a frame as a line of text
 */

#include "perf/batch.h"
#include "perf/frames.h"
#include "perf/text-out.h"

/* The source of the frame's name: "event", "ELF symbol" ...; static. */
const char *text_frame_source(const Entry *entry, const NamedFrame *frame);

/* Writes "7f10c7680000 name+0x1c (module) [tier] at file:line {source}" and a newline. */
void text_frame_put(TextOut *out, const Entry *entry, const NamedFrame *frame, bool has_tier,
                    bool has_source);
