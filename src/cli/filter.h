/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Filter: copies stdin to stdout, with names in place of the addresses in it
 */

#include "cli/answer-source.h"

bool filter_run(AnswerSource *source, const Options *options, GError **error);
