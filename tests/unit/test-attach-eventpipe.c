/* SPDX-License-Identifier: MIT */
#include "attach/error.h"
#include "attach/eventpipe-session.h"

#include "support/suite.h"
#include "util/unix-socket.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/pidfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK           "\xff\x00"
#define ERROR        "\xff\xff"
#define UNKNOWN      "\x85\x13\x13\x80"
#define BAD_ENCODING "\x84\x13\x13\x80"
#define FAILURE      "\x05\x40\x00\x80"

/* One connection in the script of a fake runtime. */
typedef struct Turn {
        uint16_t command;  /* command that the runtime expects; 0 ends the script */
        const char *kind;  /* kind of the reply; NULL: no reply */
        const char *bytes; /* bytes of the reply */
        size_t n;
        size_t n_stream; /* number of bytes of the stream that follow the reply at once */
        bool is_left_open;
        bool is_ending;    /* n_stream goes to the open connection, which then closes */
        size_t n_endless;  /* instead, bytes at a time there, without end */
        unsigned pause_ms; /* pause between two writes */
} Turn;

/* The fake runtime is a process of its own, so that the test can kill it. It listens as a .NET
 * runtime does. */
static char *directory;
static pid_t runtime;

static void write_all(int fd, const void *bytes, size_t n, size_t piece)
{
        const char *at = bytes;

        while (n > 0) {
                ssize_t sent = send(fd, at, MIN(n, piece), MSG_NOSIGNAL);

                if (sent <= 0)
                        _exit(3);
                at += sent;
                n -= (size_t)sent;
        }
}

static void write_stream(int fd, size_t n)
{
        g_autofree char *bytes = g_malloc0(n);

        if (n)
                write_all(fd, bytes, n, SIZE_MAX);
}

static void write_reply(int fd, const Turn *turn, size_t piece)
{
        g_autoptr(GByteArray) reply = g_byte_array_new();
        const uint16_t size = GUINT16_TO_LE(20 + turn->n);

        g_byte_array_append(reply, (const uint8_t *)"DOTNET_IPC_V1", 14);
        g_byte_array_append(reply, (const uint8_t *)&size, 2);
        g_byte_array_append(reply, (const uint8_t *)turn->kind, 2);
        g_byte_array_append(reply, (const uint8_t *)"\0", 2);
        g_byte_array_append(reply, (const uint8_t *)turn->bytes, (guint)turn->n);
        write_all(fd, reply->data, reply->len, piece);
}

/* Reads a request and checks that its command is COMMAND. */
static void expect(int fd, uint16_t command)
{
        uint8_t bytes[4096];
        uint16_t size;

        if (recv(fd, bytes, 20, MSG_WAITALL) != 20)
                _exit(4);
        memcpy(&size, bytes + 14, 2);
        size = (uint16_t)(GUINT16_FROM_LE(size) - 20);
        if (size && recv(fd, bytes + 20, size, MSG_WAITALL) != size)
                _exit(5);
        if ((bytes[16] << 8 | bytes[17]) != command)
                _exit(6);
}

static void write_endless(int fd, const Turn *turn)
{
        for (;;) {
                write_stream(fd, turn->n_endless);
                g_usleep(turn->pause_ms * 1000);
        }
}

static void play(int listener, const Turn *turn, size_t piece)
{
        int open_fd = -1;

        for (; turn->command; turn++) {
                int fd = accept(listener, NULL, NULL);

                expect(fd, turn->command);
                if (turn->n_endless)
                        write_endless(open_fd, turn);
                if (turn->is_ending) {
                        write_stream(open_fd, turn->n_stream);
                        close(open_fd);
                }
                if (turn->kind)
                        write_reply(fd, turn, piece);
                if (!turn->is_ending)
                        write_stream(fd, turn->n_stream);
                if (turn->is_left_open)
                        open_fd = fd;
                else
                        close(fd);
        }
}

static int bind_at(const char *name)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
        if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                _exit(2);
        return fd;
}

