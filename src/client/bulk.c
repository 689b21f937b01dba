/* SPDX-License-Identifier: MIT */
#include "client/bulk.h"

#include "client/answer.h"
#include "client/endpoint.h"
#include "client/varlink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames that are sent before the first is answered, so that the next one arrives while the daemon
 * works. */
#define MAX_IN_FLIGHT 2
/* Bytes of the text in an ERROR frame. */
#define MAX_ERROR (64u << 10)

/* A frame that is not answered yet. */
typedef struct Flight {
        uint32_t tag;
        size_t n;
} Flight;

/* One bulk_resolve(). */
typedef struct Exchange {
        const clrsym_query *queries;
        clrsym_answer *answers;
        size_t n, n_asked, n_answered;
        Flight flights[MAX_IN_FLIGHT]; /* the oldest first */
        unsigned n_flights;
        int64_t wait_deadline;
        int64_t deadline; /* for the next answers */
} Exchange;

static int bulk_refuse(Bulk *bulk, const char *detail)
{
        snprintf(bulk->detail, sizeof(bulk->detail), "%s", detail);
        return -EBADMSG;
}

/* -EPROTONOSUPPORT: the daemon does not know that version. */
static int upgrade_to(Bulk *bulk, int asked, int64_t deadline)
{
        char parameters[32];
        json_int_t version, max_queries, answer_size = BULK_ANSWER_MIN;
        Reply reply;
        int r;

        snprintf(parameters, sizeof(parameters), "{\"version\":%d}", asked);
        r = varlink_send(&bulk->connection, "Bulk", parameters, "upgrade", deadline);
        if (r == 0)
                r = varlink_receive(&bulk->connection, deadline, REPLY_TREE, &reply);
        if (r == -EBADMSG)
                return bulk_refuse(bulk, "the answer to Bulk is not a reply");
        if (r < 0)
                return r;
        version = json_integer_value(json_object_get(reply.parameters, "version"));
        max_queries = json_integer_value(json_object_get(reply.parameters, "max_queries"));
        if (version >= 3)
                answer_size = json_integer_value(json_object_get(reply.parameters, "answer_size"));
        if (reply.error &&
            !strcmp(json_string_value(reply.error), "org.varlink.service.InvalidParameter")) {
                snprintf(bulk->detail, sizeof(bulk->detail), "another version of batches");
                r = -EPROTONOSUPPORT;
        } else if (reply.error) {
                snprintf(bulk->detail, sizeof(bulk->detail), "%s", json_string_value(reply.error));
                r = -EREMOTEIO;
        } else if (version != asked || max_queries < 1 || reply.continues ||
                   answer_size < BULK_ANSWER_MIN || answer_size > BULK_ANSWER_MAX) {
                r = bulk_refuse(bulk, "another version of batches");
        }
        reply_take(&reply, &bulk->connection);
        if (r < 0)
                return r;
        bulk->max_queries =
                max_queries < BULK_MAX_QUERIES ? (uint32_t)max_queries : BULK_MAX_QUERIES;
        bulk->answer_size = (uint32_t)answer_size;
        bulk->is_upgraded = true;
        return 0;
}

int bulk_upgrade(Bulk *bulk, int64_t deadline)
{
        int version = BULK_VERSION, r;

        do
                r = upgrade_to(bulk, version, deadline);
        while (r == -EPROTONOSUPPORT && --version > 0);
        return r == -EPROTONOSUPPORT ? -EREMOTEIO : r;
}

static int bulk_flush(Bulk *bulk)
{
        size_t n;
        int r = connection_send_some(&bulk->connection, bulk->output + bulk->n_sent,
                                     bulk->n_output - bulk->n_sent, &n);

        /* The daemon may have sent the reason before it disconnected, which is read next. */
        if (r == -ECONNRESET)
                n = bulk->n_output - bulk->n_sent;
        else if (r < 0)
                return r;
        bulk->n_sent += n;
        if (bulk->n_sent == bulk->n_output)
                bulk->n_sent = bulk->n_output = 0;
        return 0;
}

