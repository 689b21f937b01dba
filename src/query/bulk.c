/* SPDX-License-Identifier: MIT */
#include "query/bulk.h"

#include "core/method-flags.h"
#include "query/call.h"
#include "wire/bulk.h"

#include <errno.h>
#include <string.h>

/* By core's numbers; clrsym.h has those of the wire. */
enum { TIER_READY_TO_RUN = _METHOD_TIER_MAX };
enum { IL_UNKNOWN, IL_EXACT, IL_PROLOG, IL_EPILOG, IL_NO_MAPPING };

struct Bulk {
        QueryContext context;
        unsigned version;
        uint8_t *sent; /* owned: a bit for each name that the client has, by number */
        size_t n_sent_bytes;
        uint64_t n_reuses;       /* of numbers, that the client knows of */
        size_t n_names, n_bytes; /* that the client keeps */
        GByteArray *names;       /* owned: to be sent */
        GPtrArray *processes;    /* owned: borrowed Processes of the answers being made */
        GArray *stubs;           /* owned: of BulkStub, the same */
};

Bulk *bulk_new(const QueryContext *context, unsigned version)
{
        Bulk *bulk = g_new0(Bulk, 1);

        bulk->context = *context;
        bulk->version = version;
        bulk->names = g_byte_array_new();
        bulk->processes = g_ptr_array_new();
        bulk->stubs = g_array_new(FALSE, FALSE, sizeof(BulkStub));
        bulk->n_reuses = strtab_n_reuses(tracker_budget(context->tracker)->names);
        return bulk;
}

void bulk_free(Bulk *bulk)
{
        if (!bulk)
                return;
        g_free(bulk->sent);
        g_byte_array_unref(bulk->names);
        g_ptr_array_unref(bulk->processes);
        g_array_unref(bulk->stubs);
        g_free(bulk);
}

static void append_header(GString *out, BulkType type, size_t size, uint32_t tag)
{
        const BulkHeader header = {.size = (uint32_t)size, .type = (uint16_t)type, .tag = tag};

        g_string_append_len(out, (const char *)&header, sizeof(header));
}

static void forget(Bulk *bulk, GString *out)
{
        if (bulk->n_sent_bytes)
                memset(bulk->sent, 0, bulk->n_sent_bytes);
        bulk->n_names = 0;
        bulk->n_bytes = 0;
        append_header(out, BULK_FORGET, 0, 0);
}

/* Numbers that stand for another name by now were not sent. */
static void unlearn(Bulk *bulk, GString *out)
{
        const Strtab *names = tracker_budget(bulk->context.tracker)->names;
        uint64_t n = strtab_n_reuses(names);
        Str str;

        for (; bulk->n_reuses < n; bulk->n_reuses++) {
                if (!strtab_reuse(names, bulk->n_reuses, &str)) {
                        bulk->n_reuses = n;
                        forget(bulk, out);
                        return;
                }
                if (str / 8 < bulk->n_sent_bytes)
                        bulk->sent[str / 8] &= (uint8_t) ~(1u << str % 8);
        }
}

/* The name's number, after which the client knows it. */
static uint32_t give_name(Bulk *bulk, const Strtab *names, Str str)
{
        const char *text;
        BulkName name;

        if (!str || (str / 8 < bulk->n_sent_bytes && bulk->sent[str / 8] & 1u << str % 8))
                return str;
        if (str / 8 >= bulk->n_sent_bytes) {
                size_t n = MAX(str / 8 + 1, bulk->n_sent_bytes * 2);

                bulk->sent = g_realloc(bulk->sent, n);
                memset(bulk->sent + bulk->n_sent_bytes, 0, n - bulk->n_sent_bytes);
                bulk->n_sent_bytes = n;
        }
        bulk->sent[str / 8] |= (uint8_t)(1u << str % 8);
        text = strtab_text(names, str);
        name = (BulkName){str, (uint32_t)strlen(text)};
        g_byte_array_append(bulk->names, (const uint8_t *)&name, sizeof(name));
        g_byte_array_append(bulk->names, (const uint8_t *)text, name.n);
        bulk->n_names++;
        bulk->n_bytes += name.n;
        return str;
}

static uint32_t process_index(Bulk *bulk, const Process *process)
{
        guint i;

        if (bulk->processes->len && bulk->processes->pdata[bulk->processes->len - 1] == process)
                return bulk->processes->len - 1;
        if (g_ptr_array_find(bulk->processes, process, &i))
                return i;
        g_ptr_array_add(bulk->processes, (gpointer)process);
        return bulk->processes->len - 1;
}

