/* SPDX-License-Identifier: MIT */

/* The facts of a recording, from its records */

#include "cli/perf-recording.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* A record that the test builds. */
typedef struct Bytes {
        uint64_t words[64];
        size_t n; /* bytes */
} Bytes;

static void bytes_add(Bytes *bytes, const void *at, size_t n)
{
        memcpy((uint8_t *)bytes->words + bytes->n, at, n);
        bytes->n += n;
}

static void bytes_add_u32(Bytes *bytes, uint32_t value)
{
        bytes_add(bytes, &value, sizeof(value));
}

static void bytes_add_u64(Bytes *bytes, uint64_t value)
{
        bytes_add(bytes, &value, sizeof(value));
}

/* Takes the record without its last N_LESS bytes. */
static void record_take(Recording *recording, uint32_t type, const Bytes *body, uint64_t time,
                        size_t n_less)
{
        Bytes record = {0};
        const struct perf_event_header header = {.type = type,
                                                 .size = (uint16_t)(8 + body->n - n_less)};

        bytes_add(&record, &header, sizeof(header));
        bytes_add(&record, body->words, body->n);
        recording_take_record(recording, (const struct perf_event_header *)record.words, time);
}

static void record_take_mapping(Recording *recording, uint32_t pid, uint64_t address,
                                uint64_t inode, uint64_t generation, uint64_t time,
                                uint32_t protection, const char *path)
{
        Bytes body = {0};

        bytes_add_u32(&body, pid);
        bytes_add_u32(&body, pid);
        bytes_add_u64(&body, address);
        bytes_add_u64(&body, 0x200);
        bytes_add_u64(&body, 0x3000);
        bytes_add_u32(&body, 0xfe);
        bytes_add_u32(&body, 0x1f);
        bytes_add_u64(&body, inode);
        bytes_add_u64(&body, generation);
        bytes_add_u32(&body, protection);
        bytes_add_u32(&body, MAP_PRIVATE);
        bytes_add(&body, path, strlen(path) + 1);
        record_take(recording, PERF_RECORD_MMAP2, &body, time, 0);
}

static void record_take_namespaces(Recording *recording, uint32_t pid, uint64_t pid_ns,
                                   size_t n_less)
{
        Bytes body = {0};
        uint64_t i;

        bytes_add_u32(&body, pid);
        bytes_add_u32(&body, pid);
        bytes_add_u64(&body, 7);
        for (i = 0; i < 7; i++) {
                bytes_add_u64(&body, 4);
                bytes_add_u64(&body, i == 3 ? pid_ns : 0xeffffff0 + i);
        }
        record_take(recording, PERF_RECORD_NAMESPACES, &body, 0, n_less);
}

static void record_take_lost(Recording *recording, uint64_t n, size_t n_less)
{
        Bytes body = {0};

        bytes_add_u64(&body, 1);
        bytes_add_u64(&body, n);
        record_take(recording, PERF_RECORD_LOST, &body, 0, n_less);
}

static const PerfAttr EVENT = {.attr = {.sample_type = PERF_SAMPLE_CALLCHAIN,
                                        .use_clockid = 1,
                                        .clockid = CLOCK_MONOTONIC},
                               .name = (char *)"cpu-clock"};

static void sample_take(Recording *recording, int32_t pid, int32_t tid, uint64_t time,
                        const char *comm)
{
        const PerfSample sample = {.pid = pid, .tid = tid, .time = time};

        recording_take_sample(recording, &EVENT, &sample, comm);
}