/* Puts the next frame of queries into the output, which is empty. */
static int bulk_ask_all(Bulk *bulk, Exchange *exchange)
{
        size_t i, n = exchange->n - exchange->n_asked;
        const clrsym_query *query = exchange->queries + exchange->n_asked;
        BulkHeader header = {.type = BULK_QUERIES, .tag = ++bulk->last_tag};
        char *at;

        if (!bulk->output)
                bulk->output = malloc(sizeof(header) + BULK_MAX_QUERIES * sizeof(BulkQuery));
        if (!bulk->output)
                return -ENOMEM;
        if (n > bulk->max_queries)
                n = bulk->max_queries;
        header.size = (uint32_t)(n * sizeof(BulkQuery));
        if (exchange->wait_deadline)
                header.wait_ms = (uint32_t)ms_until(exchange->wait_deadline);
        memcpy(bulk->output, &header, sizeof(header));
        at = bulk->output + sizeof(header);
        for (i = 0; i < n; i++, query++, at += sizeof(BulkQuery)) {
                const BulkQuery row = {
                        .address = query->address,
                        .time = query->has_time ? query->time : 0,
                        .pid_ns = query->has_pid_ns ? query->pid_ns : 0,
                        .pid = query->pid,
                        .flags = (query->has_time ? BULK_QUERY_TIME : 0) |
                                 (query->has_pid_ns ? BULK_QUERY_PID_NS : 0),
                };

                memcpy(at, &row, sizeof(row));
        }
        bulk->n_output = sizeof(header) + header.size;
        exchange->flights[exchange->n_flights++] = (Flight){header.tag, n};
        exchange->n_asked += n;
        return bulk_flush(bulk);
}

static int take_names(Bulk *bulk, const char *at, size_t n)
{
        while (n) {
                BulkName name;
                int r;

                if (n < sizeof(name))
                        return bulk_refuse(bulk, "half a name");
                memcpy(&name, at, sizeof(name));
                at += sizeof(name);
                n -= sizeof(name);
                if (name.n > n || name.id == 0)
                        return bulk_refuse(bulk, "a name without an id, or longer than its frame");
                bulk->n_name_bytes += sizeof(name) + name.n;
                r = name_cache_set(&bulk->names, name.id, at, name.n);
                if (r == -EBADMSG)
                        return bulk_refuse(bulk, "a name that is not UTF-8 text");
                if (r == -ENOBUFS || bulk->n_name_bytes > 2 * BULK_MAX_NAME_BYTES)
                        return bulk_refuse(bulk, "more names than agreed");
                if (r < 0)
                        return r;
                at += name.n;
                n -= name.n;
        }
        return 0;
}

static int take_processes(Bulk *bulk, const char *at, size_t n)
{
        if (n % sizeof(BulkProcess))
                return bulk_refuse(bulk, "half a process");
        if (!bulk->processes)
                bulk->processes = malloc(BULK_MAX_QUERIES * sizeof(BulkProcess));
        if (!bulk->processes)
                return -ENOMEM;
        memcpy(bulk->processes, at, n);
        bulk->n_processes = (uint32_t)(n / sizeof(BulkProcess));
        return 0;
}

static int take_stubs(Bulk *bulk, const char *at, size_t n)
{
        if (n % sizeof(BulkStub))
                return bulk_refuse(bulk, "half a stub");
        if (!bulk->stubs)
                bulk->stubs = malloc(BULK_MAX_QUERIES * sizeof(BulkStub));
        if (!bulk->stubs)
                return -ENOMEM;
        memcpy(bulk->stubs, at, n);
        bulk->n_stubs = (uint32_t)(n / sizeof(BulkStub));
        return 0;
}

