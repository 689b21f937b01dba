/* SPDX-License-Identifier: MIT */

/*
 * Process gaps that a holder reports: the daemon gets each gap once, from this holder or from the
 * next holder.
 */

#include "attach/gap-log.h"

#include "support/suite.h"
#include "util/proc-stat.h"
#include "wire/ingest-connection.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const ProcessKey KEY = {7, 100};

/* A daemon that can refuse connections at first. */
typedef struct Daemon {
        char *path; /* owned */
        int listener;
        guint source;
        Tracker *tracker;          /* owned */
        IngestConnection *session; /* owned; NULL: no connection */
        int fd;
        guint input;
        unsigned n_refusals; /* number of connections that the daemon will close at once */
} Daemon;

static void hang_up(Daemon *daemon)
{
        g_clear_handle_id(&daemon->input, g_source_remove);
        g_clear_pointer(&daemon->session, ingest_connection_free);
        close(daemon->fd);
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
        Daemon *daemon = data;
        GByteArray *output;
        uint8_t bytes[512];
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

        if (n <= 0) {
                daemon->input = 0;
                hang_up(daemon);
                return G_SOURCE_REMOVE;
        }
        ck_assert(ingest_connection_feed(daemon->session, bytes, (size_t)n));
        output = ingest_connection_output(daemon->session);
        ck_assert_int_eq(send(fd, output->data, output->len, MSG_NOSIGNAL), output->len);
        g_byte_array_set_size(output, 0);
        return G_SOURCE_CONTINUE;
}

static gboolean on_connect(gint fd, GIOCondition condition, gpointer data)
{
        Daemon *daemon = data;

        ck_assert(!daemon->session);
        daemon->fd = accept(fd, NULL, NULL);
        ck_assert_int_ge(daemon->fd, 0);
        if (daemon->n_refusals) {
                daemon->n_refusals--;
                close(daemon->fd);
                return G_SOURCE_CONTINUE;
        }
        daemon->session = ingest_connection_new(daemon->tracker, false);
        daemon->input = g_unix_fd_add(daemon->fd, G_IO_IN | G_IO_HUP, on_input, daemon);
        return G_SOURCE_CONTINUE;
}

static void daemon_start(Daemon *daemon)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        g_strlcpy(address.sun_path, daemon->path, sizeof(address.sun_path));
        daemon->listener = socket(AF_UNIX, SOCK_STREAM, 0);
        ck_assert_int_eq(bind(daemon->listener, (struct sockaddr *)&address, sizeof(address)), 0);
        ck_assert_int_eq(listen(daemon->listener, 5), 0);
        daemon->source = g_unix_fd_add(daemon->listener, G_IO_IN, on_connect, daemon);
}

static void put_event(Daemon *daemon)
{
        StreamIdentity *identity = stream_identity_new();
        Record record = {.event = event_by_name("DotNETRuntime:RuntimeInformationStart"),
                         .time = 1000,
                         .process = KEY};
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"0123456789abcdef";
        identity->trace_uuid[0] = 1;
        tracker_apply_record(daemon->tracker, tracker_stream_open(daemon->tracker, identity),
                             &record);
        stream_identity_free(identity);
}

typedef struct Fixture {
        char *directory; /* owned */
        Daemon daemon;
        GapTarget target; /* this process, because it runs */
        GapLog *log;
} Fixture;

static void ignore(void *data)
{
}

static void fixture_open(Fixture *fixture)
{
        fixture->log = gap_log_new(fixture->directory, fixture->daemon.path, ignore, NULL);
}

static void fixture_init(Fixture *fixture)
{
        ProcStat stat;

        *fixture = (Fixture){.directory = g_dir_make_tmp("clrsym-gap-log-XXXXXX", NULL),
                             .target = {getpid(), 0, KEY.pid, KEY.pid_ns}};
        ck_assert(proc_stat_read(getpid(), &stat));
        fixture->target.start_ticks = stat.start_ticks;
        fixture->daemon.path = g_build_filename(fixture->directory, "ingest", NULL);
        fixture->daemon.tracker = tracker_new();
        fixture->daemon.listener = -1;
        put_event(&fixture->daemon);
        fixture_open(fixture);
}

static unsigned n_files(const Fixture *fixture)
{
        g_autoptr(GDir) files = g_dir_open(fixture->directory, 0, NULL);
        const char *name;
        unsigned n = 0;

        while ((name = g_dir_read_name(files)))
                n += g_str_has_prefix(name, "gap-");
        return n;
}

