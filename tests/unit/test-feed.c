/* SPDX-License-Identifier: MIT */

/*
 * Parts of `clrsym feed` and `clrsym session`: the reorder buffer, the backoff, and sizes of
 * buffers
 */

#include "feed/reorder.h"
#include "lttng/buffers.h"
#include "lttng/session-health.h"
#include "lttng/recipe.h"
#include "lttng/session-settings.h"
#include "util/backoff.h"
#include "util/size-text.h"

#include "support/suite.h"

#include <string.h>

/* Adds a frame of one letter. */
static void add(ReorderBuffer *tail, int64_t order, char letter)
{
        reorder_add(tail, order, (const uint8_t *)&letter, 1);
}

static void expect(ReorderBuffer *tail, int64_t limit, const char *letters)
{
        g_autoptr(GByteArray) out = g_byte_array_new();

        reorder_take(tail, limit, out);
        ck_assert_uint_eq(out->len, strlen(letters));
        if (out->len)
                ck_assert_mem_eq(out->data, letters, out->len);
}

START_TEST(takes_in_order)
{
        ReorderBuffer tail;

        reorder_init(&tail);
        expect(&tail, INT64_MAX, "");
        add(&tail, 10, 'a');
        add(&tail, 20, 'c');
        add(&tail, 30, 'd');
        /* A stream with an earlier begin. */
        add(&tail, 15, 'b');
        expect(&tail, 9, "");
        expect(&tail, 19, "ab");
        expect(&tail, 20, "c");
        ck_assert(!reorder_is_empty(&tail));
        add(&tail, 25, 'x');
        expect(&tail, INT64_MAX, "xd");
        ck_assert(reorder_is_empty(&tail));
        reorder_deinit(&tail);
}
END_TEST

START_TEST(keeps_order_of_equals)
{
        ReorderBuffer tail;

        reorder_init(&tail);
        add(&tail, 30, 'z');
        add(&tail, 10, 'a');
        add(&tail, 10, 'b');
        add(&tail, INT64_MIN, '0');
        add(&tail, 10, 'c');
        expect(&tail, 10, "0abc");
        reorder_clear(&tail);
        expect(&tail, INT64_MAX, "");
        reorder_deinit(&tail);
}
END_TEST

/* Compares with a linear search in an array. */
START_TEST(is_as_a_list)
{
        g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
        struct {
                int64_t order;
                uint8_t letter;
                bool is_taken;
        } list[400] = {0};
        unsigned n = 0, i, j;
        ReorderBuffer tail;

        reorder_init(&tail);
        for (i = 0; i < G_N_ELEMENTS(list); i++) {
                list[n].order = g_rand_int_range(random, 0, 100);
                list[n].letter = (uint8_t)g_rand_int_range(random, 0, 256);
                reorder_add(&tail, list[n].order, &list[n].letter, 1);
                n++;
                if (g_rand_int_range(random, 0, 10) == 0) {
                        g_autoptr(GByteArray) out = g_byte_array_new();
                        int64_t limit = g_rand_int_range(random, 0, 100), order;
                        guint at = 0;

                        reorder_take(&tail, limit, out);
                        for (order = 0; order <= limit; order++)
                                for (j = 0; j < n; j++) {
                                        if (list[j].is_taken || list[j].order != order)
                                                continue;
                                        ck_assert_uint_lt(at, out->len);
                                        ck_assert_uint_eq(out->data[at++], list[j].letter);
                                        list[j].is_taken = true;
                                }
                        ck_assert_uint_eq(at, out->len);
                }
        }
        reorder_deinit(&tail);
}
END_TEST

START_TEST(backs_off)
{
        static const unsigned EXPECTED[] = {200, 400, 800, 1600, 3200, 6400, 10000, 10000};
        Backoff backoff = {0};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(EXPECTED); i++)
                ck_assert_uint_eq(backoff_fail(&backoff, 59999), EXPECTED[i]);
        /* After a good minute, the backoff starts anew. */
        ck_assert_uint_eq(backoff_fail(&backoff, 60000), 200);
        ck_assert_uint_eq(backoff_fail(&backoff, 0), 400);
        backoff_reset(&backoff);
        ck_assert_uint_eq(backoff_fail(&backoff, 0), 200);
}
END_TEST

