/* SPDX-License-Identifier: MIT */
#include "util/proc-ns.h"
#include "util/proc.h"

#include "support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"

#define UNSHARE   "unshare", "-p", "-f", "--mount-proc"
#define N_UNSHARE 4

/*
 * A process that connects, sends its name and its pid as it sees it, and obeys orders of one
 * letter: 'f' forks a copy, 'n' starts a copy as the first process of a new namespace, 'r' replaces
 * the last forked copy by another of the same pid, 'c' forks and waits repeatedly until the end.
 * The process ends with its connection.
 */
static const char PEER[] =
        "import os, signal, socket, subprocess, sys\n"
        "path, name = sys.argv[1:]\n"
        "def connect():\n"
        "    global s\n"
        "    s = socket.socket(socket.AF_UNIX)\n"
        "    s.connect(path)\n"
        "    s.sendall(b'%s %d %d\\n' % (name.encode(), os.getpid(),\n"
        "                                os.stat('/proc/self/ns/pid').st_ino))\n"
        "def wait():\n"
        "    try:\n"
        "        os.waitpid(child, 0)\n"
        "    except ChildProcessError:\n"
        "        pass\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" /* no zombies */
        "connect()\n"
        "child = 0\n"
        "while True:\n"
        "    order = s.recv(1)\n"
        "    if order == b'':\n"
        "        os._exit(0)\n"
        "    if order == b'c':\n"
        "        while True:\n"
        "            child = os.fork() or os._exit(0)\n"
        "            wait()\n"
        "    if order == b'n':\n"
        "        subprocess.Popen(['unshare', '-p', '-f', '--mount-proc',\n"
        "                          sys.executable, '-c', sys.orig_argv[2], path, name + '.n'])\n"
        "    wanted = order == b'r' and child\n"
        "    while order in b'fr':\n"
        "        if wanted:\n"
        "            os.kill(child, signal.SIGKILL)\n"
        "            wait()\n"
        "            open('/proc/sys/kernel/ns_last_pid', 'w').write(str(wanted - 1))\n"
        "        child = os.fork()\n"
        "        if not child and wanted in (False, os.getpid()):\n"
        "            name += '.' + order.decode()\n"
        "            connect()\n"
        "        if not child or wanted in (False, child):\n"
        "            break\n";

/* The kernel's facts about the other end of a connection, and the facts that the other end sent. */
typedef struct Peer {
        char name[32];
        int fd;
        pid_t host_pid;
        int32_t pid;
        uint64_t pid_ns;
} Peer;

static char *directory;
static int listener;
static char *listener_path;

static void start(const char *name, bool in_new_namespace)
{
        const char *const argv[] = {UNSHARE, PYTHON, "-c", PEER, listener_path, name, NULL};
        g_autoptr(GError) error = NULL;

        ck_assert_msg(g_spawn_async(NULL, (char **)(in_new_namespace ? argv : argv + N_UNSHARE),
                                    NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                    NULL, NULL, &error),
                      "%s", error ? error->message : "");
}

/* Accepts the next connection; checks that its name is NAME. */
static Peer meet(const char *name)
{
        Peer peer = {.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
        struct ucred credentials;
        socklen_t n = sizeof(credentials);
        unsigned long long pid_ns;
        char line[128];
        size_t got = 0;

        ck_assert_int_ge(peer.fd, 0);
        while (got == 0 || line[got - 1] != '\n') {
                ck_assert_uint_lt(got, sizeof(line) - 1);
                ck_assert_int_eq(recv(peer.fd, line + got, 1, 0), 1);
                got++;
        }
        line[got] = '\0';
        ck_assert_int_eq(sscanf(line, "%31s %d %llu", peer.name, &peer.pid, &pid_ns), 3);
        ck_assert_str_eq(peer.name, name);
        peer.pid_ns = pid_ns;
        ck_assert_int_eq(getsockopt(peer.fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n), 0);
        peer.host_pid = credentials.pid;
        return peer;
}

static Peer order(const Peer *peer, char what, const char *name)
{
        ck_assert_int_eq(send(peer->fd, &what, 1, MSG_NOSIGNAL), 1);
        return meet(name);
}

static Peer first_of_namespace(const char *name)
{
        start(name, true);
        return meet(name);
}

static bool is_gone(pid_t pid)
{
        return kill(pid, 0) < 0 && errno == ESRCH;
}

/* Kills the peer, and returns when its pid is free, that is after its parent or the end of its
 * namespace has reaped it. */
static void end(const Peer *peer)
{
        int i;

        ck_assert_int_eq(kill(peer->host_pid, SIGKILL), 0);
        for (i = 0; i < 2000 && !is_gone(peer->host_pid); i++) {
                waitpid(peer->host_pid, NULL, WNOHANG);
                g_usleep(5000);
        }
        ck_assert(is_gone(peer->host_pid));
}

static void set_up(void)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        directory = g_dir_make_tmp("clrsym-proc-XXXXXX", NULL);
        listener_path = g_build_filename(directory, "socket", NULL);
        g_strlcpy(address.sun_path, listener_path, sizeof(address.sun_path));
        listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
        ck_assert_int_eq(listen(listener, 16), 0);
}

