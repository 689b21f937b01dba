/* SPDX-License-Identifier: MIT */

/* Counting samples while perf writes them: a growing file, a replaced file, and a damaged file */

#include "record/tally.h"
#include "support/suite.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <linux/perf_event.h>

/* Records follow a header of this size, like perf's own. */
#define HEAD_SIZE 104

typedef struct Lost {
        struct perf_event_header head;
        uint64_t id, n;
} Lost;

static GString *file_new(const char *magic)
{
        GString *file = g_string_new(magic);
        const uint64_t offset = HEAD_SIZE;

        g_string_set_size(file, HEAD_SIZE);
        memset(file->str + strlen(magic), 0, HEAD_SIZE - strlen(magic));
        memcpy(file->str + 40, &offset, sizeof(offset));
        return file;
}

static void append_record(GString *file, uint32_t type, uint16_t size)
{
        const struct perf_event_header head = {type, 0, size};
        const size_t before = file->len;

        g_string_set_size(file, before + MAX(size, sizeof(head)));
        memset(file->str + before, 0xff, file->len - before);
        memcpy(file->str + before, &head, sizeof(head));
}

static void append_lost(GString *file, uint64_t n)
{
        const Lost lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 1, n};

        g_string_append_len(file, (const char *)&lost, sizeof(lost));
}

static void check(Tally *tally, uint64_t n_samples, uint64_t n_lost)
{
        tally_update(tally);
        ck_assert_uint_eq(tally_samples(tally), n_samples);
        ck_assert_uint_eq(tally_lost(tally), n_lost);
}

/* Writes N bytes in place, as perf appends to its file. */
static void write_part(const char *path, const GString *file, size_t n)
{
        FILE *to = g_fopen(path, "w");

        ck_assert(to && fwrite(file->str, 1, n, to) == n && fclose(to) == 0);
}

START_TEST(test_tally)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
        g_autofree char *other = g_build_filename(directory, "other", NULL);
        g_autoptr(GString) file = file_new("PERFILE2"), next = file_new("PERFILE2");
        Tally *tally = tally_new(path, 0, NULL);
        size_t first, i;

        check(tally, 0, 0); /* no file */
        write_part(path, file, 20);
        check(tally, 0, 0); /* part of the header */
        append_record(file, PERF_RECORD_SAMPLE, 200);
        append_record(file, PERF_RECORD_MMAP2, UINT16_MAX);
        append_lost(file, 7);
        first = file->len;
        append_record(file, PERF_RECORD_SAMPLE, UINT16_MAX);
        write_part(path, file, first);
        check(tally, 1, 7);
        check(tally, 1, 7);
        write_part(path, file, file->len - 1);
        check(tally, 1, 7); /* part of a record */
        for (i = 0; i < 10000; i++)
                append_record(file, PERF_RECORD_SAMPLE, 48);
        write_part(path, file, file->len);
        check(tally, 10002, 7);

        append_record(next, PERF_RECORD_SAMPLE, 8);
        append_record(next, PERF_RECORD_LOST, 16); /* too short for a number */
        write_part(other, next, next->len);
        append_record(file, PERF_RECORD_SAMPLE, 48);
        write_part(path, file, file->len);
        ck_assert_int_eq(g_rename(other, path), 0);
        check(tally, 10004, 7); /* rest of the first record, and the next */
        append_record(next, PERF_RECORD_SAMPLE, 7);
        append_record(next, PERF_RECORD_SAMPLE, 8);
        write_part(path, next, next->len);
        check(tally, 10004, 7); /* a size below that of a record header */
        g_unlink(path);
        check(tally, 10004, 7);
        tally_free(tally);
        g_rmdir(directory);
}
END_TEST

/* A file of another format. */
START_TEST(test_other)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
        g_autoptr(GString) file = file_new("2ELIFREP");
        Tally *tally = tally_new(path, 0, NULL);

        append_record(file, PERF_RECORD_SAMPLE, 48);
        write_part(path, file, file->len);
        check(tally, 0, 0);
        tally_free(tally);
        tally_free(NULL);
        g_unlink(path);
        g_rmdir(directory);
}
END_TEST

/* Samples with copies of stacks are not counted. */
START_TEST(test_copies)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
        g_autoptr(GString) file = file_new("PERFILE2");
        Tally *tally = tally_new(path, 16384, NULL);

        append_record(file, PERF_RECORD_SAMPLE, 16384);
        append_record(file, PERF_RECORD_SAMPLE, 16383);
        append_record(file, PERF_RECORD_SAMPLE, 16500);
        append_lost(file, 3);
        write_part(path, file, file->len);
        check(tally, 1, 3);
        tally_free(tally);
        g_unlink(path);
        g_rmdir(directory);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("tally");
        TCase *tcase = tcase_create("tally");

        tcase_add_test(tcase, test_tally);
        tcase_add_test(tcase, test_other);
        tcase_add_test(tcase, test_copies);
        suite_add_tcase(suite, tcase);
        return suite;
}
