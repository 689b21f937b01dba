/* SPDX-License-Identifier: MIT */
#include "cli/method-codes.h"

#include "util/clock.h"

#include <time.h>

/* Bytes of a stub that are read. */
#define STUB_BYTES 32
/* us for the events of all processes that still run. */
#define MAX_WAIT (2 * G_TIME_SPAN_SECOND)

typedef struct MethodKnown {
        uint64_t start, end;
        uint8_t *bytes; /* owned; NULL: not readable */
        size_t n_bytes;
        MethodSearch search; /* METHOD_FOUND: bytes are set */
        bool is_continued, is_stub;
} MethodKnown;

typedef struct ProcessMethods {
        GArray *known;    /* owned, of MethodKnown, by start */
        bool has_runtime; /* the daemon knows the process */
        bool is_kept;     /* its memory was looked for */
} ProcessMethods;

struct MethodCodes {
        clrsym *handle;
        const JitMemory *memory;
        JitMemory *found;      /* owned: MEMORY, if it gets processes on demand; else NULL */
        gint64 wait;           /* us that are left of MAX_WAIT */
        int64_t clock_offset;  /* ns */
        GHashTable *processes; /* owned: pid -> owned ProcessMethods */
        uint64_t n_bytes;
};

static void method_known_clear(gpointer data)
{
        g_free(((MethodKnown *)data)->bytes);
}

static void process_methods_free(gpointer data)
{
        ProcessMethods *process = data;

        g_array_unref(process->known);
        g_free(process);
}

MethodCodes *method_codes_new(clrsym *handle, const JitMemory *memory, int64_t clock_offset)
{
        MethodCodes *codes = g_new0(MethodCodes, 1);

        codes->handle = handle;
        codes->memory = memory;
        codes->clock_offset = clock_offset;
        codes->processes = g_hash_table_new_full(NULL, NULL, NULL, process_methods_free);
        return codes;
}

MethodCodes *method_codes_new_of_running(clrsym *handle, int64_t clock_offset)
{
        JitMemory *memory = jit_memory_new();
        MethodCodes *codes = method_codes_new(handle, memory, clock_offset);

        codes->found = memory;
        codes->wait = MAX_WAIT;
        return codes;
}

void method_codes_free(MethodCodes *codes)
{
        if (!codes)
                return;
        g_hash_table_unref(codes->processes);
        jit_memory_free(codes->found);
        g_free(codes);
}

