/* SPDX-License-Identifier: MIT */

/*
 * What a holder tells the daemon of the time in which it held nothing: it is told once there is a
 * daemon, by this holder or the next one.
 */

#include "attach/silences.h"

#include "attach/target.h"
#include "service/ingest-session.h"
#include "support/suite.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const ProcessKey KEY = {7, 100};

/* One that takes what it is told, or does not. */
typedef struct Daemon {
        char *path; /* owned */
        int listener;
        guint source;
        Tracker *tracker;       /* owned */
        IngestSession *session; /* owned; NULL: nobody is connected */
        int fd;
        guint input;
        unsigned n_refusals; /* so many are to be hung up on */
} Daemon;

static void hang_up(Daemon *daemon)
{
        g_clear_handle_id(&daemon->input, g_source_remove);
        g_clear_pointer(&daemon->session, ingest_session_free);
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
        ck_assert(ingest_session_feed(daemon->session, bytes, (size_t)n));
        output = ingest_session_output(daemon->session);
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
        daemon->session = ingest_session_new(daemon->tracker, false);
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
        IngestStream *identity = ingest_stream_new();
        Record record = {.event = event_by_name("DotNETRuntime:RuntimeInformationStart"),
                         .time = 1000,
                         .process = KEY};
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"0123456789abcdef";
        identity->trace_uuid[0] = 1;
        tracker_apply_record(daemon->tracker, tracker_stream_open(daemon->tracker, identity),
                             &record);
        ingest_stream_free(identity);
}

typedef struct Place {
        char *directory; /* owned */
        Daemon daemon;
        SilenceTarget target; /* ourselves: it runs */
        Silences *silences;
} Place;

static void ignore(void *data)
{
}

static void place_open(Place *place)
{
        place->silences = silences_new(place->directory, place->daemon.path, ignore, NULL);
}

static void place_init(Place *place)
{
        char state;

        *place = (Place){.directory = g_dir_make_tmp("clrsym-silences-XXXXXX", NULL),
                         .target = {getpid(), 0, KEY.pid, KEY.pid_ns}};
        ck_assert(target_state(getpid(), &state, &place->target.start_ticks));
        place->daemon.path = g_build_filename(place->directory, "ingest", NULL);
        place->daemon.tracker = tracker_new();
        place->daemon.listener = -1;
        put_event(&place->daemon);
        place_open(place);
}

static unsigned n_files(const Place *place)
{
        g_autoptr(GDir) files = g_dir_open(place->directory, 0, NULL);
        const char *name;
        unsigned n = 0;

        while ((name = g_dir_read_name(files)))
                n += g_str_has_prefix(name, "silent-");
        return n;
}