static int listen_at(const char *name)
{
        int fd = bind_at(name);

        if (listen(fd, 8) < 0)
                _exit(2);
        return fd;
}

/* Starts a runtime that plays TURNS, sends PIECE bytes at a time, and stays for SECONDS after that.
 */
static void start_runtime(const Turn *turns, size_t piece, unsigned seconds)
{
        int ready[2];
        char byte;

        ck_assert_int_eq(pipe(ready), 0);
        runtime = fork();
        if (runtime == 0) {
                g_autofree char *name = g_strdup_printf("dotnet-diagnostic-%d-5-socket", getpid());
                int listener;

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                listener = listen_at(name);
                if (write(ready[1], "r", 1) != 1)
                        _exit(7);
                play(listener, turns, piece);
                sleep(seconds);
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
}

static Target target_of(pid_t pid)
{
        Target target = {.start_ticks = 1, .directory = g_strdup(directory), .has_coreclr = true};

        ck_assert(proc_read(pid, &target.info));
        target.pidfd = pidfd_open(pid, 0);
        ck_assert_int_ge(target.pidfd, 0);
        return target;
}

static void end_runtime(int expected)
{
        int status;

        ck_assert_int_eq(waitpid(runtime, &status, 0), runtime);
        ck_assert_int_eq(WIFEXITED(status) ? WEXITSTATUS(status) : -1, expected);
}

#define REPLY(what, how, payload, size)                                                            \
        .command = (what), .kind = (how), .bytes = (payload), .n = (size)
#define SESSION(what, id) REPLY(what, OK, id "\0\0\0\0\0\0\0", 8)

/* The client tries commands from the newest on, until the runtime knows one. */
START_TEST(test_open)
{
        static const struct {
                Turn turns[4];
                bool is_persistent;
        } ROWS[] = {
                {{{SESSION(0x0206, "a"), .is_left_open = true}}, true},
                {{{REPLY(0x0206, ERROR, UNKNOWN, 4)}, {SESSION(0x0205, "a"), .is_left_open = true}},
                 false},
                {{{REPLY(0x0206, ERROR, BAD_ENCODING, 4)},
                  {REPLY(0x0205, ERROR, UNKNOWN, 4)},
                  {SESSION(0x0203, "a"), .n_stream = 100000, .is_left_open = true}},
                 false},
        };
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeSession session;

        start_runtime(ROWS[_i].turns, 1, 0);
        target = target_of(runtime);
        ck_assert_msg(eventpipe_session_open(&target, &session, &error), "%s",
                      error ? error->message : "");
        ck_assert_uint_eq(session.id, 'a');
        ck_assert_int_eq(session.is_persistent, ROWS[_i].is_persistent);
        end_runtime(0);
        ck_assert(!eventpipe_session_drain(&session));
        close(session.fd);
}
END_TEST

/* The target ended, and another process with its pid listens on a socket of the same name. */
START_TEST(test_number_again)
{
        static const Turn TURNS[] = {{SESSION(0x0206, "a"), .is_left_open = true}, {0}};
        const pid_t ended = fork();
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeSession session;

        if (ended == 0)
                _exit(0);
        start_runtime(TURNS, 1, 60);
        target = target_of(runtime);
        close(target.pidfd);
        target.pidfd = pidfd_open(ended, 0);
        ck_assert_int_eq(waitpid(ended, NULL, 0), ended);
        ck_assert(!eventpipe_session_open(&target, &session, &error));
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_ENDED), "%s",
                      error->message);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

