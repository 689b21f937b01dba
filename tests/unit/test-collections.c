/* SPDX-License-Identifier: MIT */

/*
 * Garbage collections and pauses by thread: from the runtime's events, through the log of a worker,
 * to the answers
 */

#include "record/collections.h"
#include "support/log-place.h"
#include "support/suite.h"

#include <signal.h>
#include <sys/resource.h>

#define PID 77

enum { NOTHING = 99 }; /* placeholder for a generation */

/* A record of the thread TID. */
typedef struct Step {
        const char *event; /* name without the provider */
        int32_t tid;
        uint64_t time;
        uint32_t number, generation, reason, type; /* as far as the event has these fields */
} Step;

static const Step STEPS[] = {
        {"GCRestartEEEnd_V1", 1, 50, 0, 0, 0, 0}, /* pause that began before the session */
        {"GCEnd_V1", 1, 51, 1, 0, 0, 0},
        {"GCSuspendEEBegin_V1", 1, 100, 0, 0, 1, 0},
        {"GCStart_V2", 1, 110, 2, 0, 0, 0},
        {"GCEnd_V1", 1, 190, 2, 0, 0, 0},
        {"GCRestartEEEnd_V1", 1, 200, 0, 0, 0, 0},
        /* A background collection, from the pause of one thread to the pause of another, and a
         * collection within it. */
        {"GCSuspendEEBegin_V1", 1, 300, 0, 0, 6, 0},
        {"GCStart_V2", 1, 310, 3, 2, 1, 1},
        {"GCRestartEEEnd_V1", 1, 320, 0, 0, 0, 0},
        {"GCSuspendEEBegin_V1", 2, 400, 0, 0, 1, 0},
        {"GCStart_V2", 2, 410, 4, 1, 0, 2},
        {"GCEnd_V1", 2, 420, 4, 0, 0, 0},
        {"GCRestartEEEnd_V1", 2, 430, 0, 0, 0, 0},
        {"GCSuspendEEBegin_V1", 3, 500, 0, 0, 1, 0},
        {"GCEnd_V1", 3, 520, 3, 0, 0, 0},
        {"GCRestartEEEnd_V1", 3, 530, 0, 0, 0, 0},
        /* A pause by a debugger; and a pause that the end of the program cut off. */
        {"GCSuspendEEBegin_V1", 1, 600, 0, 0, 5, 0},
        {"GCRestartEEEnd_V1", 1, 700, 0, 0, 0, 0},
        {"GCSuspendEEBegin_V1", 1, 800, 0, 0, 1, 0},
        {"GCStart_V2", 1, 810, 5, 0, 0, 0},
};

static const struct {
        int32_t pid, tid;
        uint64_t time;
        uint32_t generation;
} QUESTIONS[] = {
        {PID, 1, 40, NOTHING},      {PID, 1, 99, NOTHING},  {PID, 1, 100, 0},
        {PID, 1, 199, 0},           {PID, 1, 200, NOTHING}, {PID, 2, 150, NOTHING},
        {PID + 1, 1, 150, NOTHING}, {PID, 0, 150, 0},       {PID, 0, 105, NOTHING},
        {PID, 1, 305, 2},           {PID, 1, 350, NOTHING}, {PID, 0, 350, 2},
        {PID, 2, 405, 1},           {PID, 2, 425, 1},       {PID, 0, 415, 1},
        {PID, 0, 450, 2},           {PID, 3, 510, 2},       {PID, 0, 525, NOTHING},
        {PID, 1, 650, NOTHING},     {PID, 1, 850, NOTHING},
};

static void take(CollectionLog *log, const Step *step)
{
        g_autofree char *name = g_strconcat("DotNETRuntime:", step->event, NULL);
        Record record = {.event = event_by_name(name), .time = step->time, .tid = step->tid};

        ck_assert_ptr_nonnull(record.event);
        log_set_value(&record, FIELD_Count, step->number);
        log_set_value(&record, FIELD_Depth, step->generation);
        log_set_value(&record, FIELD_Reason, step->reason);
        log_set_value(&record, FIELD_Type, step->type);
        collection_log_take(log, &record);
}