static void place_deinit(Place *place)
{
        g_autoptr(GDir) files = NULL;
        const char *name;

        silences_free(place->silences);
        if (place->daemon.session)
                hang_up(&place->daemon);
        g_clear_handle_id(&place->daemon.source, g_source_remove);
        if (place->daemon.listener >= 0)
                close(place->daemon.listener);
        tracker_free(place->daemon.tracker);
        files = g_dir_open(place->directory, 0, NULL);
        while ((name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(place->directory, name, NULL);

                g_unlink(path);
        }
        g_rmdir(place->directory);
        g_free(place->daemon.path);
        g_free(place->directory);
}

static const Lapses *lapses(const Place *place)
{
        return &tracker_process(place->daemon.tracker, &KEY)->lapses;
}

/* A condition, with what happens meanwhile; the test's own time limit ends it. */
#define WAIT_FOR(condition)                                                                        \
        while (!(condition))                                                                       \
        g_main_context_iteration(NULL, TRUE)

START_TEST(test_told)
{
        Place place;

        place_init(&place);
        daemon_start(&place.daemon);
        silences_begin(place.silences, &place.target, 5000);
        WAIT_FOR(lapses(&place)->open == 5000);
        WAIT_FOR(!silences_is_pending(place.silences) && !place.daemon.session);
        ck_assert_uint_eq(n_files(&place), 1);
        /* Told again, it begins where it began. */
        silences_begin(place.silences, &place.target, 6000);
        silences_end(place.silences, &place.target, 7000);
        WAIT_FOR(lapses(&place)->open == BODY_FOREVER);
        ck_assert(lapses_touch(lapses(&place), 5000, 5000));
        ck_assert(lapses_touch(lapses(&place), 6999, 6999));
        ck_assert(!lapses_touch(lapses(&place), 7000, BODY_FOREVER));
        WAIT_FOR(!n_files(&place));
        place_deinit(&place);
}
END_TEST

/* It begins and ends, and there is no daemon; the next holder finds one. */
START_TEST(test_next_holder)
{
        Place place;

        place_init(&place);
        silences_begin(place.silences, &place.target, 5000);
        silences_end(place.silences, &place.target, 7000);
        silences_begin(place.silences, &place.target, 8000);
        ck_assert_uint_eq(n_files(&place), 2);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        ck_assert(!silences_is_pending(place.silences)); /* there is nobody to stay for */
        silences_free(place.silences);
        ck_assert_uint_eq(n_files(&place), 2);
        daemon_start(&place.daemon);
        place_open(&place);
        WAIT_FOR(lapses(&place)->open == 8000);
        ck_assert(lapses_touch(lapses(&place), 5000, 6999));
        ck_assert(!lapses_touch(lapses(&place), 7000, 7999));
        WAIT_FOR(n_files(&place) == 1);
        silences_end(place.silences, &place.target, 9000);
        WAIT_FOR(!n_files(&place));
        ck_assert(!lapses_touch(lapses(&place), 9000, BODY_FOREVER));
        place_deinit(&place);
}
END_TEST

/* A daemon that goes before it has taken it. */
START_TEST(test_retry)
{
        Place place;

        place_init(&place);
        place.daemon.n_refusals = 2;
        daemon_start(&place.daemon);
        silences_begin(place.silences, &place.target, 5000);
        WAIT_FOR(lapses(&place)->open == 5000);
        ck_assert_uint_eq(place.daemon.n_refusals, 0);
        place_deinit(&place);
}
END_TEST

/* The last words of a holder that is told to end. */
START_TEST(test_last_words)
{
        Place place;

        place_init(&place);
        daemon_start(&place.daemon);
        silences_begin(place.silences, &place.target, 5000);
        silences_free(place.silences);
        ck_assert(lapses(&place)->open == 5000);
        place_open(&place);
        place_deinit(&place);
}
END_TEST

/* That it is held ends what another holder has told. */
START_TEST(test_word)
{
        Place place;

        place_init(&place);
        tracker_apply_process_gap(place.daemon.tracker, &(IngestProcessGap){KEY, 5000, UINT64_MAX});
        daemon_start(&place.daemon);
        silences_end(place.silences, &place.target, 6000);
        ck_assert_uint_eq(n_files(&place), 0);
        WAIT_FOR(lapses(&place)->open == BODY_FOREVER);
        ck_assert(lapses_touch(lapses(&place), 5000, 5999));
        ck_assert(!lapses_touch(lapses(&place), 6000, BODY_FOREVER));
        place_deinit(&place);
}
END_TEST

/* What lies there is not believed; and of who is gone, what was told is not kept. */
START_TEST(test_files)
{
        static const struct {
                const char *name;
                const char *text;
                bool is_kept;
        } FILES[] = {
                {"silent-1-2", "1 2 3 0\n", true},
                {"silent-x-2-3", "", true},
                {"silent-1-2-3", "", false},
                {"silent-1-2-4", "1 2 3 0\n", false},
                {"silent-2147483647-1-5", "100 7 18446744073709551615 1\n", false},
                {"silent-2147483647-1-6", "100 7 18446744073709551615 0\n", true},
        };
        Place place;
        size_t i;

        place_init(&place);
        silences_free(place.silences);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                g_autofree char *path = g_build_filename(place.directory, FILES[i].name, NULL);

                ck_assert(g_file_set_contents(path, FILES[i].text, -1, NULL));
        }
        place_open(&place);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                g_autofree char *path = g_build_filename(place.directory, FILES[i].name, NULL);

                ck_assert_msg((g_access(path, F_OK) == 0) == FILES[i].is_kept, "%s", path);
        }
        daemon_start(&place.daemon);
        WAIT_FOR(lapses(&place)->open == 6);
        place_deinit(&place);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("silences");
        TCase *tcase = tcase_create("silences");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_told);
        tcase_add_test(tcase, test_next_holder);
        tcase_add_test(tcase, test_retry);
        tcase_add_test(tcase, test_last_words);
        tcase_add_test(tcase, test_word);
        tcase_add_test(tcase, test_files);
        suite_add_tcase(suite, tcase);
        return suite;
}