static void tear_down(void)
{
        unlink(listener_path);
        rmdir(directory);
        g_free(listener_path);
        g_free(directory);
}

static void assert_found(const Peer *asker, int32_t pid, const Peer *want)
{
        uint64_t start_time = proc_start_time(want->host_pid);
        ProcKey got;

        ck_assert_msg(proc_find_key(asker->host_pid, pid, &got), "%s asks for %d: nothing",
                      asker->name, pid);
        ck_assert_int_eq(got.host_pid, want->host_pid);
        ck_assert_int_eq(got.key.pid, want->pid);
        ck_assert_uint_eq(got.key.pid_ns, want->pid_ns);
        ck_assert_uint_gt(start_time, 0);
        ck_assert_int_lt(llabs((long long)(got.start - start_time)), 1000000);
}

static void assert_not_found(const Peer *asker, int32_t pid)
{
        ProcKey got = {.host_pid = 42};

        ck_assert_msg(!proc_find_key(asker->host_pid, pid, &got), "%s asks for %d: %d", asker->name,
                      pid, (int)got.host_pid);
        ck_assert_int_eq(got.host_pid, 42);
}

static void assert_host(const Peer *peer)
{
        pid_t host_pid = 0;

        ck_assert_msg(proc_host_pid(peer->pid_ns, peer->pid, &host_pid), "%s", peer->name);
        ck_assert_int_eq(host_pid, peer->host_pid);
}

static void assert_no_host(uint64_t pid_ns, int32_t pid)
{
        pid_t host_pid = 42;

        ck_assert_msg(!proc_host_pid(pid_ns, pid, &host_pid), "%d: %d", pid, (int)host_pid);
        ck_assert_int_eq(host_pid, 42);
}

static Peer self(void)
{
        return (Peer){"self", -1, getpid(), getpid(), proc_own_pid_ns()};
}

START_TEST(test_own)
{
        const Peer me = self();
        uint32_t uid = 0;
        Peer other;
        pid_t pid;

        ck_assert(proc_uid(getpid(), &uid));
        ck_assert_uint_eq(uid, getuid());
        assert_found(&me, getpid(), &me);
        assert_host(&me);
        ck_assert(proc_host_pid(0, getpid(), &pid) && pid == getpid());

        start("other", false);
        other = meet("other");
        ck_assert_int_eq(other.pid, other.host_pid);
        assert_found(&me, other.pid, &other);
        assert_found(&other, getpid(), &me);
        assert_host(&other);

        end(&other);
        uid = 4242;
        ck_assert(!proc_uid(other.pid, &uid));
        ck_assert_uint_eq(uid, 4242);
        ck_assert_uint_eq(proc_start_time(other.pid), 0);
        assert_not_found(&me, other.pid);
        assert_not_found(&other, getpid());
        assert_no_host(other.pid_ns, other.pid);
        assert_no_host(0, other.pid);
}
END_TEST

static const int32_t IMPOSSIBLE[] = {0, -1, INT32_MIN, INT32_MAX};

START_TEST(test_impossible)
{
        const Peer me = self(), nobody = {"nobody", -1, IMPOSSIBLE[_i], 0, 0};
        uint32_t uid;

        ck_assert(!proc_uid(IMPOSSIBLE[_i], &uid));
        ck_assert_uint_eq(proc_start_time(IMPOSSIBLE[_i]), 0);
        assert_not_found(&me, IMPOSSIBLE[_i]);
        assert_not_found(&nobody, getpid());
        assert_no_host(0, IMPOSSIBLE[_i]);
        assert_no_host(me.pid_ns, IMPOSSIBLE[_i]);
        assert_no_host(12345, IMPOSSIBLE[_i]);
}
END_TEST