/* Replies to the last command, and the error of each. */
START_TEST(test_refusals)
{
        static const struct {
                Turn turn;
                AttachError code;
                const char *part;
        } ROWS[] = {
                {{REPLY(0x0203, ERROR, UNKNOWN, 4)}, ATTACH_ERROR_TOO_OLD, "too old"},
                {{REPLY(0x0203, ERROR, FAILURE, 4)}, ATTACH_ERROR_REFUSED, "0x80004005"},
                {{REPLY(0x0203, ERROR, "", 0)}, ATTACH_ERROR_BROKEN, "does not answer as"},
                {{REPLY(0x0203, OK, "1234567", 7)}, ATTACH_ERROR_BROKEN, "does not answer as"},
                {{REPLY(0x0203, OK, "123456789", 9)}, ATTACH_ERROR_BROKEN, "does not answer as"},
                {{REPLY(0x0203, "\x01\x00", "12345678", 8)},
                 ATTACH_ERROR_BROKEN,
                 "does not answer as"},
                {{REPLY(0x0203, NULL, NULL, 0)}, ATTACH_ERROR_BROKEN, "disconnected"},
                {{REPLY(0x0203, NULL, NULL, 0), .n_stream = 3000}, ATTACH_ERROR_BROKEN, "does not"},
                {{REPLY(0x0203, NULL, NULL, 0), .n_stream = 19},
                 ATTACH_ERROR_BROKEN,
                 "disconnected"},
        };
        const Turn turns[] = {{REPLY(0x0206, ERROR, UNKNOWN, 4)},
                              {REPLY(0x0205, ERROR, UNKNOWN, 4)},
                              ROWS[_i].turn,
                              {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeSession session;

        start_runtime(turns, SIZE_MAX, 60);
        target = target_of(runtime);
        ck_assert(!eventpipe_session_open(&target, &session, &error));
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, (int)ROWS[_i].code), "%s",
                      error->message);
        ck_assert_msg(strstr(error->message, ROWS[_i].part) != NULL, "%s", error->message);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

static const EventPipeWait WAIT = {.interrupt_fd = -1};

/* Megabytes precede the reply to the stop: unless the client reads them, the reply never comes. */
START_TEST(test_rundown)
{
        static const struct {
                size_t n_stream;
                bool is_empty;
        } ROWS[] = {{8u << 20, false}, {300000, false}, {0, true}};
        const Turn turns[] = {
                {SESSION(0x0205, "r"), .is_left_open = true},
                {SESSION(0x0201, "r"), .n_stream = ROWS[_i].n_stream, .is_ending = true},
                {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown;

        start_runtime(turns, 1, 0);
        target = target_of(runtime);
        ck_assert_msg(eventpipe_rundown(&target, &WAIT, &rundown, &error), "%s",
                      error ? error->message : "");
        ck_assert_uint_lt(rundown.begin, rundown.end);
        ck_assert_uint_le(rundown.end, eventpipe_session_clock());
        ck_assert_int_eq(rundown.is_empty, ROWS[_i].is_empty);
        end_runtime(0);
}
END_TEST

/* .NET 8 knows only the command that has no keywords for the rundown. */
START_TEST(test_old_rundown)
{
        const Turn turns[] = {{REPLY(0x0205, ERROR, UNKNOWN, 4)},
                              {SESSION(0x0203, "r"), .is_left_open = true},
                              {SESSION(0x0201, "r"), .n_stream = 300000, .is_ending = true},
                              {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown;

        start_runtime(turns, SIZE_MAX, 0);
        target = target_of(runtime);
        ck_assert_msg(eventpipe_rundown(&target, &WAIT, &rundown, &error), "%s",
                      error ? error->message : "");
        ck_assert(!rundown.is_empty);
        end_runtime(0);
}
END_TEST

/* The runtime refuses the stop, or the target dies during the rundown. */
START_TEST(test_bad_rundown)
{
        static const struct {
                Turn turn;
                unsigned seconds;
                AttachError code;
        } ROWS[] = {
                {{REPLY(0x0201, ERROR, FAILURE, 4), .n_stream = 100, .is_ending = true},
                 60,
                 ATTACH_ERROR_REFUSED},
                {{REPLY(0x0201, NULL, NULL, 0), .n_stream = 100, .is_ending = true},
                 60,
                 ATTACH_ERROR_BROKEN},
                {{0}, 0, ATTACH_ERROR_ENDED},
        };
        const Turn turns[] = {{SESSION(0x0205, "r"), .is_left_open = true}, ROWS[_i].turn, {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown;

        start_runtime(turns, SIZE_MAX, ROWS[_i].seconds);
        target = target_of(runtime);
        ck_assert(!eventpipe_rundown(&target, &WAIT, &rundown, &error));
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, (int)ROWS[_i].code), "%s",
                      error->message);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

static void count_bytes(void *data, const uint8_t *bytes, size_t n)
{
        *(size_t *)data += n;
}

/* A runtime that is ending writes the rest of a session before it answers a request for another
 * session. */
START_TEST(test_answer_after_rest)
{
        const size_t n_rest = 8u << 20;
        const Turn turns[] = {
                {SESSION(0x0206, "a"), .is_left_open = true},
                {SESSION(0x0203, "p"), .n_stream = n_rest, .is_ending = true, .is_left_open = true},
                {SESSION(0x0201, "p"), .is_ending = true},
                {0}};
        size_t n_taken = 0;
        const EventPipeSink sink = {count_bytes, &n_taken};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeSession session;
        EventPipeWait wait = {.other = &session, .interrupt_fd = -1};

        start_runtime(turns, SIZE_MAX, 0);
        target = target_of(runtime);
        ck_assert(eventpipe_session_open_read(&target, &sink, false, &session, &error));
        ck_assert_msg(eventpipe_ping(&target, &wait, &error), "%s", error ? error->message : "");
        ck_assert_uint_eq(n_taken, n_rest);
        eventpipe_session_close(&session);
        end_runtime(0);
}
END_TEST

static bool take_byte(void *data)
{
        const int *fd = data;
        char byte;

        return read(*fd, &byte, 1) == 1;
}

/* A rundown without an end, slow or as fast as the client reads: the client stops at a limit, and
 * immediately on request. */
START_TEST(test_endless_rundown)
{
        static const struct {
                size_t n;
                unsigned pause_ms;
                bool is_interrupted;
                AttachError code;
        } ROWS[] = {
                {1, 50, false, ATTACH_ERROR_UNRESPONSIVE},
                {1u << 20, 0, false, ATTACH_ERROR_UNRESPONSIVE},
                {1, 50, true, ATTACH_ERROR_FAILED},
                {1u << 20, 0, true, ATTACH_ERROR_FAILED},
        };
        const Turn turns[] = {{SESSION(0x0205, "r"), .is_left_open = true},
                              {REPLY(0x0201, NULL, NULL, 0), .n_endless = ROWS[_i].n,
                               .pause_ms = ROWS[_i].pause_ms},
                              {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown;
        EventPipeWait wait = {.limit = G_TIME_SPAN_SECOND, .interrupt = take_byte};
        gint64 begin = g_get_monotonic_time();
        int order[2];

        ck_assert_int_eq(pipe(order), 0);
        wait.interrupt_fd = order[0];
        wait.data = &order[0];
        start_runtime(turns, SIZE_MAX, 60);
        target = target_of(runtime);
        if (ROWS[_i].is_interrupted)
                ck_assert_int_eq(write(order[1], "q", 1), 1);
        ck_assert(!eventpipe_rundown(&target, &wait, &rundown, &error));
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, (int)ROWS[_i].code), "%s",
                      error->message);
        ck_assert_int_lt(g_get_monotonic_time() - begin, 20 * G_TIME_SPAN_SECOND);
        close(order[0]);
        close(order[1]);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

/* A runtime that accepts and does not answer, a stopped runtime, and a runtime that does not
 * accept. */
START_TEST(test_unresponsive)
{
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GByteArray) request = ipc_process_info_new();
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        gint64 begin = g_get_monotonic_time();
        g_autoptr(GError) error = NULL;
        PortCall call;
        int fd;

        start_runtime(&(const Turn){0}, 1, 60);
        target = target_of(runtime);
        if (_i == 1)
                kill(runtime, SIGSTOP);
        fd = port_connect(&target, begin + G_TIME_SPAN_SECOND / 2, &error);
        ck_assert_int_ge(fd, 0);
        call = (PortCall){fd, &target, begin + G_TIME_SPAN_SECOND / 2, {.fd = -1}};
        ck_assert(!port_call(&call, request, reply, &error));
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE), "%s",
                      error->message);
        ck_assert_msg(strstr(error->message, _i ? "kill -CONT" : "try again") != NULL, "%s",
                      error->message);
        /* Fill the backlog of the socket. */
        while (fd >= 0) {
                g_clear_error(&error);
                fd = port_connect(&target, begin + G_TIME_SPAN_SECOND / 2, &error);
        }
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE), "%s",
                      error->message);
        ck_assert_int_lt(g_get_monotonic_time() - begin, 10 * G_TIME_SPAN_SECOND);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

/* The socket exists before the runtime listens, and the process ends afterwards. */
START_TEST(test_starting)
{
        g_autoptr(GError) error = NULL;
        g_auto(Target) target = {.pidfd = -1};
        int ready[2], fd;
        gint64 begin;
        char byte;

        ck_assert_int_eq(pipe(ready), 0);
        runtime = fork();
        if (runtime == 0) {
                g_autofree char *name = g_strdup_printf("dotnet-diagnostic-%d-1-socket", getpid());
                int listener = bind_at(name);

                if (write(ready[1], "r", 1) != 1)
                        _exit(7);
                g_usleep(100000);
                if (listen(listener, 8) < 0 || accept(listener, NULL, NULL) < 0)
                        _exit(2);
                g_usleep(100000);
                close(listener);
                g_usleep(100000);
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        target = target_of(runtime);
        begin = g_get_monotonic_time();
        close(ready[0]);
        close(ready[1]);
        fd = port_connect(&target, begin + PORT_TIMEOUT, &error);
        ck_assert_msg(fd >= 0, "%s", error ? error->message : "");
        ck_assert(!target_has_ended(&target));
        close(fd);
        g_usleep(150000);
        ck_assert_int_eq(port_connect(&target, begin + PORT_TIMEOUT, &error), -1);
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_ENDED), "%s",
                      error->message);
        end_runtime(0);
}
END_TEST

/* A socket of another process, with the target's name and a full backlog, has no effect. */
START_TEST(test_full_decoy)
{
        g_autoptr(GError) error = NULL;
        g_auto(Target) target = {.pidfd = -1};
        gint64 begin = g_get_monotonic_time();
        unsigned i;
        int fd;

        start_runtime(&(const Turn){0}, 1, 60);
        target = target_of(runtime);
        for (i = 0; i < 4; i++) {
                g_autofree char *name =
                        g_strdup_printf("dotnet-diagnostic-%d-%u-socket", runtime, 100 + i);
                g_autofree char *path = g_build_filename(directory, name, NULL);

                (void)listen_at(name);
                while (unix_connect(path, SOCK_NONBLOCK, 0) >= 0)
                        ;
        }
        fd = port_connect(&target, begin + PORT_TIMEOUT, &error);
        ck_assert_msg(fd >= 0, "%s", error ? error->message : "");
        ck_assert_int_lt(g_get_monotonic_time() - begin, 5 * G_TIME_SPAN_SECOND);
        close(fd);
        /* With any number of sockets, the client tries none after the deadline. */
        ck_assert_int_eq(port_connect(&target, begin, &error), -1);
        ck_assert(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE));
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

static void make_file(const char *name)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);

        ck_assert(g_file_set_contents(path, "", 0, NULL));
}

