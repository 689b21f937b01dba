/* SPDX-License-Identifier: MIT */

/*
 * The memory of a process and the cost of a query are bounded, however long the history of the
 * process is.
 */

#include "support/script.h"
#include "support/suite.h"

#include <string.h>
#include <time.h>

enum { N_LOADS = 100000, N_QUESTIONS = 1000, N_GENERATIONS = 20000 };

static double cpu_seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static TrackerStream *open_stream(Tracker *tracker)
{
        StreamIdentity *identity = stream_identity_new();
        TrackerStream *stream;

        identity->trace_uuid[0] = 1;
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = 1000;
        stream = tracker_stream_open(tracker, identity);
        stream_identity_free(identity);
        return stream;
}

static void emit(Tracker *tracker, TrackerStream *stream, const char *name, uint64_t time,
                 uint64_t method, uint64_t start)
{
        Record record = {.event = event_by_name(name), .time = time, .process = {0, 100}};
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        if (event_field(record.event, FIELD_MethodID) >= 0) {
                record.values[event_field(record.event, FIELD_MethodID)].u = method;
                record.values[event_field(record.event, FIELD_MethodStartAddress)].u = start;
                record.values[event_field(record.event, FIELD_MethodSize)].u = 16;
        }
        tracker_apply_record(tracker, stream, &record);
}

/* A query for an address where many bodies were costs only as much as the bodies in its answer. */
START_TEST(test_candidates)
{
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        const Viewer viewer = {.sees_all = true};
        g_autofree Question *questions = g_new0(Question, N_QUESTIONS);
        g_autofree Answer *answers = g_new0(Answer, N_QUESTIONS);
        double seconds, begin = cpu_seconds(), loading;
        uint64_t i;

        for (i = 1; i <= N_LOADS; i++) {
                emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", 2 * i, i, 0x1000);
                emit(tracker, stream, "DotNETRuntime:MethodUnloadVerbose_V1", 2 * i + 1, i, 0x1000);
        }
        for (i = 0; i < N_QUESTIONS; i++)
                questions[i] = (Question){.pid = 100, .address = 0x1000 + i % 2};
        loading = cpu_seconds() - begin;
        seconds = cpu_seconds();
        ck_assert_uint_eq(answer_questions(tracker, &viewer, questions, N_QUESTIONS, 0, answers),
                          N_QUESTIONS);
        seconds = cpu_seconds() - seconds;
        for (i = 0; i < N_QUESTIONS; i++) {
                const Body *first, *last;

                ck_assert_int_eq(answers[i].status, ANSWER_AMBIGUOUS);
                ck_assert_uint_eq(answers[i].bodies->len, ANSWER_MAX_BODIES);
                ck_assert_uint_eq(answers[i].n_bodies, PAGEINDEX_MAX_COUNT);
                first = answers[i].bodies->pdata[0];
                last = answers[i].bodies->pdata[ANSWER_MAX_BODIES - 1];
                ck_assert_uint_eq(first->since, 2 * N_LOADS);
                ck_assert_uint_eq(last->since, 2 * (N_LOADS - ANSWER_MAX_BODIES + 1));
                answer_clear(&answers[i]);
        }
        /* Collecting and sorting all bodies for each query would take some 100 times as long. */
        ck_assert_msg(seconds < 30 * loading, "%g s, loading: %g s", seconds, loading);
        tracker_free(tracker);
}
END_TEST

/* When a turn is over, it ends with the first slow answer; fast answers do not end the turn. */
START_TEST(test_turns)
{
        enum { N_BODIES = 40, N_PLACES = 20 };
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        const Viewer viewer = {.sees_all = true};
        Question questions[N_BODIES + N_PLACES];
        Answer answers[G_N_ELEMENTS(questions)];
        size_t n, done = 0, turns = 0;
        uint64_t i;

        for (i = 0; i < N_BODIES; i++) {
                emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", 1 + i, 1 + i,
                     0x10000 + 16 * i);
                questions[i] = (Question){.pid = 100, .address = 0x10000 + 16 * i};
        }
        for (i = 0; i < 2 * N_PLACES; i++) {
                uint64_t start = 0x20000 + 16 * (i / 2);

                emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", 100 + i, 100 + i,
                     start);
                emit(tracker, stream, "DotNETRuntime:MethodUnloadVerbose_V1", 100 + i, 100 + i,
                     start);
                questions[N_BODIES + i / 2] = (Question){.pid = 100, .address = start};
        }
        for (; done < G_N_ELEMENTS(questions); done += n, turns++) {
                n = answer_questions(tracker, &viewer, questions + done,
                                     G_N_ELEMENTS(questions) - done, 1, answers + done);
                ck_assert_uint_eq(n, done ? 1 : N_BODIES);
        }
        ck_assert_uint_eq(turns, 1 + N_PLACES);
        for (i = 0; i < G_N_ELEMENTS(questions); i++) {
                ck_assert_int_eq(answers[i].status, i < N_BODIES ? ANSWER_OK : ANSWER_AMBIGUOUS);
                answer_clear(&answers[i]);
        }
        tracker_free(tracker);
}
END_TEST

