/* SPDX-License-Identifier: MIT */

/*
 * A recording of the machine without other processes: children of the target stay, and later
 * processes with a reused pid do not. Data after the records moves with their end.
 */

#include "unwind/narrow.h"
#include "perfdata/perf-data.h"
#include "support/suite.h"
#include "util/fd.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TARGET = 100, CHILD = 200, OTHER = 300, BEFORE = 400, GRANDCHILD = 500 };

typedef enum RowKind { ROW_FORK, ROW_SAMPLE, ROW_COMM, ROW_LOST } RowKind;

/* A record of PID; PARENT: the parent of a fork. */
typedef struct Row {
        RowKind kind;
        int32_t pid, parent;
        uint64_t time;
        bool is_kept;
} Row;

/* In the order of the file; the CPUs' records are not sorted by time. */
static const Row ROWS[] = {
        {ROW_COMM, TARGET, 0, 0, true},
        {ROW_COMM, OTHER, 0, 0, false},
        {ROW_COMM, -1, 0, 0, true},
        {ROW_FORK, BEFORE, TARGET, 0, false}, /* CHILD ran before the recording */
        {ROW_SAMPLE, BEFORE, 0, 50, false},
        {ROW_SAMPLE, 0, 0, 60, false},
        {ROW_SAMPLE, TARGET, 0, 70, true},
        {ROW_SAMPLE, OTHER, 0, 80, false},
        {ROW_LOST, 0, 0, 90, true},
        {ROW_SAMPLE, CHILD, 0, 90, false}, /* another process of that pid */
        {ROW_SAMPLE, CHILD, 0, 110, true},
        {ROW_SAMPLE, GRANDCHILD, 0, 160, true},
        {ROW_FORK, GRANDCHILD, CHILD, 150, true},
        {ROW_FORK, CHILD, TARGET, 100, true},
        {ROW_FORK, TARGET, TARGET, 105, true}, /* a thread */
        {ROW_COMM, CHILD, 0, 0, true},
        {ROW_SAMPLE, CHILD, 0, 210, false},
        {ROW_FORK, CHILD, OTHER, 200, true},
        {ROW_SAMPLE, GRANDCHILD, 0, 220, true},
        {ROW_FORK, 600, CHILD, 230, false},
};

/* The bytes of a record that the filter reads. */
typedef struct Bytes {
        struct perf_event_header header;
        uint64_t words[5];
} Bytes;

static Bytes row_bytes(const Row *row, uint64_t number)
{
        Bytes bytes = {.header = {.size = sizeof(bytes)}};
        const uint32_t pid = (uint32_t)row->pid;

        switch (row->kind) {
        case ROW_FORK:
                bytes.header.type = PERF_RECORD_FORK;
                bytes.words[0] = (uint64_t)(uint32_t)row->parent << 32 | pid;
                bytes.words[2] = row->time;
                break;
        case ROW_SAMPLE:
                bytes.header.type = PERF_RECORD_SAMPLE;
                bytes.words[1] = pid;
                bytes.words[2] = row->time;
                break;
        case ROW_COMM:
                bytes.header.type = PERF_RECORD_COMM;
                bytes.words[0] = pid;
                break;
        case ROW_LOST:
                bytes.header.type = PERF_RECORD_LOST;
                break;
        }
        bytes.words[4] = number;
        return bytes;
}

typedef struct Head {
        PerfFileHeader header;
        struct perf_event_attr attr;
        PerfSection ids;
} Head;

/* Writes the records, and one feature of 8 bytes after them. */
static void make(int fd)
{
        Head head = {
                .header = {.magic = UINT64_C(0x32454c4946524550),
                           .size = sizeof(PerfFileHeader),
                           .attr_size = sizeof(struct perf_event_attr) + sizeof(PerfSection),
                           .attrs = {sizeof(PerfFileHeader),
                                     sizeof(struct perf_event_attr) + sizeof(PerfSection)},
                           .data = {sizeof(head), sizeof(ROWS) / sizeof(*ROWS) * sizeof(Bytes)},
                           .features = {1}},
                .attr = {.size = sizeof(struct perf_event_attr),
                         .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME}};
        PerfSection feature = {head.header.data.offset + head.header.data.size + sizeof(feature),
                               8};
        size_t i;

        ck_assert_int_eq(write(fd, &head, sizeof(head)), sizeof(head));
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const Bytes bytes = row_bytes(&ROWS[i], i);

                ck_assert_int_eq(write(fd, &bytes, sizeof(bytes)), sizeof(bytes));
        }
        ck_assert_int_eq(write(fd, &feature, sizeof(feature)), sizeof(feature));
        ck_assert_int_eq(write(fd, "FEATURE!", 8), 8);
}

START_TEST(test_narrow)
{
        const pid_t pids[] = {TARGET};
        ProcessScope *scope = process_scope_new(pids, G_N_ELEMENTS(pids));
        FD_AUTO int in = memfd_create("machine", MFD_CLOEXEC);
        FD_AUTO int out = memfd_create("narrow", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", in);
        uint64_t at = sizeof(Head), n = 0;
        PerfFileHeader header;
        PerfSection feature;
        char text[8];
        Bytes bytes;
        size_t i;

        make(in);
        ck_assert(perf_data_narrow(path, out, scope, NULL));
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                if (!ROWS[i].is_kept)
                        continue;
                ck_assert_int_eq(pread(out, &bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
                ck_assert_msg(bytes.words[4] == i, "record %zu, not %zu", (size_t)bytes.words[4],
                              i);
                at += sizeof(bytes);
                n += sizeof(bytes);
        }
        ck_assert_int_eq(pread(out, &header, sizeof(header), 0), sizeof(header));
        ck_assert_uint_eq(header.data.size, n);
        ck_assert_int_eq(pread(out, &feature, sizeof(feature), (off_t)at), sizeof(feature));
        ck_assert_int_eq(pread(out, text, sizeof(text), (off_t)feature.offset), sizeof(text));
        ck_assert_mem_eq(text, "FEATURE!", sizeof(text));
        ck_assert_int_eq(lseek(out, 0, SEEK_END), (off_t)feature.offset + 8);
        process_scope_free(scope);
}
END_TEST

/* The next file of the same recording: children that started in the first file still belong to the
 * target. */
START_TEST(test_parts)
{
        const pid_t pids[] = {TARGET};
        ProcessScope *scope = process_scope_new(pids, G_N_ELEMENTS(pids));
        FD_AUTO int in = memfd_create("machine", MFD_CLOEXEC);
        FD_AUTO int out = memfd_create("narrow", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", in);

        make(in);
        ck_assert(perf_data_narrow(path, out, scope, NULL));
        ck_assert(process_scope_has(scope, GRANDCHILD, 1000));
        ck_assert(!process_scope_has(scope, CHILD, 1000));
        ck_assert(process_scope_has(scope, TARGET, 1000));
        ck_assert(!process_scope_had(scope, OTHER));
        process_scope_free(scope);
        process_scope_free(NULL);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("narrow");
        TCase *tcase = tcase_create("narrow");

        tcase_add_test(tcase, test_narrow);
        tcase_add_test(tcase, test_parts);
        suite_add_tcase(suite, tcase);
        return suite;
}
