/* SPDX-License-Identifier: MIT */
#pragma once

/* Ingest script: a feeder's frames in a test, and the tracker's state after them */

#include "tracker/tracker.h"

#include <glib.h>

/* Each appends one frame to OUT. */
void script_hello(GByteArray *out);
void script_commit(GByteArray *out);
/* Opens stream STREAM_ID of one trace; the other function: the stream with the same number. */
void script_stream_open_as(GByteArray *out, uint32_t number, uint64_t stream_id);
void script_stream_open(GByteArray *out, uint32_t number);
/* The load of a body of 16 bytes at START in process 100. */
void script_load(GByteArray *out, uint32_t stream, uint64_t time, uint64_t start);
/* The end of a rundown of that process. */
void script_rundown_end(GByteArray *out, uint32_t stream, uint64_t time);

/* The tracker's state, as a client sees it: lists, then the status. The caller owns it. */
char *tracker_knowledge(const Tracker *tracker);