static gpointer wait_for_end(gpointer data)
{
        const int *fds = data;
        pid_t tid = gettid();
        char byte;

        if (write(fds[1], &tid, sizeof(tid)) == sizeof(tid))
                return GINT_TO_POINTER(read(fds[1], &byte, 1));
        return GINT_TO_POINTER(-1);
}

/* /proc has a directory for a thread, but the thread is not a process. */
START_TEST(test_thread)
{
        const Peer me = self();
        g_autofree char *status = NULL;
        Peer thread = me;
        GThread *other;
        uint32_t uid;
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        other = g_thread_new("other", wait_for_end, fds);
        ck_assert_int_eq(read(fds[0], &thread.host_pid, sizeof(pid_t)), sizeof(pid_t));
        status = g_strdup_printf("/proc/%d/status", (int)thread.host_pid);
        ck_assert_int_eq(access(status, R_OK), 0);
        ck_assert(!proc_uid(thread.host_pid, &uid));
        assert_not_found(&me, thread.host_pid);
        assert_not_found(&thread, getpid());
        assert_no_host(me.pid_ns, thread.host_pid);
        assert_no_host(0, thread.host_pid);
        shutdown(fds[0], SHUT_WR);
        ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(other)), 0);
}
END_TEST

/* A program whose name looks like lines of /proc/PID/status. */
START_TEST(test_forged_name)
{
        const Peer me = self();
        uint32_t uid = 0;

        ck_assert_int_eq(prctl(PR_SET_NAME, "a) S\nUid:\t7"), 0);
        ck_assert(proc_uid(getpid(), &uid));
        ck_assert_uint_eq(uid, getuid());
        ck_assert_uint_gt(proc_start_time(getpid()), 1);
        assert_found(&me, getpid(), &me);
}
END_TEST

/* A process whose uids differ belongs to root. */
START_TEST(test_setuid)
{
        enum { SAME, EFFECTIVE, SAVED, N_CASES };
        static const uid_t UIDS[N_CASES][3] = {[SAME] = {1000, 1000, 1000},
                                               [EFFECTIVE] = {1000, 2000, 2000},
                                               [SAVED] = {1000, 1000, 0}};
        int i;

        for (i = 0; i < N_CASES; i++) {
                uint32_t want = i == SAME ? 1000 : 0, uid = 1;
                int ready[2];
                ProcInfo info;
                char byte;
                pid_t pid;

                ck_assert_int_eq(pipe(ready), 0);
                pid = fork();
                if (pid == 0) {
                        if (setresuid(UIDS[i][0], UIDS[i][1], UIDS[i][2]) == 0 &&
                            write(ready[1], "x", 1) == 1)
                                pause();
                        _exit(1);
                }
                ck_assert_int_eq(read(ready[0], &byte, 1), 1);
                ck_assert(proc_uid(pid, &uid));
                ck_assert_uint_eq(uid, want);
                ck_assert(proc_read(pid, &info));
                ck_assert_uint_eq(info.uid, want);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                close(ready[0]);
                close(ready[1]);
        }
}
END_TEST

/* Two namespaces with the same pids, and a third one within the first. */
/* On a busy machine, scans of /proc have to wait for their share of the time. */
static void assert_becomes_gone(uint64_t pid_ns, int32_t pid)
{
        unsigned n = 0;

        while (!proc_is_gone(pid_ns, pid)) {
                ck_assert_uint_lt(n++, 300);
                g_usleep(100000);
        }
}

