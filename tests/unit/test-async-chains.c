/* SPDX-License-Identifier: MIT */

/*
 * Which chain of async methods a thread continues: from the buffers of the runtime, through a
 * worker's log, to the answers
 */

#include "event/async-events.h"
#include "record/async-chains.h"
#include "support/log-place.h"
#include "support/suite.h"

#include <string.h>

#define PID   77
#define AHEAD 1000 /* ns of the target's clock */

enum { MAX_STEP_FRAMES = 3, NOTHING = 0 };

/* A sub-event, or an action between buffers. */
typedef struct Step {
        unsigned id; /* AsyncEventId; 0: see KIND */
        AsyncLogKind kind;
        int32_t tid;
        uint64_t time; /* ns of our clock */
        unsigned index;
        uint64_t frames[MAX_STEP_FRAMES]; /* the innermost first; 0 ends the list */
        uint64_t context;                 /* its id */
} Step;

#define EVENT(id) ASYNC_##id, ASYNC_LOG_BUFFER
#define GAP       0, ASYNC_LOG_GAP
#define END       0, ASYNC_LOG_END

static const Step STEPS[] = {
        {EVENT(RESUME_STACK), 1, 100, 5, {0x1000, 0x2000, 0x3000}, 1},
        {EVENT(SUSPEND), 1, 200, 0, {0}, 1},
        /* A chain is continued inside another chain. */
        {EVENT(RESUME_STACK), 1, 300, 0, {0x1000}, 1},
        {EVENT(RESUME_STACK), 1, 310, 1, {0x4000, 0x500}, 1},
        {EVENT(COMPLETE), 1, 320, 0, {0}, 1},
        {EVENT(COMPLETE), 1, 330, 0, {0}, 1},
        {EVENT(COMPLETE), 1, 340, 0, {0}, 1}, /* a completion without a chain */
        /* State machines: the names of the awaiting methods become known later. */
        {EVENT(MACHINE_RESUME_STACK), 2, 100, 0, {0x7000}, 1},
        {EVENT(MACHINE_COMPLETE_METHOD), 2, 150, 0, {0}, 1},
        {EVENT(MACHINE_APPEND_STACK), 2, 160, 0, {0x8000, 0x9000}, 1},
        {EVENT(MACHINE_UNWIND), 2, 170, 0, {0}, 1},
        {EVENT(MACHINE_COMPLETE), 2, 180, 0, {0}, 1},
        {EVENT(MACHINE_RESUME_STACK), 2, 190, 0, {0x7000, 0x8000, 0x9000}, 1},
        {EVENT(RESET_THREAD), 2, 195, 0, {0}, 1},
        /* A resumption has the methods that began to await after the suspension, or just before;
         * not those of another context, nor of one that is suspended elsewhere. */
        {EVENT(MACHINE_RESUME_STACK), 5, 100, 0, {0x7000}, 8},
        {EVENT(MACHINE_RESUME_STACK), 5, 110, 0, {0x7000}, 9},
        {EVENT(MACHINE_COMPLETE), 5, 120, 0, {0}, 0},
        {EVENT(MACHINE_SUSPEND), 5, 130, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 6, 140, 0, {0x7000, 0x8000}, 8},
        {EVENT(MACHINE_COMPLETE), 6, 150, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 5, 300, 0, {0x7000, 0x8000}, 11},
        {EVENT(MACHINE_COMPLETE_METHOD), 5, 310, 0, {0}, 0},
        {EVENT(MACHINE_SUSPEND), 5, 320, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 5, 330, 0, {0x8000, 0x9000}, 11},
        {EVENT(MACHINE_COMPLETE), 5, 340, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 5, 400, 0, {0x7000}, 12},
        {EVENT(MACHINE_SUSPEND), 5, 410, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 5, 420, 0, {0x8000, 0x9000}, 12},
        {EVENT(MACHINE_COMPLETE), 5, 430, 0, {0}, 0},
        /* The buffer of the resumption comes first. */
        {EVENT(MACHINE_RESUME_STACK), 6, 540, 0, {0x7000, 0x9000}, 10},
        {EVENT(MACHINE_COMPLETE), 6, 550, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 5, 500, 0, {0x7000}, 10},
        {EVENT(MACHINE_SUSPEND), 5, 530, 0, {0}, 0},
        /* Nothing awaited the method when it was resumed, nor at its second resumption. */
        {EVENT(MACHINE_RESUME_STACK), 5, 600, 0, {0x7000}, 20},
        {EVENT(MACHINE_SUSPEND), 5, 610, 0, {0}, 0},
        {EVENT(MACHINE_RESUME_STACK), 6, 620, 0, {0x7000}, 20},
        {EVENT(MACHINE_APPEND_STACK), 6, 625, 0, {0x8000}, 20},
        {EVENT(MACHINE_SUSPEND), 6, 630, 0, {0}, 0},
        /* Lost buffers: the state of the thread is unknown until its next event. */
        {EVENT(RESUME_STACK), 3, 100, 0, {0x1000}, 1},
        {GAP, 0, 0, 0, {0}, 0},
        {EVENT(RESUME_STACK), 3, 500, 0, {0x2000}, 1},
        {END, 0, 0, 0, {0}, 0},
};

