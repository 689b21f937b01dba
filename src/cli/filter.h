/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Filter: copies stdin to stdout, and replaces addresses by names
 */

#include "cli/answer-source.h"

bool filter_run(AnswerSource *source, const Options *options, GError **error);