START_TEST(test_namespaces)
{
        const Peer me = self();
        Peer a = first_of_namespace("a"), b = first_of_namespace("b");
        Peer a2 = order(&a, 'f', "a.f"), b2 = order(&b, 'f', "b.f");
        Peer c = order(&a, 'n', "a.n"), c2 = order(&c, 'f', "a.n.f");
        Peer d = order(&c, 'n', "a.n.n");
        const Peer *all[] = {&a, &b, &a2, &b2, &c, &c2, &d};
        ProcInfo info;
        size_t i;

        ck_assert_int_eq(a.pid, 1);
        ck_assert_int_eq(b.pid, 1);
        ck_assert_int_eq(c.pid, 1);
        ck_assert_int_eq(d.pid, 1);
        ck_assert_int_eq(a2.pid, b2.pid);
        ck_assert_uint_ne(a.pid_ns, b.pid_ns);
        ck_assert_uint_ne(a.pid_ns, c.pid_ns);
        ck_assert_uint_ne(c.pid_ns, d.pid_ns);

        for (i = 0; i < G_N_ELEMENTS(all); i++) {
                uint32_t uid = 42;

                assert_host(all[i]);
                assert_no_host(0, all[i]->host_pid);
                assert_no_host(me.pid_ns, all[i]->host_pid);
                assert_found(&me, all[i]->host_pid, all[i]);
                assert_found(all[i], all[i]->pid, all[i]);
                ck_assert(proc_uid(all[i]->host_pid, &uid) && uid == getuid());
        }
        assert_found(&a, 1, &a);
        assert_found(&a2, 1, &a);
        assert_found(&a, a2.pid, &a2);
        assert_found(&b, 1, &b);
        assert_found(&b2, 1, &b);
        assert_found(&b, b2.pid, &b2);
        assert_found(&c2, 1, &c);
        assert_found(&c, c2.pid, &c2);
        assert_found(&d, 1, &d);

        /* From the outer namespace, the inner processes have other pids. */
        ck_assert(proc_read(d.host_pid, &info));
        ck_assert_uint_eq(info.n_levels, 4);
        ck_assert_uint_eq(info.levels[0].pid_ns, me.pid_ns);
        ck_assert_int_eq(info.levels[0].pid, d.host_pid);
        ck_assert_uint_eq(info.levels[1].pid_ns, a.pid_ns);
        ck_assert_uint_eq(info.levels[2].pid_ns, c.pid_ns);
        ck_assert_uint_eq(info.levels[3].pid_ns, d.pid_ns);
        ck_assert_int_eq(info.levels[3].pid, 1);
        assert_found(&a, info.levels[1].pid, &d);
        assert_found(&a2, info.levels[1].pid, &d);
        assert_found(&c, info.levels[2].pid, &d);
        assert_no_host(a.pid_ns, info.levels[1].pid);
        assert_no_host(c.pid_ns, info.levels[2].pid);

        /* A namespace sees no processes beside it or above it. */
        assert_not_found(&b, info.levels[1].pid);
        assert_not_found(&d, info.levels[2].pid);
        assert_not_found(&b, b.host_pid);
        assert_not_found(&a, getpid());
        assert_not_found(&d, 2);
        assert_no_host(b.pid_ns, 999);
        assert_no_host(12345, 1);
        assert_no_host(0, 999999);
        ck_assert(!proc_is_gone(a.pid_ns, 1) && !proc_is_gone(c.pid_ns, c2.pid));
        end(&a);
        end(&b);
        assert_no_host(a.pid_ns, 1);
        assert_no_host(c.pid_ns, 1);
        assert_becomes_gone(a.pid_ns, 1);
        assert_becomes_gone(c.pid_ns, c2.pid);
        assert_not_found(&a, 1);
}
END_TEST

/* A new process reuses the pid of an ended one: the cached result is not used. */
START_TEST(test_reused)
{
        Peer a = first_of_namespace("a"), old = order(&a, 'f', "a.f"), new;

        assert_host(&old);
        assert_found(&a, old.pid, &old);
        new = order(&a, 'r', "a.r");
        ck_assert_int_eq(new.pid, old.pid);
        ck_assert_int_ne(new.host_pid, old.host_pid);
        assert_host(&new);
        assert_found(&a, old.pid, &new);
        end(&new);
        assert_no_host(a.pid_ns, new.pid);
        assert_not_found(&a, new.pid);
        end(&a);
}
END_TEST

/* The same in our own namespace: a process of another namespace reuses the pid. */
START_TEST(test_host_reused)
{
        Peer a = first_of_namespace("a"), old = order(&a, 'f', "a.f"), b = first_of_namespace("b");
        Peer new = {.host_pid = 0};
        int i;

        assert_host(&old);
        assert_found(&a, old.pid, &old);
        end(&old);
        /* Other processes may take the pid first. */
        for (i = 0; i < 1000 && new.host_pid != old.host_pid; i++) {
                FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

                ck_assert_ptr_nonnull(last);
                fprintf(last, "%d", (int)old.host_pid - 1);
                ck_assert_int_eq(fclose(last), 0);
                new = order(&b, 'f', "b.f");
        }
        ck_assert_int_eq(new.host_pid, old.host_pid);
        assert_not_found(&a, old.pid);
        assert_no_host(old.pid_ns, old.pid);
        assert_host(&new);
        assert_found(&b, new.pid, &new);
        end(&a);
        end(&b);
}
END_TEST

