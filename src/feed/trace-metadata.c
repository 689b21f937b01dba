/* SPDX-License-Identifier: MIT */
#include "feed/trace-metadata.h"

#include "ctf/metadata.h"
#include "ctf/stream-identity.h"
#include "event/boot-id.h"

#include <string.h>

/* A packet of metadata (CTF 1.8, section 7.1): magic, uuid, checksum, and its sizes in bits. */
#define METADATA_MAGIC 0x75D11D57
enum {
        METADATA_PACKET_BITS = 28,
        METADATA_HEADER_SIZE = 37,
        RECORD_SEPARATOR = 0x1e, /* begins a declaration of CTF 2 */
};

struct TraceMetadata {
        unsigned n_refs;
        CtfTraceClass *trace; /* owned */
        GHashTable *layouts;  /* owned: see ctf_layouts_new() */
        uint8_t uuid[16];
};

static uint32_t get_native(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return value;
}

static bool has_magic(const uint8_t *bytes, size_t n)
{
        return n >= METADATA_HEADER_SIZE &&
               (get_native(bytes) == METADATA_MAGIC ||
                get_native(bytes) == GUINT32_SWAP_LE_BE(METADATA_MAGIC));
}

static size_t packets_whole(const uint8_t *bytes, size_t n)
{
        size_t at = 0;

        while (has_magic(bytes + at, n - at)) {
                uint32_t bits = get_native(bytes + at + METADATA_PACKET_BITS);

                if (get_native(bytes + at) != METADATA_MAGIC)
                        bits = GUINT32_SWAP_LE_BE(bits);
                if (bits / 8 < METADATA_HEADER_SIZE || bits / 8 > n - at)
                        break;
                at += bits / 8;
        }
        return at;
}

/* The object of a declaration of CTF 2 ends within N bytes. */
static bool object_is_whole(const uint8_t *bytes, size_t n)
{
        bool is_in_text = false;
        size_t depth = 0, i;

        for (i = 0; i < n; i++) {
                if (is_in_text && bytes[i] == '\\')
                        i++;
                else if (bytes[i] == '"')
                        is_in_text = !is_in_text;
                else if (!is_in_text && bytes[i] == '{')
                        depth++;
                else if (!is_in_text && bytes[i] == '}' && (depth == 0 || --depth == 0))
                        return true;
        }
        return false;
}

static size_t declarations_whole(const uint8_t *bytes, size_t n)
{
        const uint8_t *last = memrchr(bytes, RECORD_SEPARATOR, n);
        size_t begin = last ? (size_t)(last - bytes) : 0;

        return object_is_whole(bytes + begin, n - begin) ? n : begin;
}

/*
 * The number of bytes of whole declarations in TSDL text: a declaration ends with a line of "};".
 */
static size_t text_whole(const uint8_t *bytes, size_t n)
{
        static const char END[] = "\n};\n";
        const size_t n_end = sizeof(END) - 1;

        for (; n >= n_end; n--)
                if (!memcmp(bytes + n - n_end, END, n_end))
                        return n;
        return 0;
}

size_t trace_metadata_whole(const uint8_t *bytes, size_t n)
{
        if (n == 0)
                return 0;
        if (bytes[0] == RECORD_SEPARATOR || bytes[0] == '{')
                return declarations_whole(bytes, n);
        return has_magic(bytes, n) ? packets_whole(bytes, n) : text_whole(bytes, n);
}

TraceMetadata *trace_metadata_new(const uint8_t *bytes, size_t n, EventUse use, GHashTable *counts,
                                  GError **error)
{
        CtfTraceClass *trace = ctf_metadata_parse(bytes, n, error);
        TraceMetadata *metadata;

        if (!trace)
                return NULL;
        metadata = g_new0(TraceMetadata, 1);
        metadata->n_refs = 1;
        metadata->trace = trace;
        metadata->layouts = ctf_layouts_new(trace, use, counts);
        ctf_trace_class_identity(trace, metadata->uuid);
        return metadata;
}

TraceMetadata *trace_metadata_ref(TraceMetadata *metadata)
{
        metadata->n_refs++;
        return metadata;
}

void trace_metadata_unref(TraceMetadata *metadata)
{
        if (!metadata || --metadata->n_refs > 0)
                return;
        g_hash_table_destroy(metadata->layouts);
        ctf_trace_class_free(metadata->trace);
        g_free(metadata);
}

const uint8_t *trace_metadata_uuid(const TraceMetadata *metadata)
{
        static const uint8_t NONE[sizeof(metadata->uuid)];

        return memcmp(metadata->uuid, NONE, sizeof(NONE)) != 0 ? metadata->uuid : NULL;
}

CtfLayout *trace_metadata_layout(const TraceMetadata *metadata)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, metadata->layouts);
        return g_hash_table_iter_next(&iter, NULL, &value) ? value : NULL;
}

bool trace_metadata_order(const TraceMetadata *metadata, uint64_t cycles, int64_t *ret_order)
{
        const CtfLayout *layout = trace_metadata_layout(metadata);
        CtfDataStream *stream;
        bool ok;

        if (!layout || !layout->stream->clock)
                return false;
        stream = ctf_data_stream_of_packet(layout, &(const CtfPacket){0}, 0);
        ok = !__builtin_add_overflow(stream->clock_offset,
                                     MIN(ctf_data_stream_ns(stream, cycles), INT64_MAX), ret_order);
        ctf_data_stream_free(stream);
        return ok;
}

bool trace_metadata_identify(const TraceMetadata *metadata, FeedStream *stream)
{
        const CtfLayout *layout = g_hash_table_lookup(metadata->layouts, &stream->key.class_id);
        const CtfPacket packet = {.has_stream_id = true, .stream_id = stream->key.stream_id};
        const CtfClock *clock = layout ? layout->stream->clock : NULL;
        uint8_t uuid[16];

        if (stream->data)
                return true;
        if (!clock)
                return false;
        stream->data = ctf_data_stream_of_packet(layout, &packet, 0);
        stream->identity = stream->data->identity;
        boot_id_append(stream->data->identity->boot_id, stream->identity->hostname->str,
                       clock->uid && ctf_uuid_from_text(clock->uid, uuid) ? uuid : NULL,
                       stream->identity->clock_offset);
        return true;
}