/* Many loads of one body, and rundowns: the tracker keeps few of their times. */
START_TEST(test_confirmations)
{
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        const Process *process;
        const Body *body;
        uint64_t i, time = 1;
        size_t n_bytes;

        emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", time++, 1, 0x1000);
        n_bytes = tracker_budget(tracker)->account->n_bytes;
        for (i = 0; i < 10000; i++) {
                emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", time++, 1, 0x1000);
                emit(tracker, stream, "DotNETRuntimeRundown:DCEndInit_V1", time++, 0, 0);
                emit(tracker, stream, "DotNETRuntimeRundown:DCEndComplete_V1", time++, 0, 0);
        }
        emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", time, 1, 0x1000);
        process = tracker_processes(tracker)->pdata[0];
        body = codemap_live(process->map, 0x1000);
        ck_assert_uint_le(body->extra->confirmations->len, BODY_MAX_CONFIRMATIONS);
        ck_assert_uint_le(process->rundowns->len, PROCESS_MAX_RUNDOWNS);
        ck_assert_uint_lt(tracker_budget(tracker)->account->n_bytes, n_bytes + 4096);
        /* The first and the last time are kept. */
        ck_assert_uint_eq(body_seen(body), 1);
        ck_assert_uint_eq(body_next_seen(body, 1), 2);
        ck_assert_uint_eq(body_last_seen(body), time);
        tracker_free(tracker);
}
END_TEST

/* A pid that is reused again and again: events and queries find the right generation. */
START_TEST(test_generations)
{
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        const Viewer viewer = {.sees_all = true};
        double seconds, begin = cpu_seconds(), loading;
        uint64_t i;

        for (i = 1; i <= N_GENERATIONS; i++) {
                emit(tracker, stream, "DotNETRuntime:RuntimeInformationStart", 10 * i, 0, 0);
                emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", 10 * i + 1, i, 0x1000);
        }
        ck_assert_uint_eq(tracker_processes(tracker)->len, N_GENERATIONS);
        loading = cpu_seconds() - begin;
        seconds = cpu_seconds();
        for (i = 1; i <= N_GENERATIONS; i++) {
                const Question question = {
                        .pid = 100, .address = 0x1000, .has_time = true, .time = 10 * i + 2};
                Answer answer;

                answer_question(tracker, &viewer, &question, &answer);
                ck_assert_int_eq(answer.status, ANSWER_OK);
                ck_assert_uint_eq(answer.body->method_id, i);
                answer_clear(&answer);
        }
        seconds = cpu_seconds() - seconds;
        /* Searching all generations for each query would take many times as long. */
        ck_assert_msg(seconds < 4 * loading, "%g s, loading: %g s", seconds, loading);
        tracker_free(tracker);
}
END_TEST

/* The longest texts of an event are truncated between two characters, and accounted. */
START_TEST(test_texts)
{
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        const Event *event = event_by_name("DotNETRuntime:RuntimeInformationStart");
        Record record = {.event = event, .time = 10, .process = {0, 100}};
        g_autoptr(GString) text = g_string_new("x");
        const Process *process;
        size_t n_bytes;
        unsigned i;

        while (text->len < 60000)
                g_string_append(text, "\u00e9");
        for (i = 0; i < event->n_fields; i++)
                record.values[i] = (Value){.data = (const uint8_t *)text->str};
        emit(tracker, stream, "DotNETRuntime:MethodLoadVerbose_V1", 5, 1, 0x1000);
        n_bytes = tracker_budget(tracker)->account->n_bytes;
        record.values[event_field(event, FIELD_CommandLine)].n = (uint32_t)text->len;
        record.values[event_field(event, FIELD_RuntimeDllPath)].n = (uint32_t)text->len;
        tracker_apply_record(tracker, stream, &record);
        process = tracker_process(tracker, &record.process);
        ck_assert_uint_eq(strlen(process->command), PROCESS_MAX_TEXT - 1);
        ck_assert(g_utf8_validate(process->command, -1, NULL));
        ck_assert_uint_eq(strlen(process->runtime_path), PROCESS_MAX_TEXT - 1);
        ck_assert_uint_ge(tracker_budget(tracker)->account->n_bytes,
                          n_bytes + 2 * PROCESS_MAX_TEXT);
        tracker_free(tracker);
}
END_TEST