/* The number of the stub's row, from 1; 0: it is none, or the client knows nothing of stubs. */
static uint32_t stub_index(Bulk *bulk, const Process *process, const Body *body)
{
        const StubTarget *target = codemap_stub_target(process->map, body);
        BulkStub row;

        if (!target || bulk->version < 2)
                return 0;
        row = (BulkStub){
                .name_space = give_name(bulk, process->names, target->name_space),
                .name = give_name(bulk, process->names, target->name),
                .signature = give_name(bulk, process->names, target->signature),
        };
        /* Neighbours are often of one body. */
        if (!bulk->stubs->len ||
            memcmp(&g_array_index(bulk->stubs, BulkStub, bulk->stubs->len - 1), &row, sizeof(row)))
                g_array_append_val(bulk->stubs, row);
        return bulk->stubs->len;
}

static void put_il(BulkAnswer *row, const Body *body, uint64_t offset)
{
        const IlMap *map = body_il_map(body);
        int32_t il;

        if (!map)
                return;
        row->flags |= BULK_ANSWER_IL_VERSION;
        row->il_version = ilmap_version(map);
        if (!ilmap_lookup(map, (uint32_t)offset, &il))
                return;
        row->il_kind = il == IL_OFFSET_NO_MAPPING ? IL_NO_MAPPING
                       : il == IL_OFFSET_PROLOG   ? IL_PROLOG
                       : il == IL_OFFSET_EPILOG   ? IL_EPILOG
                                                  : IL_EXACT;
        row->il_offset = row->il_kind == IL_EXACT ? il : 0;
}

static void put_body(Bulk *bulk, BulkAnswer *row, const Process *process, const Body *body,
                     uint64_t address)
{
        const Module *module = process_body_module(process, body);

        row->flags |= BULK_ANSWER_BODY;
        row->source = body->source;
        row->tier = body->flags & METHOD_FLAG_JITTED
                            ? (body->flags >> METHOD_TIER_SHIFT) & METHOD_TIER_MASK
                            : TIER_READY_TO_RUN;
        row->size = body->size;
        row->method_flags = body->flags;
        row->token = body->token;
        row->rejit_id = body->rejit_id;
        row->jit_us = (uint32_t)((uint64_t)body->jit_time * BODY_JIT_UNIT / 1000);
        row->name_space = give_name(bulk, process->names, body->name_space);
        row->name = give_name(bulk, process->names, body->name);
        row->signature = give_name(bulk, process->names, body->signature);
        row->stub_for = stub_index(bulk, process, body);
        row->start = body->start;
        row->method_id = body->method_id;
        row->loaded = body->source == BODY_SOURCE_LOAD ? body->since : 0;
        row->unloaded = body->until;
        if (module) {
                row->module_id = module->id;
                row->module_path = give_name(bulk, process->names, module->path);
        }
        put_il(row, body, address - body->start);
}

static BulkAnswer make_row(Bulk *bulk, const Question *question, const Answer *answer)
{
        const Body *body = answer->body ? answer->body : answer->nearest;
        BulkAnswer row = {
                .status = (uint8_t)answer->status,
                .confidence = (uint8_t)answer->confidence,
                .process = BULK_NO_PROCESS,
        };
        guint n = answer->bodies      ? answer->bodies->len
                  : answer->processes ? answer->processes->len
                                      : 0;

        row.n_candidates = (uint16_t)MIN(n, UINT16_MAX);
        if (answer->process)
                row.process = process_index(bulk, answer->process);
        if (body)
                put_body(bulk, &row, answer->process, body, question->address);
        if (answer->nearest) {
                row.flags |= BULK_ANSWER_NEAREST;
                row.distance = answer->distance;
        }
        return row;
}

static void append_processes(Bulk *bulk, GString *out)
{
        guint i;

        append_header(out, BULK_PROCESSES, bulk->processes->len * sizeof(BulkProcess), 0);
        for (i = 0; i < bulk->processes->len; i++) {
                const Process *process = bulk->processes->pdata[i];
                const BulkProcess row = {
                        .pid_ns = process->key.pid_ns,
                        .epoch = codemap_epoch(process->map),
                        .horizon = process_horizon(process),
                        .pid = process->key.pid,
                        .generation = process->generation,
                };

                g_string_append_len(out, (const char *)&row, sizeof(row));
        }
}

static Question question_of(const BulkQuery *query)
{
        return (Question){
                .pid = query->pid,
                .has_pid_ns = query->flags & BULK_QUERY_PID_NS,
                .pid_ns = query->flags & BULK_QUERY_PID_NS ? query->pid_ns : 0,
                .address = query->address,
                .has_time = query->flags & BULK_QUERY_TIME,
                .time = query->time,
        };
}

/* So many are answered and turned into rows together: what the one has read the other finds in the
 * processor's cache. */
enum { GROUP = 64 };