/*
 * The directory has sockets without a listener, ones on which another process listens
 * under the target's name, and files that are not sockets.
 */
START_TEST(test_leftovers)
{
        static const Turn TURNS[] = {{REPLY(0x0404, OK, "", 0)}, {0}};
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) request = ipc_process_info_new();
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        gint64 deadline = g_get_monotonic_time() + PORT_TIMEOUT;
        int fds[8], fd;
        PortCall call;
        unsigned i;

        start_runtime(TURNS, 1, 0);
        target = target_of(runtime);
        for (i = 0; i < G_N_ELEMENTS(fds); i++) {
                g_autofree char *name =
                        g_strdup_printf("dotnet-diagnostic-%d-%u-socket", runtime, 100 + i);

                fds[i] = listen_at(name);
                if (i % 2)
                        close(fds[i]);
        }
        for (i = 0; i < 4; i++) {
                g_autofree char *name =
                        g_strdup_printf("dotnet-diagnostic-%d-%u-socket", runtime, i);

                make_file(name);
        }
        fd = port_connect(&target, deadline, &error);
        ck_assert_msg(fd >= 0, "%s", error ? error->message : "");
        call = (PortCall){fd, &target, deadline, {.fd = -1}};
        ck_assert(port_call(&call, request, reply, &error));
        close(fd);
        end_runtime(0);
}
END_TEST

