/* SPDX-License-Identifier: MIT */

/*
 * Samples of the runtime's sampler in a nettrace stream, with their stacks
 */

#include "nettrace/reader.h"

#include "support/nettrace-stream.h"
#include "support/suite.h"

#include <string.h>

static const unsigned VERSIONS[] = {4, 6};

enum {
        SAMPLER_ID = 3,
        FLAGS = 0x87, /* all flags except the stack's */
        HAS_STACK = 0x08,
};

typedef struct StackRow {
        unsigned n;
        uint64_t addresses[3];
} StackRow;

static void put_stacks(GByteArray *out, unsigned version, uint32_t first, const StackRow *rows,
                       unsigned n)
{
        GByteArray *block = g_byte_array_new();
        unsigned i, j;

        nettrace_put(block, first, 4);
        nettrace_put(block, n, 4);
        for (i = 0; i < n; i++) {
                nettrace_put(block, 8 * rows[i].n, 4);
                for (j = 0; j < rows[i].n; j++)
                        nettrace_put(block, rows[i].addresses[j], 8);
        }
        nettrace_put_block(out, version, NETTRACE_BLOCK_STACK, block);
}

/* STACK 0: the stack of the sample before. Thread 9 takes the samples of thread 7. */
static void put_sample(GByteArray *block, uint32_t stack, uint64_t time_step, uint32_t where)
{
        nettrace_put(block, FLAGS | (stack ? HAS_STACK : 0), 1);
        nettrace_put_varint(block, SAMPLER_ID);
        nettrace_put_varint(block, 0);
        nettrace_put_varint(block, 9);
        nettrace_put_varint(block, UINT32_MAX);
        nettrace_put_varint(block, 7);
        if (stack)
                nettrace_put_varint(block, stack);
        nettrace_put_varint(block, time_step);
        nettrace_put_varint(block, 4);
        nettrace_put(block, where, 4);
}

static void write_sample(void *data, const NettraceSample *sample)
{
        size_t i;

        g_string_append_printf(data, "%d/%d %d%c", (int)sample->pid, (int)sample->tid,
                               (int)sample->time, sample->is_managed ? 'm' : 'n');
        for (i = 0; i < sample->n_addresses; i++)
                g_string_append_printf(data, " %x", (unsigned)sample->addresses[i]);
        g_string_append(data, "; ");
}

/* Returns the samples of a stream as text. STACKS: the second block of stacks; the function takes
 * ownership. */
static char *read_samples(unsigned version, GByteArray *stacks, bool wants, GError **error)
{
        static const StackRow ROWS[] = {{2, {0x1000, 0x2000, 0}}, {1, {0x3000, 0, 0}}};
        static const NettraceTestPoint ENTRY = {9, 4};
        g_autoptr(GByteArray) stream = nettrace_stream_begin(version);
        GByteArray *block = nettrace_block_new(true), *after = nettrace_block_new(true);
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        GString *text = g_string_new(NULL);

        put_stacks(stream, version, 5, ROWS, G_N_ELEMENTS(ROWS));
        put_sample(block, 5, 2000, 2);
        put_sample(block, 0, 1, 1);
        put_sample(block, 6, 1, 2);
        put_sample(block, 6, 1, 0);
        nettrace_put_block(stream, version, NETTRACE_BLOCK_EVENT, block);
        nettrace_put_point(stream, version, 2500, 0, &ENTRY, 1);
        if (stacks)
                nettrace_put_block(stream, version, NETTRACE_BLOCK_STACK, stacks);
        put_sample(after, 5, 3000, 2);
        nettrace_put_block(stream, version, NETTRACE_BLOCK_EVENT, after);
        nettrace_stream_end(stream, version);
        if (wants)
                nettrace_reader_take_samples(reader, write_sample, text);
        nettrace_reader_push(reader, stream->data, stream->len, error);
        nettrace_reader_free(reader);
        return g_string_free(text, FALSE);
}

START_TEST(test_samples)
{
        const bool has_threads = VERSIONS[_i] >= 6;
        const int tid = has_threads ? 5007 : 7;
        g_autoptr(GError) error = NULL;
        g_autofree char *found = read_samples(VERSIONS[_i], NULL, true, &error);
        g_autofree char *want = g_strdup_printf(
                "4711/%d 2000m 1000 2000; 4711/%d 2001n 1000 2000; 4711/%d 2002m 3000; "
                "4711/%d 3000m; ",
                tid, tid, tid, tid);

        ck_assert_ptr_null(error);
        ck_assert_str_eq(found, want);
}
END_TEST

/* Samples without a consumer cost nothing: the reader does not look up their stacks. */
START_TEST(test_not_wanted)
{
        GByteArray *stacks = g_byte_array_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *found = NULL;

        nettrace_put(stacks, 1, 1);
        found = read_samples(VERSIONS[_i], stacks, false, &error);
        ck_assert_ptr_null(error);
        ck_assert_str_eq(found, "");
}
END_TEST

START_TEST(test_lies)
{
        static const struct {
                uint64_t n_stacks, n_bytes;
                bool is_damaged;
        } ROWS[] = {
                {1, 8, false},         {2, 8, true},           {1, 9, true},  {1, UINT32_MAX, true},
                {UINT32_MAX, 8, true}, {0, UINT32_MAX, false}, {1, 7, false},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                GByteArray *stacks = g_byte_array_new();
                g_autoptr(GError) error = NULL;
                g_autofree char *found = NULL;

                nettrace_put(stacks, 5, 4);
                nettrace_put(stacks, ROWS[i].n_stacks, 4);
                nettrace_put(stacks, ROWS[i].n_bytes, 4);
                nettrace_put(stacks, 0x4000, 8);
                found = read_samples(VERSIONS[_i], stacks, true, &error);
                ck_assert_int_eq(error != NULL, ROWS[i].is_damaged);
                if (error)
                        ck_assert(strstr(error->message, "a malformed stack"));
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("nettrace samples");
        TCase *all = tcase_create("all");

        tcase_add_loop_test(all, test_samples, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(all, test_not_wanted, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(all, test_lies, 0, G_N_ELEMENTS(VERSIONS));
        suite_add_tcase(suite, all);
        return suite;
}
