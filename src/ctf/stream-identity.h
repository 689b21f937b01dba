/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stream identity: what the metadata of a trace and the head of a packet say about a data stream
 */

#include "ctf/data-stream.h"

/* The trace's UUID; without one its text identity, made a number of that size; else zero. */
void ctf_trace_class_identity(const CtfTraceClass *trace, uint8_t ret_uuid[16]);
/* A text of the trace's environment, "" if it is not there. Borrowed. */
const char *ctf_trace_class_environment_text(const CtfTraceClass *trace, const char *name);

/*
 * The stream that PACKET, of the stream class of LAYOUT, is of. UNNAMED is its number if the packet
 * has none. The identity has no boot id. Owned by the caller.
 */
CtfDataStream *ctf_data_stream_of_packet(const CtfLayout *layout, const CtfPacket *packet,
                                         uint64_t unnamed);
