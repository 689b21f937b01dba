/* SPDX-License-Identifier: MIT */
#include "feed/stream.h"

#include <string.h>

static guint key_hash(gconstpointer data)
{
        const StreamKey *key = data;
        uint32_t word;

        memcpy(&word, key->uuid, sizeof(word));
        return word ^ (guint)(key->class_id * 31 + key->stream_id);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
        const StreamKey *one = a, *other = b;

        return !memcmp(one->uuid, other->uuid, sizeof(one->uuid)) &&
               one->class_id == other->class_id && one->stream_id == other->stream_id;
}

static void stream_free(void *data)
{
        FeedStream *stream = data;

        ingest_stream_free(stream->identity);
        g_free(stream);
}

void stream_table_init(StreamTable *table)
{
        table->streams = g_hash_table_new_full(key_hash, key_equal, NULL, stream_free);
}

void stream_table_deinit(StreamTable *table)
{
        g_clear_pointer(&table->streams, g_hash_table_destroy);
}

FeedStream *stream_table_get(StreamTable *table, const StreamKey *key)
{
        FeedStream *stream = g_hash_table_lookup(table->streams, key);

        if (!stream) {
                stream = g_new0(FeedStream, 1);
                stream->key = *key;
                stream->number = STREAM_CLOSED;
                g_hash_table_insert(table->streams, &stream->key, stream);
        }
        return stream;
}

void stream_identify(FeedStream *stream, const IngestStream *identity)
{
        IngestStream *own;

        if (stream->identity)
                return;
        own = stream->identity = ingest_stream_new();
        memcpy(own->trace_uuid, identity->trace_uuid, sizeof(own->trace_uuid));
        own->class_id = identity->class_id;
        own->stream_id = identity->stream_id;
        own->scheme = identity->scheme;
        own->uid = identity->uid;
        own->pid = identity->pid;
        own->clock_offset = identity->clock_offset;
        g_string_append_len(own->hostname, identity->hostname->str,
                            (gssize)identity->hostname->len);
        g_string_append_len(own->boot_id, identity->boot_id->str, (gssize)identity->boot_id->len);
        g_string_append_len(own->clock_name, identity->clock_name->str,
                            (gssize)identity->clock_name->len);
}

uint64_t stream_position(const FeedStream *stream)
{
        return MAX(stream->disk_end, MAX(stream->watermark, stream->taken));
}

void stream_table_forget_daemon(StreamTable *table)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                stream->number = STREAM_CLOSED;
                stream->is_known = stream->is_whole = stream->is_live = false;
                stream->watermark = stream->taken = stream->progress = stream->disk_end = 0;
                stream->caught_up = 0;
        }
}

/* Do two traces have the same programs in them, but for the time? */
static bool is_of_same_buffers(const FeedStream *a, const FeedStream *b)
{
        return memcmp(a->key.uuid, b->key.uuid, sizeof(a->key.uuid)) && a->identity &&
               b->identity && a->identity->scheme == b->identity->scheme &&
               a->identity->uid == b->identity->uid && a->identity->pid == b->identity->pid &&
               g_string_equal(a->identity->hostname, b->identity->hostname);
}

uint64_t stream_table_earlier(const StreamTable *table, const FeedStream *stream)
{
        uint64_t earlier = 0;
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const FeedStream *other = value;

                if (is_of_same_buffers(stream, other))
                        earlier = MAX(earlier, MAX(other->progress, other->watermark));
        }
        return earlier;
}
