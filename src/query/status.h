/* SPDX-License-Identifier: MIT */
#pragma once

#include "query/query.h"

/* Appends all metrics in the text form of OpenMetrics 1.0. */
void metrics_append(GString *out, const QueryContext *context);
