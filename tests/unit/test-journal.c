/* SPDX-License-Identifier: MIT */

/*
 * The journal: the state read back is the state before, however the daemon ended; truncated or
 * changed anywhere, the journal gives nothing wrong.
 */

#include "journal/journal-directory.h"
#include "journal/journal-file.h"

#include "support/keeper.h"
#include "support/suite.h"

#include <fcntl.h>
#include <string.h>

/* The tests use every n-th place in a file, and every n-th history. */
static unsigned stride(void)
{
        return suite_has_all_rounds() ? 1 : 4;
}

/* The daemon is killed after each step, and after some steps a replayed daemon continues. */
START_TEST(test_killed)
{
        g_autoptr(GPtrArray) steps = feeding_new(7000 + (guint32)_i, 60);
        g_autofree char *state = path_of("state");
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++) {
                g_autoptr(GByteArray) want = NULL, got = NULL;

                fed_take(&keeper.fed, steps->pdata[i]);
                want = reference_image(steps, i + 1);
                got = image_after_kill(state, 0, NULL);
                ck_assert_msg(is_same(want, got), "step %u", i);
        }
        ck_assert_uint_eq(keeper.stats.journal_bytes > 0, true);
        keeper_stop(&keeper);
        check_whole();
}
END_TEST

/* The same with images in between, and with daemons that continue after a kill. */
START_TEST(test_images)
{
        g_autoptr(GPtrArray) steps = feeding_new(8000 + (guint32)_i, 400);
        g_autofree char *state = path_of("state");
        uint64_t most = 0;
        unsigned n_images = 0;
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        journal_set_limit(keeper.journal, 4096);
        for (i = 0; i < steps->len; i++) {
                g_autoptr(GByteArray) want = NULL, got = NULL;
                bool was_compacting = journal_is_compacting(keeper.journal);

                fed_take(&keeper.fed, steps->pdata[i]);
                n_images += !was_compacting && journal_is_compacting(keeper.journal);
                most = MAX(most, keeper.stats.journal_bytes);
                if (i % 16 < 2) { /* during an image, if one has begun */
                        want = reference_image(steps, i + 1);
                        got = image_after_kill(state, 0, NULL);
                        ck_assert_msg(is_same(want, got), "step %u", i);
                }
                if (i % 3 == 0)
                        keeper_wait(&keeper);
                g_main_context_iteration(NULL, FALSE);
        }
        keeper_wait(&keeper);
        keeper_stop(&keeper);
        ck_assert_uint_gt(n_images, 5);
        ck_assert_uint_eq(n_files(state, ".new"), 0);
        check_whole();
}
END_TEST

/* A sequence of daemons, each fed again by a new connection of each feeder. */
START_TEST(test_again)
{
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = NULL, got = NULL;
        Tracker *tracker = tracker_new();
        Keeper keeper;
        guint round, i;

        for (round = 0; round < 6; round++) {
                g_autoptr(GPtrArray) steps = feeding_new(9000 + 100 * round + (guint32)_i, 50);
                Fed fed;

                keeper_start(&keeper, state, 0, NULL);
                journal_set_limit(keeper.journal, 8192);
                fed_init(&fed, tracker);
                for (i = 0; i < steps->len; i++) {
                        fed_take(&keeper.fed, steps->pdata[i]);
                        fed_take(&fed, steps->pdata[i]);
                        keeper_wait(&keeper);
                }
                fed_deinit(&fed);
                keeper_stop(&keeper);
        }
        want = tracker_image(tracker);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        tracker_free(tracker);
}
END_TEST

/* Returns the offsets of the ends of the entries in a file, its first line included. */
static GArray *entry_ends(const char *path)
{
        JournalReader *reader = journal_reader_new(open(path, O_RDONLY | O_CLOEXEC));
        GArray *ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        JournalEntry entry;
        JournalLine line;
        uint64_t end;

        ck_assert_int_eq(journal_reader_line(reader, &line), JOURNAL_OK);
        do {
                end = journal_reader_offset(reader);
                g_array_append_val(ends, end);
        } while (journal_reader_next(reader, &entry) == JOURNAL_OK);
        journal_reader_free(reader);
        return ends;
}