static const struct {
        int32_t pid, tid;
        uint64_t time;
        unsigned index, n_done;
        uint64_t frames[MAX_STEP_FRAMES]; /* NOTHING: no chain */
        bool is_after_end;                /* known only after the session was stopped */
} QUESTIONS[] = {
        {PID, 1, 99, 0, 0, {NOTHING}, false},
        {PID, 1, 100, 5, 0, {0x1000, 0x2000, 0x3000}, false},
        {PID, 1, 199, 5, 0, {0x1000, 0x2000, 0x3000}, false},
        {PID, 1, 200, 0, 0, {NOTHING}, false},
        {PID, 1, 305, 0, 0, {0x1000}, false},
        {PID, 1, 315, 1, 0, {0x4000, 0x500}, false},
        {PID, 1, 325, 0, 0, {0x1000}, false},
        {PID, 1, 335, 0, 0, {NOTHING}, false},
        {PID, 1, 1000, 0, 0, {NOTHING}, false},
        {PID, 2, 120, 0, 0, {0x7000, 0x8000, 0x9000}, false},
        {PID, 2, 155, 0, 1, {0x7000, 0x8000, 0x9000}, false},
        {PID, 2, 165, 0, 1, {0x7000, 0x8000, 0x9000}, false},
        {PID, 2, 175, 0, 2, {0x7000, 0x8000, 0x9000}, false},
        {PID, 2, 185, 0, 0, {NOTHING}, false},
        {PID, 2, 191, 0, 0, {0x7000, 0x8000, 0x9000}, false},
        {PID, 2, 195, 0, 0, {NOTHING}, false},
        {PID, 5, 105, 0, 0, {0x7000, 0x8000}, false},
        {PID, 5, 115, 0, 0, {0x7000}, false},
        {PID, 5, 125, 0, 0, {0x7000, 0x8000}, false},
        {PID, 5, 131, 0, 0, {NOTHING}, false},
        {PID, 6, 145, 0, 0, {0x7000, 0x8000}, false},
        {PID, 5, 305, 0, 0, {0x7000, 0x8000, 0x9000}, false},
        {PID, 5, 315, 0, 1, {0x7000, 0x8000, 0x9000}, false},
        {PID, 5, 405, 0, 0, {0x7000}, false},
        {PID, 5, 510, 0, 0, {0x7000, 0x9000}, false},
        {PID, 5, 605, 0, 0, {0x7000, 0x8000}, false},
        {PID, 6, 621, 0, 0, {0x7000, 0x8000}, false},
        {PID, 3, 300, 0, 0, {NOTHING}, false},
        {PID, 3, 501, 0, 0, {0x2000}, true},
        {PID, 4, 150, 0, 0, {NOTHING}, false},
        {PID + 1, 1, 150, 0, 0, {NOTHING}, false},
};

static void put(GByteArray *bytes, uint64_t value, unsigned n)
{
        for (; n > 0; n--, value >>= 8) {
                const uint8_t byte = (uint8_t)value;

                g_byte_array_append(bytes, &byte, 1);
        }
}

