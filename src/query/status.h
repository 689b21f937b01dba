/* SPDX-License-Identifier: MIT */
#pragma once

#include "query/totals.h"

/* Appends all metrics in the text form of OpenMetrics 1.0. TOTALS: complete. */
void metrics_append(GString *out, const QueryContext *context, const Totals *totals);
