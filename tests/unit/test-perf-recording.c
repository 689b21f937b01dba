/* SPDX-License-Identifier: MIT */

/*
 * What perf script prints of a recording, and the survey of clrsym's filter, line by line
 */

#include "cli/perf-recording.h"

#include "support/suite.h"

#include <stdlib.h>
#include <time.h>

static Recording *take(const char *const *lines, const char *const *survey)
{
        Recording *recording = recording_new();

        for (; *lines; lines++)
                recording_take_line(recording, *lines);
        for (; *survey; survey++)
                ck_assert(recording_take_survey(recording, *survey));
        recording_finish(recording);
        return recording;
}

START_TEST(test_recording)
{
        static const char *const LINES[] = {
                "# ========",
                "# hostname : vm",
                "# clockid: monotonic (1)",
                "# reference time: 2026-11-21 02:32:11.045265 = 1795228331.045265 (TOD) = "
                "741.190938127 (monotonic)",
                "#",
                "perf-exec     0     0.000000: PERF_RECORD_NAMESPACES 70/71 - nr_namespaces: 7",
                "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff, 3/pid: "
                "4/0xeffffffc, ",
                "\t\t 4/user: 4/0xeffffffd, 5/mnt: 4/0xeffffff8, 6/cgroup: 4/0xeffffffb]",
                "x 80 1.000000: PERF_RECORD_NAMESPACES 80/80 - nr_namespaces: 7",
                "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff, 3/pid: "
                "4/0xf0000123, ",
                "x 80 1.000000: PERF_RECORD_LOST lost 12",
                "x 80 2.000000: PERF_RECORD_LOST lost 30",
                "x 80 742.190938127: PERF_RECORD_MMAP2 80/81: [0x1000(0x200) @ 0 fe:00 5 6]: r-xp "
                "/a/b.dll",
                "x 80 0.000000000: PERF_RECORD_MMAP2 80/81: [0x2000(0x200) @ 0 fe:00 7 6]: r-xp "
                "/a/C.EXE (deleted)",
                "x 70 0.000000000: PERF_RECORD_MMAP2 70/70: [0x2000(0x200) @ 0 fe:00 7 6]: r-xp "
                "/a/b.dll",
                "x 80 0.000000000: PERF_RECORD_MMAP2 80/81: [0x3000(0x200) @ 0 fe:00 8 6]: r-xp "
                "/a/b.so",
                /* What follows a line feed in a file's name. */
                "# clockid: none (7)",
                "# reference time: 2026-11-21 02:32:11.045265 = 1.045265 (TOD) = 1.190938127 (x)",
                "",
                NULL,
        };
        static const char *const SURVEY[] = {
                "clock 1",
                "stacks frames",
                "event 7 cpu-clock",
                "process 70 5 1000000000 2000000000 a b",
                "address 70 7f0000001000 1500000000",
                "address 70 7f0000002000 1600000000",
                "process 80 2 1000000000 1000000000 ",
                "process -1 1 1 1 ",
                NULL,
        };
        g_autoptr(Recording) recording = take(LINES, SURVEY);
        const RecordingProcess *process = g_ptr_array_index(recording->processes, 0);
        char *mappings = NULL;
        size_t n_mappings = 0;
        FILE *file = open_memstream(&mappings, &n_mappings);

        /* Their times of the day are the recording's, or later, less a second. */
        recording_write_mappings(recording, file);
        fclose(file);
        ck_assert_str_eq(mappings, "80 4096 4608 0 742190938127 1795228331945265000 254 0 5 1 6 "
                                   "/a/b.dll\n"
                                   "80 8192 8704 0 0 1795228330945265000 254 0 7 1 6 "
                                   "/a/C.EXE (deleted)\n"
                                   "70 8192 8704 0 0 1795228330945265000 254 0 7 1 6 "
                                   "/a/b.dll\n");
        free(mappings);

        ck_assert_int_eq(recording->clock_id, CLOCK_MONOTONIC);
        ck_assert_str_eq(recording->clock_name, "monotonic");
        ck_assert_str_eq(recording->stacks, "frames");
        ck_assert(recording->has_reference);
        ck_assert_uint_eq(recording->reference_tod, UINT64_C(1795228331045265000));
        ck_assert_uint_eq(recording->reference_clock, UINT64_C(741190938127));
        ck_assert_uint_eq(recording->n_lost, 42);
        ck_assert_uint_eq(recording->events->len, 1);
        ck_assert_uint_eq(recording->processes->len, 3);
        ck_assert_int_eq(process->pid, 70);
        ck_assert_str_eq(process->comm, "a b");
        ck_assert_uint_eq(process->n_samples, 5);
        ck_assert(process->has_pid_ns);
        ck_assert_uint_eq(process->pid_ns, 0xeffffffc);
        ck_assert_uint_eq(process->addresses->len, 2);
        ck_assert_uint_eq(g_array_index(process->addresses, RecordingAddress, 1).address,
                          UINT64_C(0x7f0000002000));
        process = g_ptr_array_index(recording->processes, 1);
        ck_assert_uint_eq(process->pid_ns, 0xf0000123);
        process = g_ptr_array_index(recording->processes, 2);
        ck_assert_int_eq(process->pid, -1);
        ck_assert(!process->has_pid_ns);
}
END_TEST

START_TEST(test_nothing_told)
{
        static const char *const LINES[] = {
                "# reference time: soon",
                "# reference time: 2026 = 12 (TOD) = 13 (monotonic)",
                "x 1 1.0: PERF_RECORD_NAMESPACES what/ever",
                "\t\t[3/pid: 4/0xeffffffc, ",
                "x 1 1.0: PERF_RECORD_LOST lost ",
                "x 1 1.0: PERF_RECORD_LOST",
                NULL,
        };
        static const char *const SURVEY[] = {"clock -1", NULL};
        g_autoptr(Recording) recording = take(LINES, SURVEY);

        ck_assert_int_eq(recording->clock_id, RECORDING_OWN_CLOCK);
        ck_assert(!recording->has_reference);
        ck_assert_uint_eq(recording->n_lost, 0);
        ck_assert_uint_eq(g_hash_table_size(recording->pid_ns), 0);
}
END_TEST

static const char *const REFUSED[] = {
        "",
        "something",
        "event x cpu-clock",
        "process",
        "process 1 2 3",
        "process x 1 2 3 a",
        "process 99999999999 1 2 3 a",
        "address 5 7f00 1", /* of no process */
        "address 1 7f00",
        "clock ",
};

START_TEST(test_refused)
{
        g_autoptr(Recording) recording = recording_new();

        ck_assert(!recording_take_survey(recording, REFUSED[_i]));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-recording");
        TCase *tcase = tcase_create("perf-recording");

        tcase_add_test(tcase, test_recording);
        tcase_add_test(tcase, test_nothing_told);
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(REFUSED));
        suite_add_tcase(suite, tcase);
        return suite;
}