static void fixture_deinit(Fixture *fixture)
{
        g_autoptr(GDir) files = NULL;
        const char *name;

        gap_log_free(fixture->log);
        if (fixture->daemon.session)
                hang_up(&fixture->daemon);
        g_clear_handle_id(&fixture->daemon.source, g_source_remove);
        if (fixture->daemon.listener >= 0)
                close(fixture->daemon.listener);
        tracker_free(fixture->daemon.tracker);
        files = g_dir_open(fixture->directory, 0, NULL);
        while ((name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(fixture->directory, name, NULL);

                g_unlink(path);
        }
        g_rmdir(fixture->directory);
        g_free(fixture->daemon.path);
        g_free(fixture->directory);
}

static const ProcessGaps *process_gaps(const Fixture *fixture)
{
        return &tracker_process(fixture->daemon.tracker, &KEY)->gaps;
}

/* Runs the main loop until CONDITION; the test's time limit ends it otherwise. */
#define WAIT_FOR(condition)                                                                        \
        while (!(condition))                                                                       \
        g_main_context_iteration(NULL, TRUE)

START_TEST(test_report)
{
        Fixture fixture;

        fixture_init(&fixture);
        daemon_start(&fixture.daemon);
        gap_log_begin(fixture.log, &fixture.target, 5000);
        WAIT_FOR(process_gaps(&fixture)->open_since == 5000);
        WAIT_FOR(!gap_log_is_pending(fixture.log) && !fixture.daemon.session);
        ck_assert_uint_eq(n_files(&fixture), 1);
        /* An open gap keeps its begin. */
        gap_log_begin(fixture.log, &fixture.target, 6000);
        gap_log_end(fixture.log, &fixture.target, 7000);
        WAIT_FOR(process_gaps(&fixture)->open_since == BODY_FOREVER);
        ck_assert(process_gaps_touch(process_gaps(&fixture), 5000, 5000));
        ck_assert(process_gaps_touch(process_gaps(&fixture), 6999, 6999));
        ck_assert(!process_gaps_touch(process_gaps(&fixture), 7000, BODY_FOREVER));
        WAIT_FOR(!n_files(&fixture));
        fixture_deinit(&fixture);
}
END_TEST

/* A holder without its directory does not wait for the daemon. */
START_TEST(test_directory_gone)
{
        g_autofree char *elsewhere = NULL;
        Fixture fixture;

        fixture_init(&fixture);
        elsewhere = g_strconcat(fixture.directory, ".moved", NULL);
        daemon_start(&fixture.daemon);
        gap_log_begin(fixture.log, &fixture.target, 5000);
        WAIT_FOR(process_gaps(&fixture)->open_since == 5000);
        WAIT_FOR(!gap_log_is_pending(fixture.log) && !fixture.daemon.session);
        gap_log_end(fixture.log, &fixture.target, 7000);
        ck_assert(gap_log_is_pending(fixture.log));
        ck_assert_int_eq(g_rename(fixture.directory, elsewhere), 0);
        ck_assert(!gap_log_is_pending(fixture.log));
        ck_assert_int_eq(g_rename(elsewhere, fixture.directory), 0);
        ck_assert(gap_log_is_pending(fixture.log));
        fixture_deinit(&fixture);
}
END_TEST

/* A gap begins and ends without a daemon; the next holder reports the gap. */
START_TEST(test_next_holder)
{
        Fixture fixture;

        fixture_init(&fixture);
        gap_log_begin(fixture.log, &fixture.target, 5000);
        gap_log_end(fixture.log, &fixture.target, 7000);
        gap_log_begin(fixture.log, &fixture.target, 8000);
        ck_assert_uint_eq(n_files(&fixture), 2);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        ck_assert(!gap_log_is_pending(fixture.log)); /* no daemon has answered */
        gap_log_free(fixture.log);
        ck_assert_uint_eq(n_files(&fixture), 2);
        daemon_start(&fixture.daemon);
        fixture_open(&fixture);
        WAIT_FOR(process_gaps(&fixture)->open_since == 8000);
        ck_assert(process_gaps_touch(process_gaps(&fixture), 5000, 6999));
        ck_assert(!process_gaps_touch(process_gaps(&fixture), 7000, 7999));
        WAIT_FOR(n_files(&fixture) == 1);
        gap_log_end(fixture.log, &fixture.target, 9000);
        WAIT_FOR(!n_files(&fixture));
        ck_assert(!process_gaps_touch(process_gaps(&fixture), 9000, BODY_FOREVER));
        fixture_deinit(&fixture);
}
END_TEST

/* A daemon disconnects before it has the gap. */
START_TEST(test_retry)
{
        Fixture fixture;

        fixture_init(&fixture);
        fixture.daemon.n_refusals = 2;
        daemon_start(&fixture.daemon);
        gap_log_begin(fixture.log, &fixture.target, 5000);
        WAIT_FOR(process_gaps(&fixture)->open_since == 5000);
        ck_assert_uint_eq(fixture.daemon.n_refusals, 0);
        fixture_deinit(&fixture);
}
END_TEST

/* A holder that ends reports its gaps first. */
START_TEST(test_report_at_end)
{
        Fixture fixture;

        fixture_init(&fixture);
        daemon_start(&fixture.daemon);
        gap_log_begin(fixture.log, &fixture.target, 5000);
        gap_log_free(fixture.log);
        ck_assert(process_gaps(&fixture)->open_since == 5000);
        fixture_open(&fixture);
        fixture_deinit(&fixture);
}
END_TEST

/* A report that a target is held ends the gap that another holder reported. */
START_TEST(test_held)
{
        Fixture fixture;

        fixture_init(&fixture);
        tracker_apply_process_gap(fixture.daemon.tracker, &(ProcessGap){KEY, 5000, UINT64_MAX});
        daemon_start(&fixture.daemon);
        gap_log_end(fixture.log, &fixture.target, 6000);
        ck_assert_uint_eq(n_files(&fixture), 0);
        WAIT_FOR(process_gaps(&fixture)->open_since == BODY_FOREVER);
        ck_assert(process_gaps_touch(process_gaps(&fixture), 5000, 5999));
        ck_assert(!process_gaps_touch(process_gaps(&fixture), 6000, BODY_FOREVER));
        fixture_deinit(&fixture);
}
END_TEST

/*
 * The holder removes damaged files, and the file of a reported gap of an ended target. A file of an
 * earlier version is renamed.
 */
START_TEST(test_files)
{
        static const struct {
                const char *name;
                const char *text;
                const char *kept; /* name of the file afterwards; NULL: the file is removed */
        } FILES[] = {
                {"gap-1-2", "1 2 3 0\n", "gap-1-2"},
                {"gap-x-2-3", "", "gap-x-2-3"},
                {"gap-1-2-3", "", NULL},
                {"gap-1-2-4", "1 2 3 0\n", NULL},
                {"gap-2147483647-1-5", "100 7 18446744073709551615 1\n", NULL},
                {"gap-2147483647-1-6", "100 7 18446744073709551615 0\n", "gap-2147483647-1-6"},
                {"silent-1-2", "1 2 3 0\n", "silent-1-2"},
                {"silent-x-2-3", "", "silent-x-2-3"},
                {"silent-1-2-3", "", NULL},
                {"silent-1-2-4", "1 2 3 0\n", NULL},
                {"silent-2147483646-1-5", "100 7 18446744073709551615 1\n", NULL},
                {"silent-2147483646-1-6", "100 7 18446744073709551615 0\n", "gap-2147483646-1-6"},
        };
        Fixture fixture;
        unsigned n = 0;
        size_t i;

        fixture_init(&fixture);
        gap_log_free(fixture.log);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                g_autofree char *path = g_build_filename(fixture.directory, FILES[i].name, NULL);

                ck_assert(g_file_set_contents(path, FILES[i].text, -1, NULL));
        }
        fixture_open(&fixture);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                g_autofree char *path = g_build_filename(fixture.directory, FILES[i].name, NULL);

                if (g_strcmp0(FILES[i].name, FILES[i].kept) != 0)
                        ck_assert_msg(g_access(path, F_OK) < 0, "%s", path);
                if (FILES[i].kept) {
                        g_autofree char *kept =
                                g_build_filename(fixture.directory, FILES[i].kept, NULL);

                        ck_assert_msg(g_access(kept, F_OK) == 0, "%s", kept);
                        n += g_str_has_prefix(FILES[i].kept, "gap-");
                }
        }
        ck_assert_uint_eq(n_files(&fixture), n);
        daemon_start(&fixture.daemon);
        WAIT_FOR(process_gaps(&fixture)->open_since == 6);
        fixture_deinit(&fixture);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-gap-log");
        TCase *tcase = tcase_create("attach-gap-log");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_report);
        tcase_add_test(tcase, test_directory_gone);
        tcase_add_test(tcase, test_next_holder);
        tcase_add_test(tcase, test_retry);
        tcase_add_test(tcase, test_report_at_end);
        tcase_add_test(tcase, test_held);
        tcase_add_test(tcase, test_files);
        suite_add_tcase(suite, tcase);
        return suite;
}
