/* SPDX-License-Identifier: MIT */
#include "cli/method-codes.h"

/* Bytes of a stub that are read. */
#define STUB_BYTES 32

typedef struct MethodKnown {
        uint64_t start, end;
        uint8_t *bytes; /* owned; NULL: not readable */
        size_t n_bytes;
        MethodSearch search; /* METHOD_FOUND: bytes are set */
        bool is_continued, is_stub;
} MethodKnown;

struct MethodCodes {
        clrsym *handle;
        const JitMemory *memory;
        int64_t clock_offset;  /* ns */
        GHashTable *processes; /* owned: pid -> owned GArray of MethodKnown, by start */
        uint64_t n_bytes;
};

static void method_known_clear(gpointer data)
{
        g_free(((MethodKnown *)data)->bytes);
}

static void methods_free(gpointer data)
{
        g_array_unref(data);
}

MethodCodes *method_codes_new(clrsym *handle, const JitMemory *memory, int64_t clock_offset)
{
        MethodCodes *codes = g_new0(MethodCodes, 1);

        codes->handle = handle;
        codes->memory = memory;
        codes->clock_offset = clock_offset;
        codes->processes = g_hash_table_new_full(NULL, NULL, NULL, methods_free);
        return codes;
}

void method_codes_free(MethodCodes *codes)
{
        if (!codes)
                return;
        g_hash_table_unref(codes->processes);
        g_free(codes);
}

static GArray *method_codes_of(MethodCodes *codes, pid_t pid)
{
        GArray *methods = g_hash_table_lookup(codes->processes, GINT_TO_POINTER(pid));

        if (!methods) {
                methods = g_array_new(FALSE, FALSE, sizeof(MethodKnown));
                g_array_set_clear_func(methods, method_known_clear);
                g_hash_table_insert(codes->processes, GINT_TO_POINTER(pid), methods);
        }
        return methods;
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

/*
 * The method, or stub, at the address at the time of PLACE. A method counts only if it was still
 * there when the recording ended. With .NET 11, the frame of a method that was replaced (OSR) has
 * the begin of the new method as its return address; the byte before it stands for the new method.
 */
static MethodKnown method_ask(const MethodCodes *codes, const MethodPlace *place)
{
        const ProcessKey key = jit_memory_key(codes->memory, place->pid);
        const clrsym_query last_query = {.pid = key.pid,
                                         .has_pid_ns = key.pid_ns != 0,
                                         .pid_ns = key.pid_ns,
                                         .address = place->address};
        clrsym_query queries[] = {last_query, last_query, last_query};
        MethodKnown method = {
                .start = place->address, .end = place->address + 1, .search = METHOD_UNKNOWN};
        const clrsym_body *body, *last, *next;
        clrsym_answer answers[G_N_ELEMENTS(queries)];

        queries[0].has_time = true;
        queries[0].time = place->time + (uint64_t)codes->clock_offset;
        queries[2].address++;
        if (clrsym_resolve(codes->handle, queries, G_N_ELEMENTS(queries), 0, answers) < 0)
                return method;
        body = &answers[0].body;
        last = &answers[1].body;
        next = &answers[2].body;
        if (answers[0].status != CLRSYM_OK && answers[2].status == CLRSYM_OK &&
            next->start == place->address + 1 && next->tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR) {
                method.search = METHOD_UNREAD;
                method.is_continued = true;
                return method;
        }
        method.is_stub = answers[0].status != CLRSYM_OK && answers[1].status != CLRSYM_OK;
        if (answers[0].status != CLRSYM_OK || answers[1].status != CLRSYM_OK ||
            body->tier == CLRSYM_TIER_READY_TO_RUN || !body->size || body->start != last->start ||
            body->method_id != last->method_id || body->rejit_id != last->rejit_id)
                return method;
        return (MethodKnown){.start = body->start,
                             .end = body->start + body->size,
                             .search = METHOD_UNREAD,
                             .is_continued = body->tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR};
}

static void method_read(MethodCodes *codes, const MethodPlace *place, MethodKnown *method)
{
        const size_t n = method->is_stub ? STUB_BYTES : (size_t)(method->end - method->start);
        uint8_t *bytes;

        if (method->start < place->begin || place->end - method->start < n ||
            codes->n_bytes + n > METHOD_CODES_MAX_BYTES)
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
        g_array_insert_val(methods, at, method);
        return &g_array_index(methods, MethodKnown, at);
}

static MethodSearch method_codes_find(void *data, const MethodPlace *place, MethodCode *ret_code,
                                      uint64_t *ret_start)
{
        MethodCodes *codes = data;
        GArray *methods = method_codes_of(codes, place->pid);
        const guint after = methods_after(methods, place->address);
        const MethodKnown *method = after ? &g_array_index(methods, MethodKnown, after - 1) : NULL;

        if (!jit_memory_has(codes->memory, place->pid))
                return METHOD_UNREAD;
        if (!method || place->address >= method->end) {
                if (methods->len == METHOD_CODES_MAX_METHODS)
                        return METHOD_UNREAD;
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
        return (MethodFinder){.find = method_codes_find, .data = codes};
}