/* Writes a journal of one file, with one entry for each step, as after a kill. */
static void write_state(const char *state, const GPtrArray *steps)
{
        g_autofree char *source = path_of("source");
        Keeper keeper;
        guint i;

        keeper_start(&keeper, source, 0, NULL);
        for (i = 0; i < steps->len; i++)
                fed_take(&keeper.fed, steps->pdata[i]);
        copy_state(source, state);
        keeper_stop(&keeper);
        remove_all(source);
}

/* Truncated anywhere, the journal gives the complete entries before, without an error. */
START_TEST(test_cut)
{
        g_autoptr(GPtrArray) steps = feeding_new(5, 14);
        g_autofree char *state = path_of("state"), *path = NULL, *bytes = NULL;
        g_autoptr(GByteArray) want = NULL;
        g_autoptr(GArray) ends = NULL;
        guint n_entries = G_MAXUINT, k;
        gsize n, cut;

        write_state(state, steps);
        path = only_file(state);
        ends = entry_ends(path);
        ck_assert_uint_ge(ends->len, steps->len);
        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        for (cut = n + 1; cut-- > 0;) {
                g_autoptr(GByteArray) got = NULL;

                for (k = 0; k + 1 < ends->len && g_array_index(ends, uint64_t, k + 1) <= cut; k++)
                        ;
                if (k != n_entries) {
                        g_clear_pointer(&want, g_byte_array_unref);
                        want = reference_image(steps, MIN(k, steps->len));
                        n_entries = k;
                } else if (cut % stride()) {
                        continue;
                }
                write_file(path, bytes, (gssize)cut);
                got = image_after_kill(state, 0, NULL);
                ck_assert_msg(is_same(want, got), "cut at %zu", (size_t)cut);
        }
        check_whole();
}
END_TEST

/* Changed anywhere, the journal gives the entries before, with an error; the damaged file is kept
 * aside. */
START_TEST(test_changed)
{
        g_autoptr(GPtrArray) steps = feeding_new(6, 14);
        g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *state = path_of("state"), *copy = path_of("copy"), *path = NULL;
        g_autofree char *bytes = NULL;
        g_autoptr(GArray) ends = NULL;
        guint i;
        gsize n, at;

        write_state(state, steps);
        path = only_file(state);
        ends = entry_ends(path);
        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        for (i = 0; i <= steps->len; i++) {
                Tracker *tracker = reference(steps, i);

                g_ptr_array_add(known, tracker_bodies(tracker));
                tracker_free(tracker);
        }
        for (at = 0; at < n; at += stride()) {
                g_autoptr(GByteArray) image = NULL;
                g_autofree char *got = NULL;
                char bit = (char)(1 << at % 8);
                guint k;

                for (k = 0; g_array_index(ends, uint64_t, k) <= at; k++)
                        ;
                bytes[at] ^= bit;
                write_file(path, bytes, (gssize)n);
                bytes[at] ^= bit;
                g_string_truncate(said, 0);
                image = image_after_kill(state, 0, &got);
                ck_assert_str_eq(got, known->pdata[k ? MIN(k - 1, steps->len) : 0]);
                ck_assert_msg((strstr(said->str, "is damaged") ||
                               strstr(said->str, "is of another version")) &&
                                      strstr(said->str, "gap") && n_files(copy, ".damaged") == 1,
                              "at %zu: %s", (size_t)at, said->str);
        }
}
END_TEST

