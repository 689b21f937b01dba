/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Records and gaps as JSON, one object a line
 */

#include "wire/ingest.h"

void json_append_record(GString *out, const Record *record);
void json_append_gap(GString *out, uint64_t stream_id, const IngestGap *gap);
