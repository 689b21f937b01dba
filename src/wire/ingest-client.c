/* SPDX-License-Identifier: MIT */
#include "wire/ingest-client.h"

#include "wire/program-names.h"

#include <string.h>

/* A stream on the client's side. */
typedef struct ClientSlot {
        IngestStream stream; /* first: a pointer to it is also a pointer to the slot */
        GByteArray *open;    /* owned: its STREAM_OPEN; NULL if batches are not kept */
        uint64_t acked;      /* highest watermark on any connection */
        /* Numbers of batches, counted like IngestClient.n_commits; 0: none. */
        uint64_t first_commit; /* the first batch with a frame of this stream */
        uint64_t last_commit;  /* the batch with its STREAM_CLOSE */
} ClientSlot;

struct IngestClient {
        char *program; /* owned */
        bool keeps_batches;
        IngestClientState state;
        IngestClientFailure failure;
        char *reason;    /* owned: of the failure */
        GByteArray *out; /* borrowed; NULL: OFFLINE */
        GByteArray *in;  /* owned: received bytes */
        size_t n_taken;  /* bytes of it that ingest_client_next() has read */

        GPtrArray *slots;   /* owned Slots by stream number; NULL: the number is free */
        unsigned n_opening; /* streams opened, not answered, and not closing */
        unsigned n_closing;
        bool is_resuming; /* the next batch reports where open streams continue */

        ProgramNames programs; /* names sent on this connection */
        GByteArray *batch;     /* owned: frames until the next commit */
        bool has_records;      /* in the batch */
        int64_t last_order;    /* of the last record put */
        size_t group_begin;    /* begin of the records of that order in the batch */

        uint64_t n_commits; /* batches since the client began, or since it last lost its batches */
        uint64_t n_committed;
        GQueue *kept; /* owned GByteArrays: unacknowledged batches; empty if batches are not kept */
};

static void client_slot_free(gpointer data)
{
        ClientSlot *slot = data;

        if (!slot)
                return;
        if (slot->open)
                g_byte_array_unref(slot->open);
        g_free(slot);
}

static bool client_slot_is_opening(const ClientSlot *slot)
{
        return !slot->stream.is_known && !slot->last_commit;
}

IngestClient *ingest_client_new(const char *program, bool keeps_batches)
{
        IngestClient *client = g_new0(IngestClient, 1);

        client->program = g_strdup(program);
        client->keeps_batches = keeps_batches;
        client->in = g_byte_array_new();
        client->slots = g_ptr_array_new_with_free_func(client_slot_free);
        client->batch = g_byte_array_sized_new(2 * INGEST_CLIENT_BATCH_SIZE);
        client->last_order = INT64_MIN;
        client->kept = g_queue_new();
        return client;
}

void ingest_client_free(IngestClient *client)
{
        if (!client)
                return;
        g_byte_array_unref(client->in);
        g_ptr_array_unref(client->slots);
        g_byte_array_unref(client->batch);
        program_names_clear(&client->programs);
        g_queue_free_full(client->kept, (GDestroyNotify)g_byte_array_unref);
        g_free(client->program);
        g_free(client->reason);
        g_free(client);
}

static ClientSlot *client_slot(const IngestClient *client, uint32_t number)
{
        return number < client->slots->len ? client->slots->pdata[number] : NULL;
}

/* Connections */

/* Calls EACH for the frames of BYTES whose stream is open or closing. */
static void client_each_frame(IngestClient *client, const uint8_t *bytes, size_t n,
                              void (*each)(IngestClient *client, ClientSlot *slot,
                                           const IngestFrame *frame, void *data),
                              void *data)
{
        size_t at = 0;

        while (at < n) {
                IngestFrame frame;
                ssize_t n_frame = ingest_frame_next(bytes + at, n - at, &frame);
                uint32_t number;
                ClientSlot *slot;

                g_return_if_fail(n_frame > 0);
                if (ingest_frame_stream(&frame, &number) && (slot = client_slot(client, number)))
                        each(client, slot, &frame, data);
                at += (size_t)n_frame;
        }
}

static void client_renumber_frame(IngestClient *client, ClientSlot *slot, const IngestFrame *frame,
                                  void *data)
{
        GByteArray *batch = data;
        size_t n;

        ingest_renumber(batch->data + (ingest_frame_bytes(frame, &n) - batch->data),
                        slot->stream.number);
}

