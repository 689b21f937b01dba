/* SPDX-License-Identifier: MIT */

/* Samples by frame pointers, and the copy of the stack of each: of one moment, or of another one */

#include "unwind/sample-file.h"

#include "perfdata/perf-writer.h"
#include "support/suite.h"

#include <unistd.h>

/* Compiled code, with frame pointers. */
#define CODE       UINT64_C(0x7f0000000000)
#define STACK_AT   UINT64_C(0x7ffff000)
#define KERNEL     UINT64_C(0xffffffff81000000)
#define TIME       UINT64_C(5000000)
#define REGISTERS  (1u << 6 | 1u << 7 | 1u << 8) /* BP, SP and IP */
#define STACK_SIZE 64u
enum { PID = 77, TID = 78, CPU = 3, FREQUENCY = 499, HALF_PERIOD = 1000000000 / FREQUENCY / 2 };

/* Letters are frames in compiled code, the leaf first; '|' divides those of the kernel from them.
 * A copy that ends with '~' is too short. */
static const struct {
        const char *sample, *copy;
        int64_t later;    /* ns of the copy after the sample */
        const char *want; /* the chain */
        bool is_moved;    /* the sample has the moment of the copy */
} ROWS[] = {
        /* One moment: the copy has the caller of the leaf. */
        {"acd", "abcd", 7000, "abcd", true},
        {"acd", "abcd", -7000, "abcd", true},
        {"k|acd", "k|abcd", 7000, "k|abcd", true},
        {"acdef", "abcd~", 50000, "abcdef", true},
        {"k|acdef", "k|abcd~", 7000, "k|abcdef", true},
        /* Two moments: the copy is the sample. */
        {"acd", "abcd", HALF_PERIOD, "abcd", true},
        {"acd", "ebd", 40000, "ebd", true},
        {"acd", "ebd", -HALF_PERIOD, "ebd", true},
        {"k|acd", "ebd", 40000, "ebd", true},
        {"acd", "k|ebd", 40000, "k|ebd", true},
        {"k|acd", "m|ebd", -40000, "m|ebd", true},
        /* The sample stays as it is. */
        {"acd", "ebd", HALF_PERIOD + 1, "acd", false},
        {"acdef", "ebcd~", 40000, "acdef", false},
        {"acdef", "abcd~", 50001, "acdef", false},
        {"k|acd", "", 40000, "k|acd", false},
};

static const PerfWriterEvent EVENTS[] = {
        {"cpu-clock",
         {.type = PERF_TYPE_SOFTWARE,
          .size = sizeof(struct perf_event_attr),
          .config = PERF_COUNT_SW_CPU_CLOCK,
          .freq = 1,
          .sample_freq = FREQUENCY,
          .sample_type = PERF_WRITER_SAMPLE}},
        {"copies",
         {.type = PERF_TYPE_SOFTWARE,
          .size = sizeof(struct perf_event_attr),
          .config = PERF_COUNT_SW_CPU_CLOCK,
          .freq = 1,
          .sample_freq = FREQUENCY,
          .sample_type = PERF_WRITER_SAMPLE | PERF_WRITER_COPY,
          .sample_regs_user = REGISTERS,
          .sample_stack_user = STACK_SIZE}},
};

/* Appends the addresses of LETTERS up to one of ENDS, and returns the end. */
static const char *add_addresses(GArray *addresses, const char *letters, uint64_t base,
                                 const char *ends)
{
        for (; *letters && !strchr(ends, *letters); letters++) {
                const uint64_t address = base + (uint64_t)(*letters - 'a' + 1) * 16;

                g_array_append_val(addresses, address);
        }
        return letters;
}

/* Appends the addresses of LETTERS in the kernel, if any. Returns the letters of the program. */
static const char *add_kernel(GArray *addresses, const char *letters)
{
        return strchr(letters, '|') ? add_addresses(addresses, letters, KERNEL, "|") + 1 : letters;
}

/* The chain of LETTERS as perf has it. */
static GArray *chain_of_letters(const char *letters)
{
        const uint64_t kernel = PERF_CONTEXT_KERNEL, user = PERF_CONTEXT_USER;
        GArray *chain = g_array_new(FALSE, FALSE, sizeof(uint64_t));

        if (strchr(letters, '|'))
                g_array_append_val(chain, kernel);
        letters = add_kernel(chain, letters);
        g_array_append_val(chain, user);
        add_addresses(chain, letters, CODE, "");
        return chain;
}

/* PerfWriter divides the addresses of the kernel from the others. */
static void add_row(PerfWriter *writer, const PerfWriterSample *row, uint64_t leaf,
                    const GArray *addresses)
{
        PerfWriterSample sample = *row;

        sample.pid = PID;
        sample.tid = TID;
        sample.period = 1;
        sample.ip = addresses->len ? g_array_index(addresses, uint64_t, 0) : leaf;
        sample.addresses = (const uint64_t *)(const void *)addresses->data;
        sample.n_addresses = addresses->len;
        perf_writer_add_sample(writer, &sample);
}