START_TEST(test_collections)
{
        LogPlace place = log_place_new(COLLECTION_LOG_DIRECTORY);
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;
        size_t i;

        ck_assert_ptr_null(collection_log_open(place.path, place.threads, 0)); /* no reader */
        collection_log_close(NULL, false);
        g_mkdir(place.logs, 0700);
        log = collection_log_open(place.path, place.threads, 0);
        for (i = 0; i < G_N_ELEMENTS(STEPS); i++)
                take(log, &STEPS[i]);
        /* Bytes that are not a stream of events end the log, without harm to others. */
        collection_log_sink(log)->take(collection_log_sink(log)->data, (const uint8_t *)"Nettrac?",
                                       8);
        collection_log_close(log, false);
        collections = collections_new(place.logs);
        for (i = 0; i < G_N_ELEMENTS(QUESTIONS); i++) {
                const CollectionLogEntry *entry = collections_find(
                        collections, QUESTIONS[i].pid, QUESTIONS[i].tid, QUESTIONS[i].time);

                ck_assert_msg((entry ? entry->generation : NOTHING) == QUESTIONS[i].generation,
                              "question %zu", i);
        }
        collections_sum(collections, &totals);
        ck_assert_uint_eq(totals.n[0], 1);
        ck_assert_uint_eq(totals.n[1], 1);
        ck_assert_uint_eq(totals.n[2], 1);
        ck_assert_uint_eq(totals.n_background, 1);
        ck_assert_uint_eq(totals.n_induced, 1);
        ck_assert_uint_eq(totals.n_processes, 1);
        ck_assert_uint_eq(totals.paused, 100 + 20 + 30 + 30);
        ck_assert_uint_eq(totals.longest, 100);
        collections_free(collections);
        log_place_remove(&place);
}
END_TEST

/* Many collections without end events: the newest collections are still found. */
START_TEST(test_endless)
{
        LogPlace place = log_place_new(COLLECTION_LOG_DIRECTORY);
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;
        uint32_t i;

        g_mkdir(place.logs, 0700);
        log = collection_log_open(place.path, place.threads, 0);
        for (i = 0; i < 1000; i++) {
                take(log, &(const Step){"GCStart_V2", 1, 100 + i, i, 0, 0, 0});
                take(log, &(const Step){"GCSuspendEEBegin_V1", 1, 100 + i, 0, 0, 1, 0});
        }
        take(log, &(const Step){"GCEnd_V1", 1, 2000, 999, 0, 0, 0});
        take(log, &(const Step){"GCEnd_V1", 1, 2001, 0, 0, 0, 0});
        collection_log_close(log, false);
        collections = collections_new(place.logs);
        collections_sum(collections, &totals);
        ck_assert_uint_eq(totals.n[0], 1);
        ck_assert_uint_eq(totals.paused, 0);
        ck_assert_ptr_nonnull(collections_find(collections, PID, 0, 1500));
        collections_free(collections);
        log_place_remove(&place);
}
END_TEST

static uint64_t paused(const Collections *collections)
{
        CollectionTotals totals;

        collections_sum(collections, &totals);
        return totals.paused;
}

/* The log is read while it is written: running collections and pauses are found. */
START_TEST(test_live)
{
        LogPlace place = log_place_new(COLLECTION_LOG_DIRECTORY);
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;

        g_mkdir(place.logs, 0700);
        log = collection_log_open(place.path, place.threads, 0);
        take(log, &(const Step){"GCSuspendEEBegin_V1", 1, 100, 0, 0, 1, 0});
        take(log, &(const Step){"GCStart_V2", 1, 110, 7, 2, 0, 0});
        collection_log_flush(log);
        collection_log_flush(log);
        collections = collections_new(place.logs);
        ck_assert_uint_eq(collections_find(collections, PID, 1, 150)->generation, 2);
        ck_assert_uint_eq(collections_find(collections, PID, 0, 5000)->end, COLLECTION_LOG_OPEN);
        ck_assert_uint_eq(paused(collections), 0);
        collections_forget(collections, 150, 180);
        take(log, &(const Step){"GCEnd_V1", 1, 190, 7, 0, 0, 0});
        take(log, &(const Step){"GCRestartEEEnd_V1", 1, 200, 0, 0, 0, 0});
        collection_log_flush(log);
        collections_update(collections);
        ck_assert_ptr_nonnull(collections_find(collections, PID, 1, 199));
        ck_assert_ptr_null(collections_find(collections, PID, 1, 200));
        ck_assert_ptr_null(collections_find(collections, PID, 0, 5000));
        ck_assert_uint_eq(paused(collections), 100);
        collections_forget(collections, 200, 305);
        ck_assert_ptr_null(collections_find(collections, PID, 1, 199));
        collections_sum(collections, &totals);
        ck_assert_uint_eq(totals.n[2], 1);
        ck_assert_uint_eq(totals.n_processes, 1);
        ck_assert_uint_eq(totals.longest, 100);
        ck_assert_uint_eq(totals.n_late, 0);
        /* A missing end event: the next pause by the same thread ends the collection. */
        take(log, &(const Step){"GCSuspendEEBegin_V1", 1, 300, 0, 0, 1, 0});
        take(log, &(const Step){"GCStart_V2", 1, 301, 8, 0, 0, 0});
        collection_log_flush(log);
        take(log, &(const Step){"GCSuspendEEBegin_V1", 1, 400, 0, 0, 1, 0});
        take(log, &(const Step){"GCStart_V2", 1, 410, 9, 1, 0, 0});
        collection_log_flush(log);
        collections_update(collections);
        ck_assert_ptr_null(collections_find(collections, PID, 1, 350));
        ck_assert_uint_eq(collections_find(collections, PID, 1, 500)->generation, 1);
        /* The program ended meanwhile. */
        collection_log_close(log, true);
        collections_update(collections);
        ck_assert_ptr_null(collections_find(collections, PID, 1, 500));
        collections_sum(collections, &totals);
        ck_assert_uint_eq(totals.paused, 100);
        ck_assert_uint_eq(totals.n_late, 1);
        collections_free(collections);
        log_place_remove(&place);
}
END_TEST