static void client_renumber_batch(IngestClient *client, GByteArray *batch)
{
        client_each_frame(client, batch->data, batch->len, client_renumber_frame, batch);
}

/* Stream numbers begin at 0 on each connection, so unsent frames get the new numbers. */
static void client_renumber(IngestClient *client)
{
        uint32_t i, number = 0;
        GList *link;

        for (i = 0; i < client->slots->len; i++) {
                ClientSlot *slot = client->slots->pdata[i];

                if (slot)
                        slot->stream.number = number++;
        }
        if (number == client->slots->len)
                return;
        for (link = client->kept->head; link; link = link->next)
                client_renumber_batch(client, link->data);
        client_renumber_batch(client, client->batch);
        while (g_ptr_array_remove(client->slots, NULL))
                ;
}

/* Reports where the streams continue: everything up to there was acknowledged. */
static void client_put_resumed(IngestClient *client)
{
        guint i;

        for (i = 0; client->is_resuming && i < client->slots->len; i++) {
                const ClientSlot *slot = client->slots->pdata[i];

                if (slot && slot->first_commit && slot->first_commit <= client->n_committed)
                        ingest_put_progress(client->out, i, slot->acked);
        }
        client->is_resuming = false;
}

static void client_send_batch(IngestClient *client, const uint8_t *frames, size_t n,
                              const GByteArray *last)
{
        client_put_resumed(client);
        g_byte_array_append(client->out, frames, (guint)n);
        if (last)
                g_byte_array_append(client->out, last->data, last->len);
        ingest_put_empty(client->out, INGEST_COMMIT);
}

void ingest_client_connect(IngestClient *client, GByteArray *out)
{
        GList *link;
        guint i;

        g_return_if_fail(client->state == INGEST_CLIENT_OFFLINE);
        client->state = INGEST_CLIENT_GREETING;
        client->out = out;
        client_renumber(client);
        ingest_put_hello(out, INGEST_VERSION, client->program);
        client->n_opening = 0;
        for (i = 0; i < client->slots->len; i++) {
                ClientSlot *slot = client->slots->pdata[i];

                ingest_renumber(slot->open->data, i);
                g_byte_array_append(out, slot->open->data, slot->open->len);
                client->n_opening += client_slot_is_opening(slot);
        }
        client->is_resuming = true;
        for (link = client->kept->head; link; link = link->next) {
                const GByteArray *batch = link->data;

                client_send_batch(client, batch->data, batch->len, NULL);
        }
}

void ingest_client_disconnect(IngestClient *client)
{
        program_names_clear(&client->programs);
        guint i;

        client->state = INGEST_CLIENT_OFFLINE;
        client->failure = INGEST_CLIENT_OK;
        g_clear_pointer(&client->reason, g_free);
        client->out = NULL;
        g_byte_array_set_size(client->in, 0);
        client->n_taken = 0;
        if (client->keeps_batches) {
                for (i = 0; i < client->slots->len; i++) {
                        ClientSlot *slot = client->slots->pdata[i];

                        if (slot)
                                slot->stream.is_known = false;
                }
                return;
        }
        g_ptr_array_set_size(client->slots, 0);
        client->n_opening = client->n_closing = 0;
        g_byte_array_set_size(client->batch, 0);
        client->has_records = false;
        client->n_commits = client->n_committed = 0;
}

IngestClientState ingest_client_state(const IngestClient *client)
{
        return client->state;
}

bool ingest_client_is_ready(const IngestClient *client)
{
        return (client->state == INGEST_CLIENT_HELD || client->state == INGEST_CLIENT_GOING) &&
               client->n_opening == 0;
}

IngestClientFailure ingest_client_failure(const IngestClient *client)
{
        return client->failure;
}

const char *ingest_client_reason(const IngestClient *client)
{
        return client->reason;
}

/* From the daemon */

/* Takes over REASON. */
static IngestClientEvent client_fail(IngestClient *client, IngestClientFailure failure,
                                     char *reason)
{
        client->state = INGEST_CLIENT_FAILED;
        client->failure = failure;
        client->reason = reason;
        return INGEST_CLIENT_BROKEN;
}

static IngestClientEvent client_fail_foreign(IngestClient *client)
{
        return client_fail(client, INGEST_CLIENT_NOT_CLRSYMD, g_strdup("it is not clrsymd"));
}

