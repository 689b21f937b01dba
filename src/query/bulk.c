/* SPDX-License-Identifier: MIT */
#include "query/bulk.h"

#include "query/answer-row.h"
#include "query/call.h"

#include <errno.h>
#include <string.h>

/*
 * Answers are made in groups: the first step looks up all questions of a group, the second writes
 * their rows, and finds the data in the processor's cache. Each group also looks up its processes,
 * which takes system calls. After a slow question the group is smaller.
 */
enum { MAX_GROUP = 256, FIRST_GROUP = 16 };
/* Most names of a row: its own, a stub's, and one for each inlined method. */
enum { MAX_NAMES_A_ROW = 8 + BULK_MAX_INLINED };
/* Intended time of a group, in us. */
#define GROUP_US 500

struct Bulk {
        QueryContext context;
        unsigned version;
        uint8_t *sent; /* owned: a bit for each name in the string table: sent to the client */
        size_t n_sent_bytes;
        uint64_t n_reuses;       /* reuses of numbers that the client already knows */
        size_t n_names, n_bytes; /* kept by the client */
        GByteArray *names;       /* owned: names to send */
        int64_t turn_end;        /* us, like QueryContext's */
        /* The frame being answered. */
        bool is_begun;
        uint64_t asked;        /* ns: time of the first attempt; 0: a trace, or no attempt yet */
        size_t n_due;          /* queries from the start whose answers are final */
        QueryWait wait;        /* the condition of the next query */
        BulkAnswer *rows;      /* owned: its answers */
        size_t n_rows;         /* rows with an answer */
        unsigned n_restarts;   /* restarts because a reused number replaced the name of a row */
        GHashTable *ambiguous; /* owned: owned Question -> index of its row + 1 */
        size_t n_group;        /* queries answered together */
        GArray *serials;       /* owned: serial numbers of the processes, as in `processes` */
        GArray *processes;     /* owned, of BulkProcess: processes of the present answers */
        GArray *stubs;         /* owned, of BulkStub: stubs of the present answers */
        GArray *inlined;       /* owned, of BulkInlined: inlined methods of the present answers */
};

Bulk *bulk_new(const QueryContext *context, unsigned version)
{
        Bulk *bulk = g_new0(Bulk, 1);

        bulk->context = *context;
        bulk->version = version;
        bulk->names = g_byte_array_new();
        bulk->rows = g_new(BulkAnswer, BULK_MAX_QUERIES);
        bulk->ambiguous = g_hash_table_new_full(question_hash, question_equal, g_free, NULL);
        bulk->n_group = FIRST_GROUP;
        bulk->serials = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        bulk->processes = g_array_new(FALSE, FALSE, sizeof(BulkProcess));
        bulk->stubs = g_array_new(FALSE, FALSE, sizeof(BulkStub));
        bulk->inlined = g_array_new(FALSE, FALSE, sizeof(BulkInlined));
        bulk->n_reuses = strtab_n_reuses(tracker_budget(context->tracker)->names);
        return bulk;
}

void bulk_free(Bulk *bulk)
{
        if (!bulk)
                return;
        g_free(bulk->sent);
        g_hash_table_unref(bulk->ambiguous);
        g_byte_array_unref(bulk->names);
        g_free(bulk->rows);
        g_array_unref(bulk->serials);
        g_array_unref(bulk->processes);
        g_array_unref(bulk->stubs);
        g_array_unref(bulk->inlined);
        g_free(bulk);
}

size_t bulk_size(const Bulk *bulk)
{
        return bulk->n_sent_bytes + bulk->names->len + bulk->n_rows * sizeof(*bulk->rows) +
               g_hash_table_size(bulk->ambiguous) * (sizeof(Question) + 48);
}

const QueryWait *bulk_wait(const Bulk *bulk)
{
        return &bulk->wait;
}

static void frame_append_header(GString *out, BulkType type, size_t size, uint32_t tag)
{
        const BulkHeader header = {.size = (uint32_t)size, .type = (uint16_t)type, .tag = tag};

        g_string_append_len(out, (const char *)&header, sizeof(header));
}