/* Processes come and go while /proc is read. */
START_TEST(test_churn)
{
        Peer a = first_of_namespace("a"), a2 = order(&a, 'f', "a.f");
        Peer b = first_of_namespace("b"), b2 = order(&b, 'f', "b.f");
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        unsigned n_lookups = 0, n_seen = 0;
        int32_t pid = 2;

        ck_assert_int_eq(send(b2.fd, "c", 1, MSG_NOSIGNAL), 1);
        for (; g_get_monotonic_time() < until || n_lookups < 100;
             n_lookups++, pid = pid % 30000 + 1) {
                ProcKey key;
                pid_t host_pid;

                assert_found(&a2, 1, &a);
                assert_found(&a, a2.pid, &a2);
                assert_host(&b2);
                if (proc_host_pid(b.pid_ns, pid, &host_pid)) {
                        n_seen++;
                        ck_assert_int_ne(host_pid, a.host_pid);
                        ck_assert_int_ne(host_pid, a2.host_pid);
                }
                if (proc_find_key(b.host_pid, pid, &key)) {
                        n_seen++;
                        ck_assert_uint_eq(key.key.pid_ns, b.pid_ns);
                        ck_assert_int_eq(key.key.pid, pid);
                }
        }
        ck_assert_uint_gt(n_seen, 0); /* b and b2 at least */
        end(&a);
        end(&b);
}
END_TEST

/* Repeated failing searches must not block the daemon. */
START_TEST(test_bounded)
{
        const Peer me = self();
        const clock_t begin = clock();
        clock_t took;
        int32_t pid;

        for (pid = 1; pid <= 20000; pid++)
                assert_no_host(me.pid_ns + 1000000, pid);
        took = clock() - begin;
        ck_assert_msg(took < 3 * CLOCKS_PER_SEC, "%g s", (double)took / CLOCKS_PER_SEC);
}
END_TEST

/* Without permission: our own namespace works, other namespaces give nothing. */
START_TEST(test_unprivileged)
{
        const Peer me = self();
        Peer a = first_of_namespace("a"), other;
        uint32_t uid = 42;

        start("other", false);
        other = meet("other");
        ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
        ck_assert(proc_uid(a.host_pid, &uid) && uid == 0);
        assert_found(&other, other.pid, &other);
        assert_host(&other);
        assert_not_found(&me, a.host_pid);
        assert_not_found(&a, 1);
        assert_no_host(a.pid_ns, 1);
        assert_no_host(0, a.host_pid);
        /* The process may be one that this user cannot inspect. */
        ck_assert(!proc_is_gone(a.pid_ns, 1));
}
END_TEST

static bool can_unshare(void)
{
        const char *const argv[] = {UNSHARE, "true", NULL};
        int status;

        return g_spawn_sync(NULL, (char **)argv, NULL,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                                    G_SPAWN_STDERR_TO_DEV_NULL,
                            NULL, NULL, NULL, NULL, &status, NULL) &&
               status == 0;
}

/* A process controls the length of its files in /proc: a file above the limit is refused. */
START_TEST(test_read_file)
{
        size_t n, n_again;
        g_autofree char *text = proc_read_file(getpid(), "environ", PROC_MAX_ENVIRONMENT, &n);
        g_autofree char *exact = NULL;

        ck_assert_ptr_nonnull(text);
        ck_assert_uint_gt(n, 1);
        ck_assert_int_eq(text[n], '\0');
        exact = proc_read_file(getpid(), "environ", n, &n_again);
        ck_assert_ptr_nonnull(exact);
        ck_assert_uint_eq(n_again, n);
        ck_assert_ptr_null(proc_read_file(getpid(), "environ", n - 1, &n_again));
        ck_assert_int_eq(errno, EFBIG);
        ck_assert_ptr_null(proc_read_file(INT32_MAX, "environ", n, &n_again));
        ck_assert_int_eq(errno, ENOENT);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("proc");
        TCase *tcase = tcase_create("proc");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_own);
        tcase_add_loop_test(tcase, test_impossible, 0, G_N_ELEMENTS(IMPOSSIBLE));
        tcase_add_test(tcase, test_thread);
        tcase_add_test(tcase, test_forged_name);
        tcase_add_test(tcase, test_bounded);
        tcase_add_test(tcase, test_read_file);
        if (can_unshare()) {
                tcase_add_test(tcase, test_setuid);
                tcase_add_test(tcase, test_namespaces);
                tcase_add_test(tcase, test_reused);
                tcase_add_test(tcase, test_host_reused);
                tcase_add_test(tcase, test_churn);
                tcase_add_test(tcase, test_unprivileged);
        } else {
                printf("# other pid namespaces are not tested: that needs root\n");
        }
        suite_add_tcase(suite, tcase);
        return suite;
}