/* The index of the first method that begins beyond ADDRESS. */
static guint methods_after(const GArray *methods, uint64_t address)
{
        guint low = 0, high = methods->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(methods, MethodKnown, middle).start <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* A query at TIME of perf's clock; 0: the last time. */
static clrsym_query method_codes_query(const MethodCodes *codes, const MethodPlace *place,
                                       uint64_t time)
{
        const ProcessKey key = jit_memory_key(codes->memory, place->pid);

        return (clrsym_query){.pid = key.pid,
                              .has_pid_ns = key.pid_ns != 0,
                              .pid_ns = key.pid_ns,
                              .address = place->address,
                              .has_time = time != 0,
                              .time = time ? time + (uint64_t)codes->clock_offset : 0};
}

static bool method_codes_knows(const MethodCodes *codes, const MethodPlace *place)
{
        const clrsym_query query = method_codes_query(codes, place, place->time);
        clrsym_answer answer;

        return clrsym_resolve(codes->handle, &query, 1, 0, &answer) == 0 &&
               answer.status != CLRSYM_NO_PROCESS;
}

/* PLACE: of any address. */
static ProcessMethods *method_codes_of(MethodCodes *codes, const MethodPlace *place)
{
        ProcessMethods *process =
                g_hash_table_lookup(codes->processes, GINT_TO_POINTER(place->pid));

        if (!process) {
                process = g_new0(ProcessMethods, 1);
                process->known = g_array_new(FALSE, FALSE, sizeof(MethodKnown));
                g_array_set_clear_func(process->known, method_known_clear);
                process->has_runtime = !codes->found || method_codes_knows(codes, place);
                process->is_kept = !codes->found;
                g_hash_table_insert(codes->processes, GINT_TO_POINTER(place->pid), process);
        }
        return process;
}

/* Keeps the code of the process that was recorded at PLACE. Waits for events of methods that were
 * replaced before. */
static void method_codes_keep(MethodCodes *codes, ProcessMethods *process, const MethodPlace *place)
{
        gint64 begin = g_get_monotonic_time();
        clrsym_query query;
        clrsym_answer answer;

        jit_memory_keep_recorded(codes->found, place->pid, place->address, place->time);
        query = method_codes_query(codes, place, place->time);
        query.time = (uint64_t)clock_ns(CLOCK_MONOTONIC);
        clrsym_resolve(codes->handle, &query, 1, (unsigned)(codes->wait / 1000), &answer);
        codes->wait = MAX(codes->wait - (g_get_monotonic_time() - begin), 0);
        process->is_kept = true;
}

static bool method_is_same(const clrsym_answer *one, const clrsym_answer *other)
{
        const clrsym_body *a = &one->body, *b = &other->body;

        return one->status == CLRSYM_OK && other->status == CLRSYM_OK && a->start == b->start &&
               a->method_id == b->method_id && a->rejit_id == b->rejit_id;
}

/* The last two only if the code was copied. */
enum { AT_SAMPLE, AT_LAST, BEHIND, AT_COPY, AFTER_COPY, N_QUERIES };

/*
 * True if the code of the method at the sample's time is in the kept memory: it was there when the
 * recording ended; and, in a copy, when the copy began. A method of a copy may also have gone after
 * it. After the end of the process, all methods are UNLOADED.
 */
static bool method_is_kept(const clrsym_answer *answers, bool is_copy)
{
        const clrsym_answer *sample = &answers[AT_SAMPLE], *copy = &answers[AT_COPY];
        const bool is_last = method_is_same(sample, &answers[AT_LAST]);

        if (!is_copy)
                return is_last;
        if (method_is_same(sample, copy))
                return is_last || method_is_same(sample, &answers[AFTER_COPY]);
        return is_last && copy->status == CLRSYM_UNLOADED;
}

/*
 * The method, or stub, at the address at the time of PLACE. With .NET 11, the frame of a method
 * that was replaced (OSR) has the begin of the new method as its return address; the byte before it
 * stands for the new method.
 */
static MethodKnown method_ask(const MethodCodes *codes, const MethodPlace *place)
{
        const JitMemorySpan span = jit_memory_span(codes->memory, place->pid);
        clrsym_query queries[] = {
                [AT_SAMPLE] = method_codes_query(codes, place, place->time),
                [AT_LAST] = method_codes_query(codes, place, /* time= */ 0),
                [BEHIND] = method_codes_query(codes, place, /* time= */ 0),
                [AT_COPY] = method_codes_query(codes, place, span.begin),
                [AFTER_COPY] = method_codes_query(codes, place, span.end),
        };
        const bool is_copy = span.end != 0;
        MethodKnown method = {
                .start = place->address, .end = place->address + 1, .search = METHOD_UNKNOWN};
        clrsym_answer answers[N_QUERIES];
        const clrsym_body *body = &answers[AT_SAMPLE].body, *next = &answers[BEHIND].body;
        bool is_method;

        queries[BEHIND].address++;
        if (clrsym_resolve(codes->handle, queries, is_copy ? N_QUERIES : AT_COPY, 0, answers) < 0)
                return method;
        is_method = answers[AT_SAMPLE].status == CLRSYM_OK;
        if (!is_method && answers[BEHIND].status == CLRSYM_OK &&
            next->start == place->address + 1 && next->tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR) {
                method.search = METHOD_UNREAD;
                method.is_continued = true;
                return method;
        }
        /* A later stub is not in a copy. */
        method.is_stub = !is_method && answers[AT_LAST].status != CLRSYM_OK &&
                         (!is_copy || place->time <= span.begin);
        if (!is_method || body->tier == CLRSYM_TIER_READY_TO_RUN || !body->size ||
            !method_is_kept(answers, is_copy))
                return method;
        return (MethodKnown){.start = body->start,
                             .end = body->start + body->size,
                             .search = METHOD_UNREAD,
                             .is_continued = body->tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR};
}

/* Leaves METHOD if its code cannot be read. */
static void method_read(MethodCodes *codes, const MethodPlace *place, MethodKnown *method)
{
        const size_t n = method->is_stub ? STUB_BYTES : (size_t)(method->end - method->start);
        /* Anonymous memory has its addresses as offsets, and can consist of several mappings. */
        const bool is_anonymous = place->offset == place->begin;
        uint8_t *bytes;

        if (codes->n_bytes + n > METHOD_CODES_MAX_BYTES ||
            (!is_anonymous && (method->start < place->begin || place->end - method->start < n)))
                return;
        bytes = g_malloc(n);
        if (!jit_memory_read(codes->memory, place->pid,
                             place->offset + (method->start - place->begin), bytes, n)) {
                g_free(bytes);
                return;
        }
        codes->n_bytes += n;
        method->bytes = bytes;
        method->n_bytes = n;
        method->search = METHOD_FOUND;
}

/* An address without a method is remembered as a method of one byte. */
static const MethodKnown *method_codes_add(MethodCodes *codes, GArray *methods, guint at,
                                           const MethodPlace *place)
{
        MethodKnown method = method_ask(codes, place);

        if (method.is_stub || method.search == METHOD_UNREAD)
                method_read(codes, place, &method);
        if (method.search == METHOD_UNREAD && !method.is_continued)
                method.search = METHOD_UNKNOWN;
        g_array_insert_val(methods, at, method);
        return &g_array_index(methods, MethodKnown, at);
}

static bool method_codes_has(void *data, pid_t pid, uint64_t time)
{
        return method_codes_of(data, &(MethodPlace){.pid = pid, .time = time})->has_runtime;
}

static MethodSearch method_codes_find(void *data, const MethodPlace *place, MethodCode *ret_code,
                                      uint64_t *ret_start)
{
        MethodCodes *codes = data;
        ProcessMethods *process = method_codes_of(codes, place);
        GArray *methods = process->known;
        const guint after = methods_after(methods, place->address);
        const MethodKnown *method = after ? &g_array_index(methods, MethodKnown, after - 1) : NULL;

        if (!process->has_runtime)
                return METHOD_FOREIGN;
        if (!process->is_kept)
                method_codes_keep(codes, process, place);
        if (!jit_memory_has(codes->memory, place->pid))
                return jit_memory_is_lost(codes->memory, place->pid) ? METHOD_UNREAD
                                                                     : METHOD_FOREIGN;
        if (!method || place->address >= method->end) {
                if (methods->len == METHOD_CODES_MAX_METHODS)
                        return METHOD_UNKNOWN;
                method = method_codes_add(codes, methods, after, place);
        }
        *ret_code = (MethodCode){.bytes = method->bytes,
                                 .n = method->n_bytes,
                                 .is_continued = method->is_continued,
                                 .is_stub = method->is_stub};
        *ret_start = method->start;
        return method->search;
}

MethodFinder method_codes_finder(MethodCodes *codes)
{
        return (MethodFinder){.has = codes->found ? method_codes_has : NULL,
                              .find = method_codes_find,
                              .data = codes};
}
