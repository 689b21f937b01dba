/* SPDX-License-Identifier: MIT */
#pragma once

/* Stream identity: the facts about a data stream in a trace's metadata and a packet's head */

#include "ctf/data-stream.h"

/* The trace's UUID; else a hash of its text identity; else zero. */
void ctf_trace_class_identity(const CtfTraceClass *trace, uint8_t ret_uuid[16]);
/* A text of the trace's environment; "": not there. Borrowed. */
const char *ctf_trace_class_environment_text(const CtfTraceClass *trace, const char *name);

/*
 * A new stream for PACKET, of LAYOUT's stream class. UNNAMED is its number if the packet has none.
 * The identity has no boot id. Owned by the caller.
 */
CtfDataStream *ctf_data_stream_of_packet(const CtfLayout *layout, const CtfPacket *packet,
                                         uint64_t unnamed);
