/* SPDX-License-Identifier: MIT */
#include "feed/stream-table.h"

#include <string.h>

static guint stream_key_hash(gconstpointer data)
{
        const StreamKey *key = data;
        uint32_t word;

        memcpy(&word, key->uuid, sizeof(word));
        return word ^ (guint)(key->class_id * 31 + key->stream_id);
}

static gboolean stream_key_equal(gconstpointer a, gconstpointer b)
{
        const StreamKey *one = a, *other = b;

        return !memcmp(one->uuid, other->uuid, sizeof(one->uuid)) &&
               one->class_id == other->class_id && one->stream_id == other->stream_id;
}

static void stream_table_free_stream(void *data)
{
        FeedStream *stream = data;

        ctf_data_stream_free(stream->data);
        g_free(stream);
}

void stream_table_init(StreamTable *table)
{
        table->streams = g_hash_table_new_full(stream_key_hash, stream_key_equal, NULL,
                                               stream_table_free_stream);
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
                stream->number = FEED_STREAM_NO_NUMBER;
                g_hash_table_insert(table->streams, &stream->key, stream);
        }
        return stream;
}

int64_t stream_order(const FeedStream *stream, uint64_t time)
{
        int64_t order;

        return __builtin_add_overflow((int64_t)MIN(time, INT64_MAX), stream->identity->clock_offset,
                                      &order)
                       ? INT64_MAX
                       : order;
}

uint64_t stream_position(const FeedStream *stream)
{
        return MAX(stream->disk_end, MAX(stream->watermark, stream->taken));
}

bool stream_is_complete(const FeedStream *stream)
{
        return stream->state == STREAM_LIVE || stream->state == STREAM_WHOLE;
}

void stream_end(FeedStream *stream)
{
        stream->state = STREAM_WHOLE;
        stream->ended = MAX(MAX(stream->watermark, stream->taken), 1);
}

void stream_table_forget_daemon(StreamTable *table)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                stream->number = FEED_STREAM_NO_NUMBER;
                stream->state = STREAM_UNOPENED;
                stream->watermark = stream->taken = stream->progress = stream->disk_end = 0;
                stream->caught_up = 0;
                stream->has_begun = false;
                if (stream->data) {
                        ctf_data_stream_drop_packet(stream->data);
                        stream->data->has_previous = false;
                }
        }
}

/* The traces are of the same buffers, in two sessions. */
static bool stream_has_same_buffers(const FeedStream *a, const FeedStream *b)
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

                if (stream_has_same_buffers(stream, other))
                        earlier = MAX(MAX(earlier, other->ended),
                                      MAX(other->progress, other->watermark));
        }
        return earlier;
}
