/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Records and gaps as JSON, one object a line
 */

#include "event/record.h"
#include "event/stream.h"

void json_append_record(GString *out, const Record *record);
void json_append_gap(GString *out, uint64_t stream_id, const StreamGap *gap);