START_TEST(takes_records)
{
        enum { EXECUTABLE = PROT_READ | PROT_EXEC };
        const uint64_t tod = UINT64_C(1795228331045265000), clock = UINT64_C(741190938127);
        g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(PerfAttr));
        const PerfData data = {
                .attrs = events,
                .features = {.reference = {.is_known = true, .tod = tod, .clock = clock}}};
        g_autoptr(Recording) recording = recording_new();
        const RecordingProcess *process;
        char *mappings = NULL;
        size_t n_mappings = 0;
        FILE *file;

        recording_take_header(recording, &data);
        ck_assert_int_eq(recording->clock_id, RECORDING_OWN_CLOCK);
        g_array_append_val(events, EVENT);
        recording_take_header(recording, &data);
        ck_assert_int_eq(recording->clock_id, CLOCK_MONOTONIC);
        record_take_namespaces(recording, 70, 0xeffffffc, 0);
        record_take_namespaces(recording, 80, 0xf0000123, 0);
        record_take_lost(recording, 12, 0);
        record_take_lost(recording, 30, 0);
        record_take_mapping(recording, 80, 0x1000, 5, 6, clock + 1000000000, EXECUTABLE,
                            "/a/b.dll");
        record_take_mapping(recording, 80, 0x2000, 7, 0, 0, EXECUTABLE, "/a/C.EXE (deleted)");
        record_take_mapping(recording, 80, 0x3000, 8, 6, 0, EXECUTABLE, "/a/b.so");
        record_take_mapping(recording, 80, 0x4000, 8, 6, 0, PROT_READ, "/a/data.dll");
        record_take_mapping(recording, (uint32_t)-1, 0x5000, 8, 6, 0, EXECUTABLE, "/kernel.dll");
        record_take_mapping(recording, 80, 0x6000, 0, 0, 0, EXECUTABLE, "//anon");
        sample_take(recording, 70, 71, 1500000000, "thread");
        sample_take(recording, 70, 70, 1000000000, "main");
        sample_take(recording, 70, 70, 2000000000, "later");
        sample_take(recording, 80, 81, 1000000000, "worker");
        sample_take(recording, -1, -1, 1, ":-1");
        recording_finish(recording);

        /* The files' times of day are the recording's, or later, less a tenth of a second. */
        file = open_memstream(&mappings, &n_mappings);
        recording_write_mappings(recording, file);
        fclose(file);
        ck_assert_str_eq(mappings,
                         "80 4096 4608 12288 742190938127 1795228331945265000 254 31 5 1 6 "
                         "/a/b.dll\n"
                         "80 8192 8704 12288 0 1795228330945265000 254 31 7 0 0 "
                         "/a/C.EXE (deleted)\n");
        free(mappings);
        ck_assert_uint_eq(recording->binaries->len, 2);

        ck_assert_int_eq(recording->clock_id, CLOCK_MONOTONIC);
        ck_assert_str_eq(recording->clock_name, "monotonic");
        ck_assert_str_eq(recording->stacks, "frames");
        ck_assert_uint_eq(recording->reference.tod, tod);
        ck_assert_uint_eq(recording->n_lost, 42);
        ck_assert_uint_eq(recording->events->len, 1);
        ck_assert_uint_eq(((RecordingEvent *)recording->events->pdata[0])->n_samples, 5);
        ck_assert_uint_eq(recording->processes->len, 3);
        process = recording->processes->pdata[0];
        ck_assert_int_eq(process->pid, 70);
        ck_assert_str_eq(process->comm, "main");
        ck_assert_uint_eq(process->n_samples, 3);
        ck_assert_uint_eq(process->first, 1000000000);
        ck_assert_uint_eq(process->last, 2000000000);
        ck_assert(process->has_pid_ns);
        ck_assert_uint_eq(process->pid_ns, 0xeffffffc);
        process = recording->processes->pdata[1];
        ck_assert_str_eq(process->comm, "worker");
        ck_assert_uint_eq(process->pid_ns, 0xf0000123);
        process = recording->processes->pdata[2];
        ck_assert(!process->has_pid_ns);
}
END_TEST

/* Records that end before one of their members. */
START_TEST(leaves_out_what_is_cut)
{
        g_autoptr(Recording) recording = recording_new();

        record_take_namespaces(recording, 70, 0xeffffffc, 64);
        record_take_namespaces(recording, 71, 0xeffffffc, 112);
        record_take_lost(recording, 30, 8);
        recording_finish(recording);
        ck_assert_uint_eq(g_hash_table_size(recording->pid_ns), 0);
        ck_assert_uint_eq(recording->n_lost, 0);
        ck_assert_int_eq(recording->clock_id, RECORDING_OWN_CLOCK);
        ck_assert(!recording->reference.is_known);
}
END_TEST

/* The kept addresses are spread over the whole time of a process, however many samples there
 * are. */
START_TEST(spreads_addresses)
{
        enum { N = 10000 };
        g_autoptr(Recording) recording = recording_new();
        RecordingProcess *process = NULL;
        const GArray *addresses;
        uint64_t i, k;

        for (i = 0; i < N; i++) {
                const PerfSample sample = {.pid = 5, .tid = 5, .time = i};

                process = recording_wants_addresses(recording, &sample);
                for (k = 0; process && k < 3; k++)
                        recording_process_add(process, i * 4 + k, i);
        }
        process = g_hash_table_lookup(recording->by_pid, GINT_TO_POINTER(5));
        addresses = process->addresses;
        ck_assert_uint_ge(addresses->len, RECORDING_MAX_ADDRESSES / 4);
        ck_assert_uint_le(addresses->len, RECORDING_MAX_ADDRESSES);
        ck_assert_uint_lt(g_array_index(addresses, RecordingAddress, 0).time, N / 10);
        ck_assert_uint_gt(g_array_index(addresses, RecordingAddress, addresses->len - 1).time,
                          N - N / 10);
        ck_assert_ptr_null(recording_wants_addresses(recording, &(const PerfSample){.pid = -1}));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-recording");
        TCase *tests = tcase_create("perf-recording");

        tcase_add_test(tests, takes_records);
        tcase_add_test(tests, leaves_out_what_is_cut);
        tcase_add_test(tests, spreads_addresses);
        suite_add_tcase(suite, tests);
        return suite;
}