/* Names come before the rows that refer to them. */
static int take_inlined(Bulk *bulk, const char *at, size_t n)
{
        const uint32_t n_rows = (uint32_t)(n / sizeof(BulkInlined));
        InlinedRows *inlined;
        uint32_t i;

        if (n % sizeof(BulkInlined) || bulk->has_inlined)
                return bulk_refuse(bulk, "half an inlined method, or such methods twice");
        inlined = calloc(1, sizeof(*inlined) + n_rows * sizeof(*inlined->rows));
        if (!inlined)
                return -ENOMEM;
        inlined->next = bulk->inlined;
        inlined->n = n_rows;
        bulk->inlined = inlined;
        bulk->has_inlined = true;
        for (i = 0; i < n_rows; i++) {
                BulkInlined row;

                memcpy(&row, at + i * sizeof(row), sizeof(row));
                inlined->rows[i] = (clrsym_inlined){
                        .method = row.method ? name_cache_find(&bulk->names, row.method) : NULL,
                        .il_offset = row.il_offset < 0 ? -1 : row.il_offset,
                };
                if (row.method && !inlined->rows[i].method)
                        return bulk_refuse(bulk, "a name that was not sent");
        }
        return 0;
}

static void bulk_forget_inlined(Bulk *bulk)
{
        while (bulk->inlined) {
                InlinedRows *next = bulk->inlined->next;

                free(bulk->inlined);
                bulk->inlined = next;
        }
        bulk->has_inlined = false;
}

static int take_answers(Bulk *bulk, Exchange *exchange, const BulkHeader *header, const char *at)
{
        Flight flight = exchange->flights[0];
        size_t i, n_row = bulk->answer_size < sizeof(BulkAnswer) ? bulk->answer_size
                                                                 : sizeof(BulkAnswer);

        if (!exchange->n_flights || header->tag != flight.tag)
                return bulk_refuse(bulk, "answers to no question");
        if (header->size != flight.n * bulk->answer_size)
                return bulk_refuse(bulk, "not one answer a question");
        for (i = 0; i < flight.n; i++, at += bulk->answer_size) {
                const InlinedRows *inlined = bulk->has_inlined ? bulk->inlined : NULL;
                const AnswerContext context = {&bulk->names,
                                               bulk->processes,
                                               bulk->n_processes,
                                               bulk->stubs,
                                               bulk->n_stubs,
                                               inlined ? inlined->rows : NULL,
                                               inlined ? inlined->n : 0};
                size_t j = exchange->n_answered + i;
                const char *wrong;
                BulkAnswer row = {0}; /* an older daemon sends a part of it */

                memcpy(&row, at, n_row);
                if (n_row < sizeof(row))
                        row.line_il = -1;
                wrong = answer_from_row(&context, &row, &exchange->queries[j],
                                        &exchange->answers[j]);
                if (wrong)
                        return bulk_refuse(bulk, wrong);
        }
        exchange->n_answered += flight.n;
        exchange->flights[0] = exchange->flights[1];
        exchange->n_flights--;
        exchange->deadline = 0;
        bulk->n_name_bytes = 0;
        bulk->n_stubs = 0;
        bulk->has_inlined = false;
        return 0;
}

/* The maximum of bytes of a payload; 0: no such frame, or no payload. */
static size_t max_size(const Bulk *bulk, uint16_t type)
{
        switch (type) {
        case BULK_NAMES:
                return 2 * BULK_MAX_NAME_BYTES;
        case BULK_PROCESSES:
                return BULK_MAX_QUERIES * sizeof(BulkProcess);
        case BULK_STUBS:
                return BULK_MAX_QUERIES * sizeof(BulkStub);
        case BULK_INLINED:
                return (size_t)BULK_MAX_QUERIES * BULK_MAX_INLINED * sizeof(BulkInlined);
        case BULK_ANSWERS:
                return (size_t)BULK_MAX_QUERIES * bulk->answer_size;
        case BULK_ERROR:
                return MAX_ERROR;
        default:
                return 0;
        }
}