/* Gaps of a trace without end: the tracker merges the oldest gaps. */
START_TEST(test_gaps)
{
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker);
        uint64_t i;

        for (i = 1; i <= 10 * TRACE_MAX_GAPS; i++)
                tracker_apply_gap(tracker, stream, &(StreamGap){GAP_EVENTS, 10 * i, 10 * i + 1, 1});
        ck_assert_uint_eq(stream->trace->gaps->len, TRACE_MAX_GAPS);
        ck_assert(trace_has_gap(stream->trace, 10, 10));
        ck_assert(trace_has_gap(stream->trace, 100 * TRACE_MAX_GAPS, UINT64_MAX));
        tracker_free(tracker);
}
END_TEST

/* A trace for each process: a trace is removed once it is complete and its process is evicted. */
START_TEST(test_traces)
{
        Tracker *tracker = tracker_new();
        g_autoptr(StreamIdentity) identity = stream_identity_new();
        Record record = {.event = event_by_name("DotNETRuntime:MethodLoadVerbose_V1")};
        size_t most = 0;
        unsigned i, k;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        tracker_set_budget(tracker, 8 << 20);
        for (i = 1; i <= 20000; i++) {
                TrackerStream *stream;

                memcpy(identity->trace_uuid, &i, sizeof(i));
                identity->scheme = BUFFER_SCHEME_PER_PID;
                stream = tracker_stream_open(tracker, identity);
                record.process.pid = (int32_t)i;
                record.time = 10 * i;
                for (k = 0; k < 2; k++, record.time++) {
                        if (k)
                                record.event = event_by_name("DotNETRuntime:AppDomainUnload_V1");
                        tracker_apply_record(tracker, stream, &record);
                }
                record.event = event_by_name("DotNETRuntime:MethodLoadVerbose_V1");
                tracker_apply_gap(tracker, stream, &(StreamGap){GAP_EVENTS, 10 * i, 10 * i + 1, 1});
                tracker_stream_close(tracker, stream);
                tracker_commit(tracker);
                most = MAX(most, tracker_budget(tracker)->account->n_bytes);
        }
        ck_assert_uint_le(most, 8 << 20);
        ck_assert_uint_gt(tracker_budget(tracker)->n_processes, 10000);
        ck_assert_ptr_null(tracker_stream_by_number(tracker, 4000));
        /* The gaps of removed traces still count. */
        ck_assert_double_eq_tol(tracker_gap_seconds(tracker), 20000 * 1e-9, 1e-7);
        /* A trace that is not closed stays. */
        ck_assert_ptr_nonnull(tracker_stream_by_number(tracker, 0));
        tracker_free(tracker);
}
END_TEST

/* Traces whose feeders vanished: the oldest are removed. Later records of such a trace begin with a
 * gap. */
START_TEST(test_idle_traces)
{
        Tracker *tracker = tracker_new();
        g_autoptr(StreamIdentity) identity = stream_identity_new();
        TrackerStream *stream, *kept = open_stream(tracker);
        size_t n_bytes = 0;
        unsigned i;

        emit(tracker, kept, "DotNETRuntime:MethodLoadVerbose_V1", 5, 1, 0x1000);
        tracker_stream_detach(tracker, kept);
        for (i = 1000; i <= 21000; i++) {
                memcpy(identity->trace_uuid, &i, sizeof(i));
                stream = tracker_stream_open(tracker, identity);
                tracker_apply_progress(tracker, stream, i);
                /* Before the first removal, no trace has a gap. */
                ck_assert(i > 1100 || !trace_has_gap(stream->trace, 0, i));
                tracker_stream_detach(tracker, stream);
                tracker_commit(tracker);
                if (i == 3000)
                        n_bytes = tracker_budget(tracker)->account->n_bytes;
        }
        ck_assert_uint_lt(tracker_budget(tracker)->account->n_bytes, 2 * n_bytes);
        ck_assert_ptr_null(tracker_stream_by_number(tracker, 1024));
        /* A trace with a process stays, and a recently used trace stays. */
        ck_assert_ptr_eq(tracker_stream_by_number(tracker, 0), kept);
        i = 20999;
        memcpy(identity->trace_uuid, &i, sizeof(i));
        stream = tracker_stream_open(tracker, identity);
        tracker_apply_progress(tracker, stream, 30000);
        ck_assert(trace_has_gap(stream->trace, i, i));
        i = 1001;
        memcpy(identity->trace_uuid, &i, sizeof(i));
        stream = tracker_stream_open(tracker, identity);
        tracker_apply_progress(tracker, stream, 30000);
        ck_assert(trace_has_gap(stream->trace, i, i));
        ck_assert(!trace_has_gap(stream->trace, 30000, UINT64_MAX));
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("bounds");
        TCase *tcase = tcase_create("bounds");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_candidates);
        tcase_add_test(tcase, test_turns);
        tcase_add_test(tcase, test_confirmations);
        tcase_add_test(tcase, test_generations);
        tcase_add_test(tcase, test_texts);
        tcase_add_test(tcase, test_gaps);
        tcase_add_test(tcase, test_traces);
        tcase_add_test(tcase, test_idle_traces);
        suite_add_tcase(suite, tcase);
        return suite;
}