/* Missing entries after damage make the answers about that time uncertain. */
START_TEST(test_gap)
{
        g_autofree char *state = path_of("state"), *path = NULL, *bytes = NULL;
        g_autoptr(GPtrArray) steps = feeding_new(11, 30);
        const GPtrArray *processes;
        guint n_processes, i;
        Keeper keeper;
        gsize n;

        write_state(state, steps);
        path = only_file(state);
        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        bytes[n - 1] ^= 1;
        write_file(path, bytes, (gssize)n);
        keeper_start(&keeper, state, 0, NULL);
        processes = tracker_processes(keeper.tracker);
        n_processes = processes->len;
        ck_assert_uint_gt(n_processes, 0);
        for (i = 0; i < n_processes; i++) {
                const Process *process = processes->pdata[i];

                ck_assert(process_has_gap(process, process_horizon(process), UINT64_MAX));
        }
        keeper_stop(&keeper);
        /* Afterwards the journal is complete again. */
        g_string_truncate(said, 0);
        keeper_start(&keeper, state, 0, NULL);
        check_whole();
        ck_assert_uint_eq(tracker_processes(keeper.tracker)->len, n_processes);
        keeper_stop(&keeper);
}
END_TEST

/* A missing file between others, or a missing image: the files that depend on it are not read. */
START_TEST(test_missing)
{
        g_autoptr(GPtrArray) steps = feeding_new(12, 120);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) image = NULL;
        g_autofree char *bodies = NULL;
        JournalDirectory opened;
        g_autoptr(GArray) names = NULL;
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++) {
                if (i == 60)
                        journal_set_limit(keeper.journal, 1);
                fed_take(&keeper.fed, steps->pdata[i]);
                keeper_wait(&keeper);
                journal_set_limit(keeper.journal, 1 << 20);
        }
        ck_assert_uint_eq(n_files(state, ""), 2);
        keeper_stop(&keeper);
        ck_assert(journal_directory_open(&opened, state, NULL));
        names = journal_directory_list(&opened);
        journal_directory_remove(&opened, g_array_index(names, JournalName, 0));
        journal_directory_close(&opened);
        g_string_truncate(said, 0);
        image = image_after_kill(state, 0, &bodies);
        ck_assert_ptr_nonnull(strstr(said->str, "follows a missing part"));
        ck_assert_ptr_nonnull(strstr(bodies, "\"methods\":[]"));
}
END_TEST

/* With a small budget: the state at the time of an image is restored. */
START_TEST(test_budget)
{
        g_autoptr(GPtrArray) steps = feeding_new(13, 1500);
        g_autofree char *state = path_of("state");
        const size_t budget = 2400 << 10;
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, budget, NULL);
        for (i = 0; i < steps->len; i++) {
                const FeedStep *step = steps->pdata[i];
                bool is_watched = i % 10 == 0 && step->kind == FEED_BATCH;
                g_autofree char *want = NULL, *got = NULL;

                journal_set_limit(keeper.journal, is_watched ? 1 : 1 << 30);
                fed_take(&keeper.fed, step);
                keeper_wait(&keeper);
                if (!is_watched)
                        continue;
                want = tracker_bodies(keeper.tracker);
                g_byte_array_unref(image_after_kill(state, budget, &got));
                ck_assert_str_eq(want, got);
        }
        ck_assert_uint_gt(tracker_budget(keeper.tracker)->n_processes, 0);
        ck_assert_uint_gt(tracker_budget(keeper.tracker)->n_bodies, 0);
        keeper_stop(&keeper);
        check_whole();
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("journal");
        TCase *tcase = tcase_create("journal");

        take_logs();
        tcase_set_timeout(tcase, 100);
        tcase_add_checked_fixture(tcase, keeper_set_up, keeper_tear_down);
        tcase_add_loop_test(tcase, test_killed, 0, 8 / (int)stride());
        tcase_add_loop_test(tcase, test_images, 0, 8 / (int)stride());
        tcase_add_loop_test(tcase, test_again, 0, 8 / (int)stride());
        tcase_add_test(tcase, test_cut);
        tcase_add_test(tcase, test_changed);
        tcase_add_test(tcase, test_gap);
        tcase_add_test(tcase, test_missing);
        tcase_add_test(tcase, test_budget);
        suite_add_tcase(suite, tcase);
        return suite;
}
