/* SPDX-License-Identifier: MIT */
#include "ctf/stream-identity.h"

#include <string.h>

static void append_valid_utf8(GString *out, const char *text)
{
        size_t n = strlen(text);

        g_string_set_size(out, 3 * n);
        g_string_set_size(out, utf8_make_valid((const uint8_t *)text, n, (uint8_t *)out->str));
}

const char *ctf_trace_class_environment_text(const CtfTraceClass *trace, const char *name)
{
        const CtfEnvironment *entry = ctf_trace_class_environment(trace, name);

        return entry && entry->text ? entry->text : "";
}

static bool environment_number(const CtfTraceClass *trace, const char *name, int64_t *ret_number)
{
        const CtfEnvironment *entry = ctf_trace_class_environment(trace, name);

        if (!entry || entry->text)
                return false;
        *ret_number = entry->number;
        return true;
}

static void stream_set_owner(CtfDataStream *stream, const CtfTraceClass *trace)
{
        const char *scheme = ctf_trace_class_environment_text(trace, "tracer_buffering_scheme");
        StreamIdentity *identity = stream->identity;
        int64_t id;

        identity->uid = UINT32_MAX;
        stream->has_pid = environment_number(trace, "vpid", &id) && id > 0 && id <= INT32_MAX;
        if (stream->has_pid)
                stream->pid = (int32_t)id;
        if (!strcmp(scheme, "uid")) {
                identity->scheme = BUFFER_SCHEME_PER_UID;
                if (environment_number(trace, "tracer_buffering_id", &id) && id >= 0 &&
                    id < UINT32_MAX)
                        identity->uid = (uint32_t)id;
        } else if (!strcmp(scheme, "pid")) {
                identity->scheme = BUFFER_SCHEME_PER_PID;
                identity->pid = stream->pid;
        }
}

void ctf_trace_class_identity(const CtfTraceClass *trace, uint8_t ret_uuid[16])
{
        g_autoptr(GChecksum) sum = NULL;
        gsize n = 32;
        guint8 digest[32];

        memset(ret_uuid, 0, 16);
        if (trace->has_uuid) {
                memcpy(ret_uuid, trace->uuid, 16);
        } else if (trace->uid) {
                sum = g_checksum_new(G_CHECKSUM_SHA256);
                if (trace->name_space)
                        g_checksum_update(sum, (const guchar *)trace->name_space, -1);
                g_checksum_update(sum, (const guchar *)"", 1);
                g_checksum_update(sum, (const guchar *)trace->uid, -1);
                g_checksum_get_digest(sum, digest, &n);
                memcpy(ret_uuid, digest, 16);
        }
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
        append_valid_utf8(identity->hostname, ctf_trace_class_environment_text(trace, "hostname"));
        stream = ctf_data_stream_new(identity, layout);
        stream_set_owner(stream, trace);
        if (layout->stream->clock) {
                append_valid_utf8(identity->clock_name, layout->stream->clock->name);
                identity->clock_offset = stream->clock_offset;
        }
        return stream;
}