START_TEST(reads_sizes)
{
        static const struct {
                const char *text;
                uint64_t bytes; /* 0: not a size */
        } ROWS[] = {
                {"1", 1},
                {"4096", 4096},
                {"4k", 4096},
                {"500M", UINT64_C(500) << 20},
                {"2G", UINT64_C(2) << 30},
                {"16777215T", UINT64_C(16777215) << 40},
                {"16777216T", 0},
                {"18446744073709551615", UINT64_MAX},
                {"18446744073709551616", 0},
                {"0", 0},
                {"0G", 0},
                {"", 0},
                {"G", 0},
                {"-1", 0},
                {"1.5G", 0},
                {"1GB", 0},
                {"1 G", 0},
                {"1X", 0},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                uint64_t bytes = 0;

                ck_assert_msg(size_from_text(ROWS[i].text, &bytes) == (ROWS[i].bytes != 0), "%s",
                              ROWS[i].text);
                ck_assert_msg(!ROWS[i].bytes || bytes == ROWS[i].bytes, "%s", ROWS[i].text);
        }
}
END_TEST

START_TEST(cuts_disk)
{
        const Buffers buffers = {.size = 1 << 20, .n = 8, .n_cpus = 3};
        FileRing ring;
        uint64_t disk;

        ck_assert(!file_ring(&buffers, (UINT64_C(24) << 20) - 1, &ring, NULL));
        for (disk = UINT64_C(24) << 20; disk < UINT64_C(1) << 40; disk += disk / 7) {
                uint64_t all;

                ck_assert(file_ring(&buffers, disk, &ring, NULL));
                all = ring.file_size * ring.n_files * buffers.n_cpus;
                ck_assert_uint_eq(ring.file_size % buffers.size, 0);
                ck_assert_uint_le(all, disk);
                /* Less than one sub-buffer for each file is unused. */
                ck_assert_uint_gt(all + ring.n_files * buffers.n_cpus * buffers.size, disk);
        }
}
END_TEST

START_TEST(knows_patterns)
{
        size_t i;

        for (i = 0; i < RECIPE_N_EVENTS; i++) {
                const RecipeEvent *row = &RECIPE_EVENTS[i];

                ck_assert(recipe_covers("*", row));
                ck_assert(recipe_covers("DotNETRuntime*", row));
                ck_assert(recipe_covers(row->pattern, row));
                ck_assert(!recipe_covers("DotNETRuntime:Gc*", row));
                ck_assert(!recipe_covers("DotNETRuntime:MethodLoad*", row));
        }
}
END_TEST

START_TEST(keeps_settings)
{
        static const char *const BAD[] = {"",   ".x",   "-x",  "a/b",      "a b",
                                          "a*", "../x", "a\n", "\xc3\xa4", "a:b"};
        g_autoptr(SessionSettings) settings = session_settings_new("one.two-3_"), read = NULL;
        const int32_t pid = 4711;
        json_t *value;
        size_t i;

        settings->is_live = true;
        settings->disk = UINT64_C(3) << 40;
        settings->buffer_size = 4096;
        settings->format = TRACE_FORMAT_CTF_2;
        settings->live_port = 65535;
        settings->relay_output = g_strdup("/a b");
        settings->relay_user = g_strdup("somebody");
        settings->relay = (DaemonProcess){4712, UINT64_C(1) << 40};
        g_array_append_val(settings->track, pid);
        value = session_settings_to_json(settings);
        read = session_settings_from_json(value);
        ck_assert_ptr_nonnull(read);
        ck_assert_str_eq(read->name, "one.two-3_");
        ck_assert(read->is_live);
        ck_assert_uint_eq(read->disk, settings->disk);
        ck_assert_uint_eq(read->buffer_size, 4096);
        ck_assert_int_eq(read->format, TRACE_FORMAT_CTF_2);
        ck_assert_uint_eq(read->live_port, 65535);
        ck_assert_str_eq(read->relay_output, "/a b");
        ck_assert_str_eq(read->relay_user, "somebody");
        ck_assert_int_eq(read->relay.pid, 4712);
        ck_assert_uint_eq(read->relay.start_ticks, UINT64_C(1) << 40);
        ck_assert_ptr_null(read->output);
        ck_assert_uint_eq(read->track->len, 1);
        ck_assert_int_eq(g_array_index(read->track, int32_t, 0), pid);
        for (i = 0; i < G_N_ELEMENTS(BAD); i++) {
                ck_assert_msg(!session_settings_is_name(BAD[i]), "%s", BAD[i]);
                json_object_set_new(value, "name", json_string(BAD[i]));
                ck_assert_ptr_null(session_settings_from_json(value));
        }
        json_object_set_new(value, "name", json_string("good"));
        json_object_set_new(value, "trace_format", json_string("ctf-3"));
        ck_assert_ptr_null(session_settings_from_json(value));
        json_decref(value);
        value = json_object();
        ck_assert_ptr_null(session_settings_from_json(value));
        json_decref(value);
}
END_TEST