static void put_var(GByteArray *bytes, uint64_t value)
{
        for (; value > 0x7f; value >>= 7)
                put(bytes, value | 0x80, 1);
        put(bytes, value, 1);
}

static void put_signed(GByteArray *bytes, int64_t value)
{
        put_var(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_stack(GByteArray *bytes, const Step *step)
{
        const bool has_states =
                step->id == ASYNC_MACHINE_RESUME_STACK || step->id == ASYNC_MACHINE_APPEND_STACK;
        g_autoptr(GByteArray) stack = g_byte_array_new();
        unsigned n = 0, i;

        while (n < MAX_STEP_FRAMES && step->frames[n])
                n++;
        put(stack, 0, 1);
        put(stack, step->index, 1);
        put(stack, n, 1);
        put_var(stack, step->context);
        for (i = 0; i < n; i++) {
                if (i)
                        put_signed(stack, (int64_t)(step->frames[i] - step->frames[i - 1]));
                else
                        put_var(stack, step->frames[0]);
                if (has_states)
                        put_signed(stack, -1);
        }
        put(bytes, stack->len, 2);
        g_byte_array_append(bytes, stack->data, stack->len);
}

/* Returns a buffer with one sub-event. */
static GByteArray *buffer_of(const Step *step)
{
        GByteArray *bytes = g_byte_array_new();

        put(bytes, 1, 1);
        put(bytes, 0, 4); /* size of the buffer; set below */
        put(bytes, 0, 4);
        put(bytes, (uint64_t)step->tid, 8);
        put(bytes, 1, 4);
        put(bytes, step->time + AHEAD - 7, 8);
        put(bytes, step->time + AHEAD, 8);
        put(bytes, step->id, 1);
        put_var(bytes, 7);
        if (step->frames[0])
                put_stack(bytes, step);
        else if (step->id == ASYNC_MACHINE_UNWIND)
                put(bytes, 1 | 1 << 8, 2); /* one byte: one frame */
        bytes->data[1] = (uint8_t)bytes->len;
        return bytes;
}

static AsyncChains *chains_of(LogPlace *place, size_t n_steps)
{
        AsyncLog *log = async_log_open(place->path, place->threads, AHEAD);
        AsyncChains *chains;
        size_t i;

        ck_assert_ptr_nonnull(log);
        for (i = 0; i < n_steps; i++) {
                g_autoptr(GByteArray) bytes = buffer_of(&STEPS[i]);
                const bool is_buffer = STEPS[i].kind == ASYNC_LOG_BUFFER;

                async_log_add(log, STEPS[i].kind, bytes->data, is_buffer ? bytes->len : 0);
        }
        async_log_close(log);
        chains = async_chains_new(place->logs);
        ck_assert_ptr_nonnull(chains);
        async_chains_update(chains);
        return chains;
}

static LogPlace place_new(void)
{
        LogPlace place = log_place_new(ASYNC_LOG_DIRECTORY);

        ck_assert_ptr_null(async_log_open(place.path, place.threads, 0)); /* no reader */
        ck_assert_ptr_null(async_chains_new(place.logs));
        async_log_add(NULL, ASYNC_LOG_GAP, NULL, 0);
        async_log_close(NULL);
        async_chains_free(NULL);
        g_mkdir(place.logs, 0700);
        return place;
}

static void check_answer(const AsyncChains *chains, size_t i, bool is_known)
{
        const uint64_t *frames = QUESTIONS[i].frames;
        const AsyncChain *chain;
        AsyncPlace place;
        unsigned n = 0;

        if (!async_chains_find(chains, QUESTIONS[i].pid, QUESTIONS[i].tid, QUESTIONS[i].time,
                               &place)) {
                ck_assert(frames[0] == NOTHING || !is_known);
                return;
        }
        ck_assert(is_known);
        chain = async_chains_get(chains, place.chain);
        while (n < MAX_STEP_FRAMES && frames[n])
                n++;
        ck_assert_uint_eq(chain->n, n);
        ck_assert(!memcmp(async_chain_addresses(chains, chain), frames, n * sizeof(*frames)));
        ck_assert_uint_eq(chain->index, QUESTIONS[i].index);
        ck_assert_uint_eq(place.n_done, QUESTIONS[i].n_done);
}

START_TEST(finds_chains)
{
        LogPlace place = place_new();
        AsyncChains *chains = chains_of(&place, G_N_ELEMENTS(STEPS));

        check_answer(chains, (size_t)_i, true);
        async_chains_free(chains);
        log_place_remove(&place);
}
END_TEST

/* After a program ended by itself, nothing is known after its last event. */
START_TEST(ends)
{
        LogPlace place = place_new();
        AsyncChains *chains = chains_of(&place, G_N_ELEMENTS(STEPS) - 1);

        check_answer(chains, (size_t)_i, !QUESTIONS[_i].is_after_end);
        async_chains_free(chains);
        log_place_remove(&place);
}
END_TEST

/* In another pid namespace, a thread that /proc does not list continues no chain. */
START_TEST(lacks_threads)
{
        static const ProcInfo APART = {.host_pid = PID, .n_levels = 2};
        LogPlace place = place_new();
        AsyncChains *chains;
        size_t i;

        target_threads_free(place.threads);
        place.threads = target_threads_new(&APART);
        chains = chains_of(&place, G_N_ELEMENTS(STEPS));
        for (i = 0; i < G_N_ELEMENTS(QUESTIONS); i++)
                check_answer(chains, i, false);
        async_chains_free(chains);
        log_place_remove(&place);
}
END_TEST

/* A truncated buffer, or a buffer of another version, gives no sub-event and does not affect other
 * buffers. */
START_TEST(refuses_buffers)
{
        g_autoptr(GByteArray) bytes = buffer_of(&STEPS[0]);
        AsyncLengths lengths;
        AsyncBuffer buffer;
        AsyncEvent event;
        AsyncStack stack;
        guint n;

        async_lengths_init(&lengths);
        for (n = 0; n < bytes->len; n++) {
                ck_assert(!async_buffer_read(&buffer, bytes->data, n));
                bytes->data[1] = (uint8_t)n;
                if (async_buffer_read(&buffer, bytes->data, n))
                        ck_assert(!async_buffer_next(&buffer, &lengths, &event) &&
                                  buffer.cursor.has_failed);
                bytes->data[1] = (uint8_t)bytes->len;
        }
        ck_assert(async_buffer_read(&buffer, bytes->data, bytes->len));
        ck_assert(async_buffer_next(&buffer, &lengths, &event));
        ck_assert_uint_eq(event.id, ASYNC_RESUME_STACK);
        ck_assert(async_event_stack(&event, &stack) && stack.n == 3);
        for (n = 0; n < event.n; n++) {
                const AsyncEvent part = {event.id, event.time, event.payload, n};

                ck_assert(!async_event_stack(&part, &stack));
        }
        ck_assert(!async_buffer_next(&buffer, &lengths, &event) && !buffer.cursor.has_failed);
        bytes->data[0] = 2;
        ck_assert(!async_buffer_read(&buffer, bytes->data, bytes->len));
}
END_TEST

static unsigned count_segments(const LogPlace *place)
{
        uint32_t first, end;

        async_log_find(place->logs, "77-1", &first, &end);
        return end - first;
}

static bool is_continued(const AsyncChains *chains, uint64_t time)
{
        AsyncPlace place;

        return async_chains_find(chains, PID, 1, time, &place);
}

/* A log without an end: reading gives the newest entries, and entries that were read or forgotten
 * are removed. */
START_TEST(goes_on)
{
        static const Step RESUME = {EVENT(RESUME_STACK), 1, 100, 0, {0x1000}, 1};
        static const Step SUSPEND = {EVENT(SUSPEND), 1, 900, 0, {0}, 1};
        LogPlace place = place_new();
        AsyncLog *log = async_log_open(place.path, place.threads, AHEAD);
        g_autoptr(GByteArray) resume = buffer_of(&RESUME), suspend = buffer_of(&SUSPEND);
        AsyncChains *chains = async_chains_new(place.logs);

        async_chains_update(chains);
        ck_assert_uint_eq(count_segments(&place), 0); /* no entry yet */
        async_log_add(log, ASYNC_LOG_BUFFER, resume->data, resume->len);
        async_log_flush(log);
        ck_assert(!async_chains_await(chains, 500, 0));
        ck_assert(!is_continued(chains, 400));         /* the thread may have suspended the chain */
        ck_assert(async_chains_await(chains, 500, 0)); /* the second call does not wait */
        async_log_add_flushed(log, 500);
        async_log_flush(log);
        ck_assert(async_chains_await(chains, 500, 0));
        ck_assert(is_continued(chains, 400) && !is_continued(chains, 500));
        async_log_add(log, ASYNC_LOG_BUFFER, suspend->data, suspend->len);
        async_log_add_flushed(log, 1000);
        async_log_flush(log);
        ck_assert(async_chains_await(chains, 1000, 0));
        ck_assert(is_continued(chains, 100) && is_continued(chains, 899));
        ck_assert(!is_continued(chains, 900));
        async_chains_forget(chains, 300);
        ck_assert(is_continued(chains, 300)); /* the chain at an earlier time */
        async_chains_forget(chains, 950);
        ck_assert(!is_continued(chains, 300));
        async_log_add(log, ASYNC_LOG_CLOSED, NULL, 0);
        async_log_close(log);
        async_chains_update(chains);
        async_chains_forget(chains, 1000);
        ck_assert_uint_eq(count_segments(&place), 0);
        async_chains_free(chains);
        log_place_remove(&place);
}
END_TEST

/* Buffers without room in the log are a gap; the reader makes room. */
START_TEST(is_bounded)
{
        static const Step RESUME = {EVENT(RESUME_STACK), 1, 100, 0, {0x1000}, 1};
        static const Step AFTER = {EVENT(RESUME_STACK), 1, 800, 0, {0x2000}, 1};
        const size_t n = 60000; /* bytes that are not a valid buffer */
        LogPlace place = place_new();
        AsyncLog *log = async_log_open(place.path, place.threads, AHEAD);
        g_autoptr(GByteArray) resume = buffer_of(&RESUME), after = buffer_of(&AFTER);
        g_autofree uint8_t *large = g_malloc0(n);
        AsyncChains *chains = async_chains_new(place.logs);
        unsigned i;

        async_log_add(log, ASYNC_LOG_BUFFER, resume->data, resume->len);
        for (i = 0; i < 2 * ASYNC_LOG_MAX_SEGMENTS * ASYNC_LOG_SEGMENT_BYTES / n; i++)
                async_log_add(log, ASYNC_LOG_BUFFER, large, n);
        async_log_add_flushed(log, 700);
        async_log_flush(log);
        ck_assert_uint_eq(count_segments(&place), ASYNC_LOG_MAX_SEGMENTS);
        async_chains_update(chains);
        ck_assert_uint_eq(count_segments(&place), 1);
        ck_assert(!is_continued(chains, 600)); /* after the gap */
        async_log_add(log, ASYNC_LOG_BUFFER, after->data, after->len);
        async_log_add_flushed(log, 1000);
        async_log_flush(log);
        async_chains_update(chains);
        ck_assert(is_continued(chains, 900));
        ck_assert_uint_eq(count_segments(&place), 1);
        async_log_close(log);
        /* A new worker continues the log of a worker that ended without writing an end. */
        log = async_log_open(place.path, place.threads, AHEAD);
        async_log_add_flushed(log, 2000);
        async_log_close(log);
        async_chains_update(chains);
        ck_assert(!is_continued(chains, 1500));
        ck_assert_uint_eq(count_segments(&place), 1);
        async_chains_free(chains);
        log_place_remove(&place);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("async-chains");
        TCase *tests = tcase_create("async-chains");

        tcase_add_loop_test(tests, finds_chains, 0, G_N_ELEMENTS(QUESTIONS));
        tcase_add_loop_test(tests, ends, 0, G_N_ELEMENTS(QUESTIONS));
        tcase_add_test(tests, lacks_threads);
        tcase_add_test(tests, refuses_buffers);
        tcase_add_test(tests, goes_on);
        tcase_add_test(tests, is_bounded);
        suite_add_tcase(suite, tests);
        return suite;
}