/* A killed writer has written no end events; a new writer continues the log. */
START_TEST(test_killed)
{
        LogPlace place = log_place_new(COLLECTION_LOG_DIRECTORY);
        Collections *collections;
        CollectionLog *killed, *log;

        g_mkdir(place.logs, 0700);
        killed = collection_log_open(place.path, place.threads, 0);
        take(killed, &(const Step){"GCSuspendEEBegin_V1", 1, 100, 0, 0, 1, 0});
        take(killed, &(const Step){"GCStart_V2", 1, 110, 7, 2, 0, 0});
        collection_log_flush(killed);
        collections = collections_new(place.logs);
        ck_assert_ptr_nonnull(collections_find(collections, PID, 1, COLLECTIONS_MAX_OPEN));
        ck_assert_ptr_null(collections_find(collections, PID, 1, COLLECTIONS_MAX_OPEN + 100));
        ck_assert_ptr_null(collections_find(collections, PID, 0, COLLECTIONS_MAX_OPEN + 110));
        /* The events of the next writer exclude the open collections of the killed writer. */
        log = collection_log_open(place.path, place.threads, 0);
        take(log, &(const Step){"GCSuspendEEBegin_V1", 1, 300, 0, 0, 1, 0});
        take(log, &(const Step){"GCStart_V2", 1, 310, 1, 0, 0, 0});
        take(log, &(const Step){"GCEnd_V1", 1, 320, 1, 0, 0, 0});
        take(log, &(const Step){"GCRestartEEEnd_V1", 1, 330, 0, 0, 0, 0});
        collection_log_flush(log);
        collections_update(collections);
        ck_assert_ptr_null(collections_find(collections, PID, 1, 200));
        ck_assert_ptr_null(collections_find(collections, PID, 0, 350));
        ck_assert_uint_eq(collections_find(collections, PID, 1, 315)->generation, 0);
        ck_assert_uint_eq(paused(collections), 30);
        /* An open pause that no later event excludes is forgotten when it is too old. */
        take(log, &(const Step){"GCSuspendEEBegin_V1", 2, 400, 0, 0, 1, 0});
        collection_log_flush(log);
        collections_update(collections);
        collections_forget(collections, COLLECTIONS_MAX_OPEN + 400, COLLECTIONS_MAX_OPEN + 400);
        ck_assert_ptr_null(collections_find(collections, PID, 2, 500));
        ck_assert_uint_eq(paused(collections), 30);
        collections_free(collections);
        collection_log_close(log, true);
        collection_log_close(killed, true);
        log_place_remove(&place);
}
END_TEST

/* A disk that gets full within an entry. */
START_TEST(test_full)
{
        const struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
        const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
        LogPlace place = log_place_new(COLLECTION_LOG_DIRECTORY);
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;
        uint32_t i;

        signal(SIGXFSZ, SIG_IGN);
        g_mkdir(place.logs, 0700);
        log = collection_log_open(place.path, place.threads, 0);
        for (i = 0; i < 20; i++) {
                setrlimit(RLIMIT_FSIZE, i < 10 ? &limit : &none);
                take(log, &(const Step){"GCStart_V2", 1, 100 + 10 * i, i, 1, 0, 0});
                take(log, &(const Step){"GCEnd_V1", 1, 105 + 10 * i, i, 0, 0, 0});
                if (i % 5 == 4)
                        collection_log_flush(log);
        }
        collection_log_close(log, true);
        collections = collections_new(place.logs);
        collections_sum(collections, &totals);
        ck_assert_uint_eq(totals.n[1], 100 / sizeof(CollectionLogEntry) + 10);
        ck_assert_uint_eq(totals.n[0] + totals.n[2] + totals.n_processes, 1);
        collections_free(collections);
        log_place_remove(&place);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("collections");
        TCase *tcase = tcase_create("collections");

        tcase_add_test(tcase, test_collections);
        tcase_add_test(tcase, test_endless);
        tcase_add_test(tcase, test_live);
        tcase_add_test(tcase, test_killed);
        tcase_add_test(tcase, test_full);
        suite_add_tcase(suite, tcase);
        return suite;
}