static int take_payload(Bulk *bulk, Exchange *exchange, const BulkHeader *header, const char *at)
{
        switch (header->type) {
        case BULK_NAMES:
                return take_names(bulk, at, header->size);
        case BULK_FORGET:
                name_cache_forget(&bulk->names);
                return 0;
        case BULK_PROCESSES:
                return take_processes(bulk, at, header->size);
        case BULK_STUBS:
                return take_stubs(bulk, at, header->size);
        case BULK_INLINED:
                return take_inlined(bulk, at, header->size);
        case BULK_ANSWERS:
                return take_answers(bulk, exchange, header, at);
        case BULK_ERROR:
                snprintf(bulk->detail, sizeof(bulk->detail), "%.*s", (int)header->size, at);
                return -EREMOTEIO;
        default:
                snprintf(bulk->detail, sizeof(bulk->detail), "a frame of type %" PRIu16,
                         header->type);
                return -EBADMSG;
        }
}

/* Takes the next frame; -EAGAIN if it is not complete. */
static int bulk_take_frame(Bulk *bulk, Exchange *exchange)
{
        size_t n;
        const char *at = connection_bytes(&bulk->connection, &n);
        BulkHeader header;
        int r;

        if (n < sizeof(header))
                return -EAGAIN;
        memcpy(&header, at, sizeof(header));
        if (header.size > max_size(bulk, header.type))
                return bulk_refuse(bulk, "a frame that is too long");
        if (n - sizeof(header) < header.size)
                return -EAGAIN;
        r = take_payload(bulk, exchange, &header, at + sizeof(header));
        connection_take(&bulk->connection, sizeof(header) + header.size);
        return r;
}

/* Sends, until bytes are received. */
static int wait_more(Bulk *bulk, Exchange *exchange)
{
        struct pollfd poll_fd = {.fd = bulk->connection.fd, .events = POLLIN | POLLOUT};
        int r;

        if (!exchange->deadline) {
                exchange->deadline = clock_ms() + UNRESPONSIVE_MS;
                if (exchange->wait_deadline)
                        exchange->deadline += ms_until(exchange->wait_deadline);
        }
        if (!bulk->n_output)
                return connection_receive(&bulk->connection, exchange->deadline);
        r = poll(&poll_fd, 1, ms_until(exchange->deadline));
        if (r < 0)
                return errno == EINTR ? 0 : -errno;
        if (r == 0)
                return -ETIMEDOUT;
        if (poll_fd.revents & POLLOUT)
                r = bulk_flush(bulk);
        if (r >= 0 && poll_fd.revents & ~POLLOUT)
                r = connection_receive_some(&bulk->connection);
        return r == -EAGAIN || r > 0 ? 0 : r;
}

int bulk_resolve(Bulk *bulk, const clrsym_query *queries, size_t n, int64_t wait_deadline,
                 clrsym_answer *answers, size_t *ret_n_answered)
{
        Exchange exchange = {
                .queries = queries, .answers = answers, .n = n, .wait_deadline = wait_deadline};
        int r = 0;

        while (r == 0 && exchange.n_answered < n) {
                if (exchange.n_flights < MAX_IN_FLIGHT && exchange.n_asked < n && !bulk->n_output) {
                        r = bulk_ask_all(bulk, &exchange);
                        continue;
                }
                r = bulk_take_frame(bulk, &exchange);
                if (r == -EAGAIN)
                        r = wait_more(bulk, &exchange);
        }
        *ret_n_answered = exchange.n_answered;
        return r;
}

void bulk_release(Bulk *bulk)
{
        name_cache_release(&bulk->names);
        bulk_forget_inlined(bulk);
}

bool bulk_is_bloated(const Bulk *bulk)
{
        return bulk->names.n_stored > 2 * BULK_MAX_NAME_BYTES;
}

void bulk_close(Bulk *bulk)
{
        connection_close(&bulk->connection);
        name_cache_forget(&bulk->names);
        bulk->is_upgraded = false;
        bulk->n_processes = 0;
        bulk->n_stubs = 0;
        bulk->has_inlined = false;
        bulk->n_output = bulk->n_sent = 0;
        bulk->n_name_bytes = 0;
}

void bulk_deinit(Bulk *bulk)
{
        bulk_close(bulk);
        bulk_release(bulk);
        free(bulk->processes);
        free(bulk->stubs);
        free(bulk->output);
        *bulk = BULK_NONE;
}