static void add_sample(PerfWriter *writer, int row)
{
        g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));

        add_addresses(addresses, add_kernel(addresses, ROWS[row].sample), CODE, "");
        add_row(writer, &(const PerfWriterSample){.event = 0, .cpu = CPU, .time = TIME}, 0,
                addresses);
}

/* Each frame has the next frame pointer, and the return address. */
static void add_copy(PerfWriter *writer, int row)
{
        g_autoptr(GArray) kernel = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_autoptr(GArray) frames = g_array_new(TRUE, FALSE, sizeof(uint64_t));
        const char *end = add_addresses(frames, add_kernel(kernel, ROWS[row].copy), CODE, "~");
        const uint64_t *addresses = (const uint64_t *)(const void *)frames->data;
        uint64_t stack[STACK_SIZE / sizeof(uint64_t)] = {0};
        const uint64_t registers[] = {STACK_AT, STACK_AT, addresses[0]};
        guint i;

        for (i = 1; i < frames->len; i++) {
                const bool is_cut = *end == '~' && i + 1 == frames->len;

                stack[2 * i - 2] = STACK_AT + (is_cut ? STACK_SIZE : 16 * i);
                stack[2 * i - 1] = addresses[i];
        }
        add_row(writer,
                &(const PerfWriterSample){.event = 1,
                                          .cpu = CPU,
                                          .time = TIME + (uint64_t)ROWS[row].later,
                                          .registers = registers,
                                          .n_registers = G_N_ELEMENTS(registers),
                                          .stack = (const uint8_t *)stack,
                                          .n_stack = sizeof(stack)},
                addresses[0], kernel);
}

static void write_recording(int fd, int row)
{
        PerfWriter writer;

        ck_assert(perf_writer_init(&writer, fd, EVENTS, G_N_ELEMENTS(EVENTS)));
        writer.machine = "x86_64";
        perf_writer_add_mapping(&writer, &(const PerfWriterMapping){
                                                 .pid = PID,
                                                 .start = CODE,
                                                 .end = CODE + 0x1000,
                                                 .inode = PERF_WRITER_NO_INODE,
                                                 .path = "/memfd:doublemapper (deleted)",
                                         });
        add_sample(&writer, row);
        add_copy(&writer, row);
        ck_assert(perf_writer_finish(&writer));
        perf_writer_deinit(&writer);
}

static void check_sample(int row, uint64_t time, uint64_t ip, const uint64_t *chain, size_t n_chain)
{
        g_autoptr(GArray) want = chain_of_letters(ROWS[row].want);

        ck_assert_uint_eq(n_chain, want->len);
        ck_assert_mem_eq(chain, want->data, want->len * sizeof(*chain));
        ck_assert_uint_eq(time, TIME + (uint64_t)(ROWS[row].is_moved ? ROWS[row].later : 0));
        ck_assert_uint_eq(ip, g_array_index(want, uint64_t, 1));
}

static int n_walked, n_read;

static void check_walked(void *data, const PerfAttr *event, const PerfSample *sample)
{
        check_sample(*(const int *)data, sample->time, sample->ip, sample->chain, sample->n_chain);
        n_walked++;
}

static bool check_read(const QueuedSample *sample, void *data)
{
        check_sample(*(const int *)data, sample->time, sample->ip, sample->chain, sample->n_chain);
        n_read++;
        return true;
}

START_TEST(has_the_stack_of_one_moment)
{
        const SampleFileCalls calls = {.sample = check_walked, .data = &_i};
        const StackSources sources = {0};
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;
        const int fd = g_file_open_tmp("clrsym-stack-moments-XXXXXX", &path, NULL);
        SampleFile file;

        n_walked = n_read = 0;
        ck_assert_int_ge(fd, 0);
        write_recording(fd, _i);
        close(fd);
        ck_assert(sample_file_open(&file, path, &error));
        ck_assert(sample_file_scan(&file, &sources, &calls, &error));
        ck_assert(sample_file_walk(&file, &calls, &error));
        ck_assert(sample_file_read(&file, check_read, &_i, &error));
        ck_assert_int_eq(n_walked, 1);
        ck_assert_int_eq(n_read, 1);
        sample_file_close(&file);
        unlink(path);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("stack-moments");
        TCase *tests = tcase_create("stack-moments");

        tcase_add_loop_test(tests, has_the_stack_of_one_moment, 0, G_N_ELEMENTS(ROWS));
        suite_add_tcase(suite, tests);
        return suite;
}