static void bulk_forget(Bulk *bulk, GString *out)
{
        if (bulk->n_sent_bytes)
                memset(bulk->sent, 0, bulk->n_sent_bytes);
        bulk->n_names = 0;
        bulk->n_bytes = 0;
        frame_append_header(out, BULK_FORGET, 0, 0);
}

static bool bit_is_set(const uint8_t *bits, Str str)
{
        return bits[str / 8] & 1u << str % 8;
}

/* The string number in a member of type text. */
static Str bulk_name(const void *member)
{
        Str str;

        memcpy(&str, member, sizeof(str));
        return str;
}

#define MARK_NAME(name, type, null, member, api)                                                   \
        if (ANSWER_##type == ANSWER_TEXT)                                                          \
                bits[bulk_name(&row->member) / 8] |= (uint8_t)(1u << bulk_name(&row->member) % 8);
#define NOTHING(name, type, null)

/* Returns bits for all names in the present rows, as many bytes as `sent`. */
static uint8_t *bulk_names_of_rows(const Bulk *bulk)
{
        uint8_t *bits = g_malloc0(bulk->n_sent_bytes + 1);
        size_t i;

        for (i = 0; i < bulk->n_rows; i++) {
                const BulkAnswer *row = &bulk->rows[i];

                if (row->flags & BULK_ANSWER_BODY) {
                        ANSWER_ROW_FIELDS(MARK_NAME, NOTHING)
                }
        }
        for (i = 0; i < bulk->stubs->len; i++) {
                const BulkStub *row = &g_array_index(bulk->stubs, BulkStub, i);

                ANSWER_STUB_FIELDS(MARK_NAME)
        }
        for (i = 0; i < bulk->inlined->len; i++) {
                Str str = g_array_index(bulk->inlined, BulkInlined, i).method;

                bits[str / 8] |= (uint8_t)(1u << str % 8);
        }
        return bits;
}

/* Marks reused numbers as not sent. True if rows of the present frame use one of them, or may. */
static bool bulk_forget_reused(Bulk *bulk, GString *out)
{
        const Strtab *names = tracker_budget(bulk->context.tracker)->names;
        uint64_t n = strtab_n_reuses(names);
        g_autofree uint8_t *used =
                bulk->is_begun && bulk->n_reuses < n ? bulk_names_of_rows(bulk) : NULL;
        bool is_used = false;
        Str str;

        for (; bulk->n_reuses < n; bulk->n_reuses++) {
                if (!strtab_reuse(names, bulk->n_reuses, &str)) {
                        bulk->n_reuses = n;
                        bulk_forget(bulk, out);
                        return true;
                }
                if (str / 8 >= bulk->n_sent_bytes)
                        continue;
                is_used |= used && bit_is_set(used, str);
                bulk->sent[str / 8] &= (uint8_t) ~(1u << str % 8);
        }
        return is_used;
}

/* True if the client has the name, and for "no name". */
static inline bool bulk_has_sent(const Bulk *bulk, Str str)
{
        return !str || (str / 8 < bulk->n_sent_bytes && bit_is_set(bulk->sent, str));
}

/* Appends a name that the client does not have. */
static void bulk_add_name(Bulk *bulk, const Strtab *names, Str str)
{
        const char *text;
        BulkName name;

        if (str / 8 >= bulk->n_sent_bytes) {
                size_t n = MAX(str / 8 + 1, bulk->n_sent_bytes * 2);

                bulk->sent = g_realloc(bulk->sent, n);
                memset(bulk->sent + bulk->n_sent_bytes, 0, n - bulk->n_sent_bytes);
                bulk->n_sent_bytes = n;
        }
        bulk->sent[str / 8] |= (uint8_t)(1u << str % 8);
        text = strtab_text(names, str);
        name = (BulkName){str, (uint32_t)strtab_length(names, str)};
        g_byte_array_append(bulk->names, (const uint8_t *)&name, sizeof(name));
        g_byte_array_append(bulk->names, (const uint8_t *)text, name.n);
        bulk->n_names++;
        bulk->n_bytes += name.n;
}

/*
 * The index of the process's row. Epoch and horizon are those of the frame's first answer about the
 * process: later answers may have newer ones, so the client underestimates, but never
 * overestimates.
 */
static uint32_t bulk_process_index(Bulk *bulk, const Process *process)
{
        BulkProcess row;
        guint i;

        for (i = bulk->serials->len; i-- > 0;)
                if (g_array_index(bulk->serials, uint64_t, i) == process->serial)
                        return i;
        row = (BulkProcess){
                .pid_ns = process->key.pid_ns,
                .epoch = codemap_epoch(process->map),
                .horizon = process_horizon(process),
                .pid = process->key.pid,
                .generation = process->generation,
        };
        g_array_append_val(bulk->serials, process->serial);
        g_array_append_val(bulk->processes, row);
        return bulk->processes->len - 1;
}

/*
 * Adds the name of a text member if the client lacks it. The row has the name's number; all other
 * members are sent unchanged.
 */
#define GIVE_NAME(name, type, null, member, api)                                                   \
        if (ANSWER_##type == ANSWER_TEXT && !bulk_has_sent(bulk, bulk_name(&row->member)))         \
                bulk_add_name(bulk, process->names, bulk_name(&row->member));

/*
 * The index of the stub's row, from 1; 0: the body is not a stub, or the client does not accept
 * stubs.
 */
static uint32_t bulk_stub_index(Bulk *bulk, const Process *process, const Body *body)
{
        BulkStub stub, *row = &stub;

        if (bulk->version < 2 || !answer_row_stub(row, process, body))
                return 0;
        ANSWER_STUB_FIELDS(GIVE_NAME)
        /* Neighbours are often in one body. */
        if (!bulk->stubs->len ||
            memcmp(&g_array_index(bulk->stubs, BulkStub, bulk->stubs->len - 1), row, sizeof(*row)))
                g_array_append_val(bulk->stubs, stub);
        return bulk->stubs->len;
}

static void bulk_put_inlined(Bulk *bulk, BulkAnswer *row, const Process *process, const Body *body,
                             uint64_t address)
{
        InlinedMethod inlined[INLINING_MAX_DEPTH];
        uint32_t n = answer_row_inlined(inlined, process, body, address), i;

        if (!n || bulk->version < 4)
                return;
        row->n_inlined = n;
        row->inlined = bulk->inlined->len + 1;
        for (i = 0; i < n; i++) {
                const BulkInlined added = {inlined[i].method, inlined[i].il_offset};

                if (!bulk_has_sent(bulk, added.method))
                        bulk_add_name(bulk, process->names, added.method);
                g_array_append_val(bulk->inlined, added);
        }
}

static void bulk_put_body(Bulk *bulk, BulkAnswer *row, const Process *process, const Body *body,
                          uint64_t address)
{
        row->flags |= BULK_ANSWER_BODY;
        answer_row_fill(row, process, body, &address);
        row->stub_for = bulk_stub_index(bulk, process, body);
        bulk_put_inlined(bulk, row, process, body, address);
        ANSWER_ROW_FIELDS(GIVE_NAME, NOTHING)
}

/* ROW must be zeroed. */
static void bulk_put_answer(Bulk *bulk, BulkAnswer *row, const Question *question,
                            const Answer *answer)
{
        const Body *body = answer->body ? answer->body : answer->nearest;
        size_t n = answer->processes ? answer->processes->len : answer->n_bodies;

        row->status = (uint8_t)answer->status;
        row->confidence = (uint8_t)answer->confidence;
        row->n_candidates = (uint16_t)MIN(n, UINT16_MAX);
        row->process =
                answer->process ? bulk_process_index(bulk, answer->process) : BULK_NO_PROCESS;
        if (body)
                bulk_put_body(bulk, row, answer->process, body, question->address);
        if (answer->nearest) {
                row->flags |= BULK_ANSWER_NEAREST;
                row->distance = answer->distance;
        }
}

/*
 * Question I of a payload, which may be unaligned. Copies one question only, because a long frame
 * takes many turns.
 */
static Question bulk_question(const Bulk *bulk, const uint8_t *payload, size_t i)
{
        BulkQuery query;

        memcpy(&query, payload + i * sizeof(query), sizeof(query));
        return (Question){
                .pid = query.pid,
                .has_pid_ns = query.flags & BULK_QUERY_PID_NS,
                .pid_ns = query.flags & BULK_QUERY_PID_NS ? query.pid_ns : 0,
                .address = query.address,
                .has_time = query.flags & BULK_QUERY_TIME,
                .time = query.time,
                .asked = bulk->asked,
        };
}

/* Above this size, names are sent even in the middle of a frame. */
#define NAMES_AT_ONCE (1u << 20)
/* Maximum of restarts of a frame. */
#define MAX_RESTARTS 4

/*
 * The row of an equal, ambiguous question of this frame, because such an answer is slow; or NULL.
 */
static const BulkAnswer *bulk_find_ambiguous(const Bulk *bulk, const Question *question)
{
        gpointer index = g_hash_table_size(bulk->ambiguous)
                                 ? g_hash_table_lookup(bulk->ambiguous, question)
                                 : NULL;

        return index ? &bulk->rows[GPOINTER_TO_SIZE(index) - 1] : NULL;
}

static void bulk_add_row(Bulk *bulk, const Question *question, const Answer *answer)
{
        BulkAnswer *row = &bulk->rows[bulk->n_rows++];

        *row = (BulkAnswer){0};
        bulk_put_answer(bulk, row, question, answer);
        if (answer->status == ANSWER_AMBIGUOUS)
                g_hash_table_replace(bulk->ambiguous, g_memdup2(question, sizeof(*question)),
                                     GSIZE_TO_POINTER(bulk->n_rows));
}

/* Makes the rows of at most N queries; fewer if the turn ends, or if their names exceed a limit. */
static void bulk_answer_group(Bulk *bulk, const uint8_t *payload, size_t n)
{
        Question questions[MAX_GROUP];
        const BulkAnswer *known[MAX_GROUP];
        Answer answers[MAX_GROUP];
        size_t n_asked = 0, n_answered, k = 0, i;

        memset(questions, 0, n * sizeof(*questions));
        for (i = 0; i < n; i++) {
                questions[n_asked] = bulk_question(bulk, payload, bulk->n_rows + i);
                known[i] = bulk_find_ambiguous(bulk, &questions[n_asked]);
                n_asked += !known[i];
        }
        n_answered = answer_questions(bulk->context.tracker, &bulk->context.viewer, questions,
                                      n_asked, bulk->turn_end, answers);
        for (i = 0; i < n; i++) {
                if (i && bulk->names->len >= NAMES_AT_ONCE)
                        break;
                if (known[i]) {
                        bulk->rows[bulk->n_rows++] = *known[i];
                        continue;
                }
                if (k == n_answered)
                        break;
                bulk_add_row(bulk, &questions[k], &answers[k]);
                k++;
        }
        for (i = 0; i < n_answered; i++)
                answer_clear(&answers[i]);
}

/* 1 if later events may change the answer to a query, 0 if not, -EAGAIN if the turn is over. */
static int bulk_is_late(Bulk *bulk, const uint8_t *payload, size_t n)
{
        for (; bulk->n_due < n; bulk->n_due++) {
                const Question question = bulk_question(bulk, payload, bulk->n_due);
                Answer answer;
                uint64_t time;

                answer_question(bulk->context.tracker, &bulk->context.viewer, &question, &answer);
                time = answer_wait_time(&question, &answer);
                if (time)
                        bulk->wait = query_wait_begin(bulk->context.tracker, answer.process, time);
                answer_clear(&answer);
                if (time)
                        return 1;
                if (bulk->turn_end && g_get_monotonic_time() >= bulk->turn_end) {
                        bulk->n_due++;
                        return -EAGAIN;
                }
        }
        return 0;
}

static void bulk_send_names(Bulk *bulk, GString *out)
{
        if (!bulk->names->len)
                return;
        frame_append_header(out, BULK_NAMES, bulk->names->len, 0);
        g_string_append_len(out, (const char *)bulk->names->data, bulk->names->len);
        g_byte_array_set_size(bulk->names, 0);
}

static void bulk_begin_rows(Bulk *bulk)
{
        bulk->is_begun = true;
        bulk->n_rows = 0;
        g_hash_table_remove_all(bulk->ambiguous);
        g_byte_array_set_size(bulk->names, 0);
        g_array_set_size(bulk->serials, 0);
        g_array_set_size(bulk->processes, 0);
        g_array_set_size(bulk->stubs, 0);
        g_array_set_size(bulk->inlined, 0);
}

/*
 * If the client may lack room for the names of the next N rows, makes it drop all names. Finished
 * rows lose their names, too, so the frame restarts, with enough room.
 */
static void bulk_make_room(Bulk *bulk, size_t n, GString *out)
{
        static_assert(MAX_NAMES_A_ROW * BULK_MAX_QUERIES <= BULK_MAX_NAMES, "room for a frame");

        if (bulk->n_names + MAX_NAMES_A_ROW * n <= BULK_MAX_NAMES)
                return;
        bulk_forget(bulk, out);
        bulk_begin_rows(bulk);
}

/*
 * Begins or continues a frame. If the number of a row's name was reused since the last turn, the
 * row names the wrong text: the frame restarts.
 */
static void bulk_begin(Bulk *bulk, GString *out)
{
        bool is_reused = bulk_forget_reused(bulk, out);

        if (bulk->is_begun && !is_reused)
                return;
        if (bulk->is_begun)
                bulk->n_restarts++;
        else if (bulk->n_bytes > BULK_MAX_NAME_BYTES / 2)
                bulk_forget(bulk, out);
        bulk_begin_rows(bulk);
}

/*
 * True if the frame continues in another turn: the turn's time is over, or enough output is queued.
 */
static bool bulk_is_turn_over(const Bulk *bulk, const GString *out)
{
        return bulk->turn_end &&
               (out->len > QUERY_MAX_OUTPUT || g_get_monotonic_time() >= bulk->turn_end);
}

static void bulk_end(Bulk *bulk)
{
        bulk->is_begun = false;
        bulk->asked = 0;
        bulk->n_due = 0;
        bulk->n_rows = 0;
        bulk->n_restarts = 0;
}

/* Appends rows in the format of versions 1 and 2. */
static void bulk_append_short_rows(GString *out, const BulkAnswer *rows, size_t n)
{
        size_t begin = out->len, i;

        g_string_set_size(out, begin + n * BULK_ANSWER_MIN);
        for (i = 0; i < n; i++)
                memcpy(out->str + begin + i * BULK_ANSWER_MIN, &rows[i], BULK_ANSWER_MIN);
}

/* Appends the answers after the rows that they refer to. */
static void bulk_append_answers(Bulk *bulk, uint32_t tag, GString *out)
{
        size_t answer_size = bulk_answer_size(bulk->version), n = bulk->n_rows, i;
        const BulkAnswer *rows = bulk->rows;

        frame_append_header(out, BULK_PROCESSES, bulk->processes->len * sizeof(BulkProcess), 0);
        g_string_append_len(out, bulk->processes->data,
                            (gssize)(bulk->processes->len * sizeof(BulkProcess)));
        if (bulk->stubs->len) {
                frame_append_header(out, BULK_STUBS, bulk->stubs->len * sizeof(BulkStub), 0);
                g_string_append_len(out, bulk->stubs->data,
                                    (gssize)(bulk->stubs->len * sizeof(BulkStub)));
        }
        if (bulk->inlined->len) {
                frame_append_header(out, BULK_INLINED, bulk->inlined->len * sizeof(BulkInlined), 0);
                g_string_append_len(out, bulk->inlined->data,
                                    (gssize)(bulk->inlined->len * sizeof(BulkInlined)));
        }
        for (i = 0; bulk->context.stats && i < n; i++)
                bulk->context.stats->answers[rows[i].status]++;
        frame_append_header(out, BULK_ANSWERS, n * answer_size, tag);
        if (answer_size == sizeof(*rows))
                g_string_append_len(out, (const char *)rows, (gssize)(n * sizeof(*rows)));
        else
                bulk_append_short_rows(out, rows, n);
}

/*
 * Returns 0; -EAGAIN: the turn is over; -ENOBUFS: the client cannot keep all names; -ESTALE: too
 * many restarts because of reused numbers.
 */
static int bulk_answer_frame(Bulk *bulk, const uint8_t *payload, size_t n, uint32_t tag,
                             GString *out)
{
        bulk_begin(bulk, out);
        if (bulk->n_restarts > MAX_RESTARTS)
                return -ESTALE;
        while (bulk->n_rows < n) {
                gint64 begin = g_get_monotonic_time();

                bulk_make_room(bulk, MIN(bulk->n_group, n - bulk->n_rows), out);
                bulk_answer_group(bulk, payload, MIN(bulk->n_group, n - bulk->n_rows));
                bulk->n_group = g_get_monotonic_time() - begin > GROUP_US
                                        ? MAX(bulk->n_group / 2, 1)
                                        : MIN(bulk->n_group * 2, MAX_GROUP);
                if (bulk->n_bytes > BULK_MAX_NAME_BYTES)
                        return -ENOBUFS;
                if (bulk->names->len >= NAMES_AT_ONCE)
                        bulk_send_names(bulk, out);
                if (bulk->n_rows < n && bulk_is_turn_over(bulk, out)) {
                        bulk_send_names(bulk, out);
                        return -EAGAIN;
                }
        }
        bulk_send_names(bulk, out);
        bulk_append_answers(bulk, tag, out);
        bulk_end(bulk);
        return 0;
}

void bulk_set_turn(Bulk *bulk, int64_t turn_end)
{
        bulk->turn_end = turn_end;
}

static ssize_t bulk_refuse(GString *out, const char *why)
{
        frame_append_header(out, BULK_ERROR, strlen(why), 0);
        g_string_append(out, why);
        return -EBADMSG;
}

ssize_t bulk_run(Bulk *bulk, const uint8_t *bytes, size_t n_bytes, bool is_final,
                 unsigned *ret_wait_ms, GString *out)
{
        BulkHeader header;
        size_t n;
        int r;

        *ret_wait_ms = 0;
        if (n_bytes < sizeof(header))
                return 0;
        memcpy(&header, bytes, sizeof(header));
        if (header.type != BULK_QUERIES || header.reserved)
                return bulk_refuse(out, "a client sends frames of type 1, reserved 0");
        n = header.size / sizeof(BulkQuery);
        if (header.size % sizeof(BulkQuery) || n > BULK_MAX_QUERIES)
                return bulk_refuse(out, "the payload is up to 4096 queries of 32 bytes");
        if (n_bytes < sizeof(header) + header.size)
                return 0;
        bytes += sizeof(header);
        if (!bulk->asked)
                bulk->asked = query_now(&bulk->context);
        r = header.wait_ms && !is_final && !bulk->is_begun ? bulk_is_late(bulk, bytes, n) : 0;
        if (r > 0)
                *ret_wait_ms = MIN(header.wait_ms, QUERY_MAX_WAIT_MS);
        if (r)
                return MIN(r, 0);
        r = bulk_answer_frame(bulk, bytes, n, header.tag, out);
        if (r == -ENOBUFS)
                return bulk_refuse(out, "64 MiB of names in one batch: ask for less at once");
        if (r == -ESTALE)
                return bulk_refuse(out, "names change faster than they are read: ask for less at "
                                        "once");
        if (r < 0)
                return r;
        return (ssize_t)(sizeof(header) + header.size);
}

/* The reply contains all limits that a client needs. */
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
                               "\"max_name_bytes\":%u",
                               (int)version, BULK_MAX_QUERIES, BULK_MAX_NAMES, BULK_MAX_NAME_BYTES);
        if (version >= 3)
                g_string_append_printf(call->out, ",\"answer_size\":%u",
                                       bulk_answer_size((unsigned)version));
        g_string_append_c(call->out, '}');
}