/* No socket: the error gives the reason if clrsym can determine the reason. */
START_TEST(test_no_socket)
{
        static const struct {
                bool is_port_off, has_coreclr;
                AttachError code;
                const char *part;
        } ROWS[] = {
                {true, true, ATTACH_ERROR_PORT_OFF, "DOTNET_EnableDiagnostics=0"},
                {false, true, ATTACH_ERROR_NO_PORT, "was removed"},
                {false, false, ATTACH_ERROR_NOT_DOTNET, "not a .NET process"},
        };
        g_auto(Target) target = target_of(getpid());
        g_autoptr(GError) error = NULL;

        target.is_port_off = ROWS[_i].is_port_off;
        target.has_coreclr = ROWS[_i].has_coreclr;
        ck_assert_int_eq(port_connect(&target, g_get_monotonic_time() + PORT_TIMEOUT, &error), -1);
        ck_assert_msg(g_error_matches(error, ATTACH_ERROR, (int)ROWS[_i].code), "%s",
                      error->message);
        ck_assert_msg(strstr(error->message, ROWS[_i].part) != NULL, "%s", error->message);
}
END_TEST

/* A symbolic link to a directory is resolved in the root directory of the target. */
START_TEST(test_link)
{
        static const Turn TURNS[] = {{REPLY(0x0404, OK, "", 0)}, {0}};
        g_autofree char *link = g_build_filename(directory, "link", NULL);
        g_auto(Target) target = {.pidfd = -1};
        g_autoptr(GError) error = NULL;
        int fd;

        ck_assert_int_eq(symlink(directory, link), 0);
        start_runtime(TURNS, 1, 60);
        target = target_of(runtime);
        g_free(target.directory);
        target.directory = g_steal_pointer(&link);
        fd = port_connect(&target, g_get_monotonic_time() + PORT_TIMEOUT, &error);
        ck_assert_msg(fd >= 0, "%s", error ? error->message : "");
        close(fd);
        kill(runtime, SIGKILL);
        waitpid(runtime, NULL, 0);
}
END_TEST

static void set_up(void)
{
        directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
}

static void tear_down(void)
{
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                g_unlink(path);
        }
        g_rmdir(directory);
        g_free(directory);
}

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-eventpipe");
        TCase *tcase = tcase_create("attach-eventpipe");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_open, 0, 3);
        tcase_add_test(tcase, test_number_again);
        tcase_add_loop_test(tcase, test_refusals, 0, 9);
        tcase_add_loop_test(tcase, test_rundown, 0, 3);
        tcase_add_test(tcase, test_old_rundown);
        tcase_add_loop_test(tcase, test_bad_rundown, 0, 3);
        tcase_add_test(tcase, test_answer_after_rest);
        tcase_add_loop_test(tcase, test_endless_rundown, 0, 4);
        tcase_add_loop_test(tcase, test_unresponsive, 0, 2);
        tcase_add_test(tcase, test_starting);
        tcase_add_test(tcase, test_full_decoy);
        tcase_add_test(tcase, test_leftovers);
        tcase_add_loop_test(tcase, test_no_socket, 0, 3);
        tcase_add_test(tcase, test_link);
        suite_add_tcase(suite, tcase);
        return suite;
}