START_TEST(knows_what_is_dead)
{
        enum { OURS = 4712, TICKS = 99 };
        static const struct {
                bool is_live, has_sessiond, has_session, is_active;
                DaemonProcess relay;
                SessionHealth health;
        } ROWS[] = {
                {true, true, true, true, {OURS, TICKS}, HEALTH_WELL},
                {true, true, true, false, {OURS, TICKS}, HEALTH_STOPPED},
                {true, true, true, true, {OURS, TICKS + 1}, HEALTH_OTHER_RELAYD},
                {true, true, true, true, {OURS + 1, TICKS}, HEALTH_OTHER_RELAYD},
                {true, true, true, false, {OURS + 1, TICKS}, HEALTH_OTHER_RELAYD},
                {true, true, true, true, {0}, HEALTH_NO_RELAYD},
                {true, true, false, false, {OURS, TICKS}, HEALTH_NO_SESSION},
                {true, true, false, false, {0}, HEALTH_NO_RELAYD},
                {true, false, false, false, {OURS, TICKS}, HEALTH_NO_SESSIOND},
                {true, false, false, false, {0}, HEALTH_NO_SESSIOND},
                {false, true, true, true, {0}, HEALTH_WELL},
                {false, true, true, false, {0}, HEALTH_STOPPED},
                {false, true, false, false, {0}, HEALTH_NO_SESSION},
                {false, false, false, false, {0}, HEALTH_NO_SESSIOND},
        };
        g_autoptr(SessionSettings) settings = session_settings_new("x");
        size_t i;

        settings->relay = (DaemonProcess){OURS, TICKS};
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const LttngSession session = {.is_active = ROWS[i].is_active};
                const RelayDaemon relay = {.process = ROWS[i].relay};
                SessionHealth health;

                settings->is_live = ROWS[i].is_live;
                health = session_health_of(settings, ROWS[i].has_sessiond,
                                           ROWS[i].has_session ? &session : NULL, &relay);
                ck_assert_msg(health == ROWS[i].health, "row %zu: %s", i,
                              session_health_name(health));
                ck_assert_int_eq(strcmp(session_health_name(health), "gone") == 0,
                                 session_health_present(health) != NULL);
        }
}
END_TEST

Suite *suite_new(void)
{
        TCase *tests = tcase_create("feed");
        Suite *suite = suite_create("feed");

        tcase_add_test(tests, takes_in_order);
        tcase_add_test(tests, keeps_order_of_equals);
        tcase_add_loop_test(tests, is_as_a_list, 0, 20);
        tcase_add_test(tests, backs_off);
        tcase_add_test(tests, reads_sizes);
        tcase_add_test(tests, cuts_disk);
        tcase_add_test(tests, knows_patterns);
        tcase_add_test(tests, keeps_settings);
        tcase_add_test(tests, knows_what_is_dead);
        suite_add_tcase(suite, tests);
        return suite;
}