static IngestClientEvent client_on_hello(IngestClient *client, const IngestFrame *frame)
{
        uint32_t version;

        if (frame->type != INGEST_HELLO || ingest_get_hello(frame, &version) < 0)
                return client_fail_foreign(client);
        if (version != INGEST_VERSION)
                return client_fail(client, INGEST_CLIENT_OTHER_VERSION,
                                   g_strdup_printf("it speaks version %u of the ingest protocol, "
                                                   "this feeder version %u",
                                                   version, INGEST_VERSION));
        client->state = INGEST_CLIENT_HELD;
        return INGEST_CLIENT_GREETED;
}

static IngestClientEvent client_on_ack(IngestClient *client, const IngestFrame *frame,
                                       IngestStream **ret_stream)
{
        uint32_t number;
        uint64_t time;
        ClientSlot *slot;

        if (ingest_get_stream_time(frame, &number, &time) < 0 || number >= client->slots->len)
                return client_fail_foreign(client);
        slot = client_slot(client, number);
        if (!slot)
                return INGEST_CLIENT_NOTHING;
        client->n_opening -= client_slot_is_opening(slot);
        slot->stream.watermark = slot->stream.is_known ? MAX(slot->stream.watermark, time) : time;
        slot->stream.is_known = true;
        slot->acked = MAX(slot->acked, time);
        if (slot->last_commit)
                return INGEST_CLIENT_NOTHING;
        if (ret_stream)
                *ret_stream = &slot->stream;
        return INGEST_CLIENT_ACK;
}

static IngestClientEvent client_on_committed(IngestClient *client)
{
        guint i;

        if (ingest_client_n_in_flight(client) == 0)
                return client_fail_foreign(client);
        client->n_committed++;
        if (client->keeps_batches)
                g_byte_array_unref(g_queue_pop_head(client->kept));
        for (i = 0; client->n_closing > 0 && i < client->slots->len; i++) {
                ClientSlot *slot = client->slots->pdata[i];

                if (!slot || slot->last_commit != client->n_committed)
                        continue;
                client->slots->pdata[i] = NULL;
                client->n_closing--;
                client_slot_free(slot);
        }
        return INGEST_CLIENT_COMMITTED;
}

static IngestClientEvent client_on_credit(IngestClient *client, IngestClientState state)
{
        if (client->state == state)
                return INGEST_CLIENT_NOTHING;
        client->state = state;
        return INGEST_CLIENT_CREDIT;
}

/* Returns NOTHING for a frame that the host need not know. */
static IngestClientEvent client_on_frame(IngestClient *client, const IngestFrame *frame,
                                         IngestStream **ret_stream)
{
        if (frame->type == INGEST_ERROR)
                return client_fail(client, INGEST_CLIENT_REFUSED, ingest_get_error(frame));
        if (client->state == INGEST_CLIENT_GREETING)
                return client_on_hello(client, frame);
        switch ((int)frame->type) {
        case INGEST_ACK:
                return client_on_ack(client, frame, ret_stream);
        case INGEST_COMMITTED:
                return client_on_committed(client);
        case INGEST_HOLD:
                return client_on_credit(client, INGEST_CLIENT_HELD);
        case INGEST_GO:
                return client_on_credit(client, INGEST_CLIENT_GOING);
        default:
                return client_fail_foreign(client);
        }
}

void ingest_client_feed(IngestClient *client, const uint8_t *bytes, size_t n)
{
        if (client->state == INGEST_CLIENT_OFFLINE || client->state == INGEST_CLIENT_FAILED)
                return;
        if (client->n_taken)
                g_byte_array_remove_range(client->in, 0, (guint)client->n_taken);
        client->n_taken = 0;
        g_byte_array_append(client->in, bytes, (guint)n);
}

IngestClientEvent ingest_client_next(IngestClient *client, IngestStream **ret_stream)
{
        IngestClientEvent event = INGEST_CLIENT_NOTHING;

        if (client->state == INGEST_CLIENT_FAILED)
                return INGEST_CLIENT_BROKEN;
        while (event == INGEST_CLIENT_NOTHING && client->n_taken < client->in->len) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(client->in->data + client->n_taken,
                                              client->in->len - client->n_taken, &frame);

                if (n == 0)
                        break;
                if (n < 0)
                        return client_fail_foreign(client);
                client->n_taken += (size_t)n;
                event = client_on_frame(client, &frame, ret_stream);
        }
        return event;
}

/* Streams */

