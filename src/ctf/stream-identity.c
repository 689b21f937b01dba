/* SPDX-License-Identifier: MIT */
#include "ctf/stream-identity.h"

#include <string.h>

const char *ctf_trace_class_environment_text(const CtfTraceClass *trace, const char *name)
{
        const CtfEnvironment *entry = ctf_trace_class_environment(trace, name);

        return entry && entry->text ? entry->text : "";
}

static const char *environment_text(const void *trace, const char *name)
{
        return ctf_trace_class_environment_text(trace, name);
}

static bool environment_number(const void *trace, const char *name, int64_t *ret_number)
{
        const CtfEnvironment *entry = ctf_trace_class_environment(trace, name);

        if (!entry || entry->text)
                return false;
        *ret_number = entry->number;
        return true;
}

static void stream_read_environment(CtfDataStream *stream, const CtfTraceClass *trace)
{
        const TraceEnvironment environment = {
                .trace = trace,
                .text = environment_text,
                .number = environment_number,
        };

        stream->pid = stream_identity_read_environment(stream->identity, &environment);
        stream->has_pid = stream->pid != 0;
}

void ctf_trace_class_identity(const CtfTraceClass *trace, uint8_t ret_uuid[16])
{
        memset(ret_uuid, 0, 16);
        if (trace->has_uuid)
                memcpy(ret_uuid, trace->uuid, 16);
        else if (trace->uid)
                ctf_uuid_from_uid(trace->name_space, trace->uid, ret_uuid);
}

CtfDataStream *ctf_data_stream_of_packet(const CtfLayout *layout, const CtfPacket *packet,
                                         uint64_t unnamed)
{
        StreamIdentity *identity = stream_identity_new();
        const CtfTraceClass *trace = layout->trace;
        CtfDataStream *stream;

        ctf_trace_class_identity(trace, identity->trace_uuid);
        identity->class_id = layout->stream->id;
        identity->stream_id = packet->has_stream_id ? packet->stream_id : unnamed;
        stream = ctf_data_stream_new(identity, layout);
        stream_read_environment(stream, trace);
        if (layout->stream->clock)
                stream_identity_set_clock(identity, layout->stream->clock->name,
                                          stream->clock_offset);
        return stream;
}