/* True if one of the answers could be another once more has come in. */
static bool answer_group(Bulk *bulk, const BulkQuery *queries, size_t n, BulkAnswer *rows)
{
        Question questions[GROUP];
        Answer answers[GROUP];
        bool is_late = false;
        size_t i;

        for (i = 0; i < n; i++)
                questions[i] = question_of(&queries[i]);
        answer_questions(bulk->context.tracker, &bulk->context.viewer, questions, n, answers);
        for (i = 0; i < n; i++) {
                is_late |= questions[i].has_time && questions[i].time > answers[i].horizon;
                if (rows)
                        rows[i] = make_row(bulk, &questions[i], &answers[i]);
                answer_clear(&answers[i]);
        }
        return is_late;
}

static bool is_late(Bulk *bulk, const BulkQuery *queries, size_t n)
{
        size_t i;

        for (i = 0; i < n; i += GROUP)
                if (answer_group(bulk, queries + i, MIN(GROUP, n - i), NULL))
                        return true;
        return false;
}

/* What rows refer to goes before them. False if their names are more than a client keeps. */
static bool append_answers(Bulk *bulk, const BulkQuery *queries, size_t n, uint32_t tag,
                           GString *out)
{
        g_autofree BulkAnswer *rows = g_new(BulkAnswer, n);
        size_t i;

        unlearn(bulk, out);
        if (bulk->n_names + 7 * n > BULK_MAX_NAMES || bulk->n_bytes > BULK_MAX_NAME_BYTES / 2)
                forget(bulk, out);
        g_byte_array_set_size(bulk->names, 0);
        g_ptr_array_set_size(bulk->processes, 0);
        g_array_set_size(bulk->stubs, 0);
        for (i = 0; i < n && bulk->n_bytes <= BULK_MAX_NAME_BYTES; i += GROUP)
                answer_group(bulk, queries + i, MIN(GROUP, n - i), rows + i);
        if (bulk->n_bytes > BULK_MAX_NAME_BYTES)
                return false;
        if (bulk->names->len) {
                append_header(out, BULK_NAMES, bulk->names->len, 0);
                g_string_append_len(out, (const char *)bulk->names->data, bulk->names->len);
        }
        append_processes(bulk, out);
        if (bulk->stubs->len) {
                append_header(out, BULK_STUBS, bulk->stubs->len * sizeof(BulkStub), 0);
                g_string_append_len(out, bulk->stubs->data,
                                    (gssize)(bulk->stubs->len * sizeof(BulkStub)));
        }
        append_header(out, BULK_ANSWERS, n * sizeof(BulkAnswer), tag);
        g_string_append_len(out, (const char *)rows, (gssize)(n * sizeof(BulkAnswer)));
        for (i = 0; bulk->context.stats && i < n; i++)
                bulk->context.stats->answers[rows[i].status]++;
        return true;
}

static ssize_t refuse(GString *out, const char *why)
{
        append_header(out, BULK_ERROR, strlen(why), 0);
        g_string_append(out, why);
        return -EBADMSG;
}

ssize_t bulk_run(Bulk *bulk, const uint8_t *bytes, size_t n_bytes, bool is_final,
                 unsigned *ret_wait_ms, GString *out)
{
        g_autofree BulkQuery *queries = NULL;
        BulkHeader header;
        size_t n;

        *ret_wait_ms = 0;
        if (n_bytes < sizeof(header))
                return 0;
        memcpy(&header, bytes, sizeof(header));
        if (header.type != BULK_QUERIES || header.reserved)
                return refuse(out, "a client sends frames of type 1, reserved 0");
        n = header.size / sizeof(BulkQuery);
        if (header.size % sizeof(BulkQuery) || n > BULK_MAX_QUERIES)
                return refuse(out, "the payload is up to 4096 queries of 32 bytes");
        if (n_bytes < sizeof(header) + header.size)
                return 0;
        queries = g_memdup2(bytes + sizeof(header), header.size); /* aligned */
        if (header.wait_ms && !is_final && is_late(bulk, queries, n)) {
                *ret_wait_ms = MIN(header.wait_ms, G_MAXINT32);
                return 0;
        }
        if (!append_answers(bulk, queries, n, header.tag, out))
                return refuse(out, "64 MiB of names in one batch: ask for less at once");
        return (ssize_t)(sizeof(header) + header.size);
}

/* A client may only have learned of the caps from here. */
void call_bulk(Call *call)
{
        int64_t version;

        call->wrong = "version";
        if (!param_integer(call->parameters, "version", 1, BULK_VERSION, &version))
                return;
        call->wrong = NULL;
        call->next = QUERY_BULK;
        call->progress->bulk_version = (unsigned)version;
        g_string_append_printf(call->out,
                               "{\"version\":%d,\"max_queries\":%d,\"max_names\":%d,"
                               "\"max_name_bytes\":%u}",
                               (int)version, BULK_MAX_QUERIES, BULK_MAX_NAMES, BULK_MAX_NAME_BYTES);
}