/* The lowest number never used; if there is none, a free one. */
static uint32_t client_free_number(const IngestClient *client)
{
        uint32_t number = client->slots->len;

        if (number < INGEST_MAX_STREAMS)
                return number;
        for (number = 0; number < INGEST_MAX_STREAMS; number++)
                if (!client->slots->pdata[number])
                        break;
        return number;
}

IngestStream *ingest_client_open(IngestClient *client, const StreamIdentity *identity, void *data)
{
        uint32_t number = client_free_number(client);
        ClientSlot *slot;

        if (number == INGEST_MAX_STREAMS)
                return NULL;
        slot = g_new0(ClientSlot, 1);
        slot->stream.data = data;
        slot->stream.number = number;
        if (number == client->slots->len)
                g_ptr_array_add(client->slots, NULL);
        client->slots->pdata[number] = slot;
        client->n_opening++;
        if (client->keeps_batches) {
                slot->open = g_byte_array_new();
                ingest_put_stream_open(slot->open, number, identity);
        }
        if (client->out)
                ingest_put_stream_open(client->out, number, identity);
        return &slot->stream;
}

IngestStream *ingest_client_stream(const IngestClient *client, uint32_t number)
{
        ClientSlot *slot = client_slot(client, number);

        return slot && !slot->last_commit ? &slot->stream : NULL;
}

/* Batches */

GByteArray *ingest_client_batch(IngestClient *client)
{
        return client->batch;
}

IngestPut ingest_client_put_record(IngestClient *client, const IngestStream *stream,
                                   const Record *record, int64_t order)
{
        size_t begin = client->batch->len;

        if (!ingest_put_record(client->batch, stream->number, record))
                return INGEST_PUT_TOO_LARGE;
        if (client->batch->len > INGEST_MAX_BATCH)
                return INGEST_PUT_BATCH_FULL;
        if (program_names_note(&client->programs, record))
                ingest_put_program(client->batch, stream->number, record);
        if (!client->has_records || order > client->last_order) {
                client->group_begin = begin;
                client->last_order = order;
        }
        client->has_records = true;
        return INGEST_PUT_DONE;
}

bool ingest_client_is_due(const IngestClient *client, int64_t order)
{
        return client->batch->len >= INGEST_CLIENT_BATCH_SIZE && order > client->last_order;
}

size_t ingest_client_settled(const IngestClient *client, int64_t now)
{
        bool is_settled = !client->has_records || now > client->last_order;

        return is_settled ? client->batch->len : client->group_begin;
}

/* Notes a frame of the batch being committed. */
static void client_note_frame(IngestClient *client, ClientSlot *slot, const IngestFrame *frame,
                              void *data)
{
        if (!slot->first_commit)
                slot->first_commit = client->n_commits;
        if (frame->type != INGEST_STREAM_CLOSE || slot->last_commit)
                return;
        client->n_opening -= client_slot_is_opening(slot);
        client->n_closing++;
        slot->last_commit = client->n_commits;
}

static void client_commit(IngestClient *client, const uint8_t *frames, size_t n,
                          const GByteArray *last)
{
        client->n_commits++;
        client_each_frame(client, frames, n, client_note_frame, NULL);
        if (last)
                client_each_frame(client, last->data, last->len, client_note_frame, NULL);
        if (client->keeps_batches) {
                GByteArray *batch = g_byte_array_new();

                g_byte_array_append(batch, frames, (guint)n);
                if (last)
                        g_byte_array_append(batch, last->data, last->len);
                g_queue_push_tail(client->kept, batch);
        }
        if (client->out)
                client_send_batch(client, frames, n, last);
}

void ingest_client_commit(IngestClient *client, size_t n, const GByteArray *last)
{
        client_commit(client, client->batch->data, n, last);
        g_byte_array_remove_range(client->batch, 0, (guint)n);
        client->group_begin = 0;
        client->has_records = client->batch->len > 0;
}

void ingest_client_drop_batch(IngestClient *client)
{
        g_byte_array_set_size(client->batch, 0);
        client->group_begin = 0;
        client->has_records = false;
}

void ingest_client_commit_frames(IngestClient *client, const uint8_t *frames, size_t n)
{
        client_commit(client, frames, n, NULL);
}

unsigned ingest_client_n_in_flight(const IngestClient *client)
{
        return (unsigned)(client->n_commits - client->n_committed);
}

bool ingest_client_may_send(const IngestClient *client)
{
        return client->state == INGEST_CLIENT_GOING &&
               ingest_client_n_in_flight(client) < INGEST_CLIENT_MAX_IN_FLIGHT;
}
