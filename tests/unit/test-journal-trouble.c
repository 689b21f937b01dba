/* SPDX-License-Identifier: MIT */

/*
 * The journal and a hostile environment: a full disk, a missing directory, foreign files; and the
 * recorded facts about the host's processes.
 */

#include "journal/journal-file.h"

#include "support/keeper.h"
#include "support/suite.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A full disk: one report; the journal continues, and is complete again once the disk has room. */
START_TEST(test_full)
{
        g_autoptr(GPtrArray) steps = feeding_new(14, 300);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) lost = NULL, want = NULL, got = NULL, early = NULL;
        struct rlimit before, small;
        Keeper keeper;
        guint i;

        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        small = before;
        small.rlim_cur = 20000;
        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < 100; i++) {
                fed_take(&keeper.fed, steps->pdata[i]);
                if (i == 20)
                        early = reference_image(steps, i + 1);
        }
        small.rlim_cur = keeper.stats.journal_bytes + 10;
        setrlimit(RLIMIT_FSIZE, &small);
        for (; i < 200; i++) {
                fed_take(&keeper.fed, steps->pdata[i]);
                g_main_context_iteration(NULL, FALSE);
        }
        ck_assert(keeper.stats.journal_is_failed);
        ck_assert_ptr_nonnull(strstr(said->str, "cannot be written"));
        ck_assert_ptr_null(strstr(strstr(said->str, "cannot be written") + 1, "cannot be written"));
        setrlimit(RLIMIT_FSIZE, &before);
        /* The daemon is killed: the next one does not take the partial journal for complete. */
        g_string_truncate(said, 0);
        want = reference_image(steps, 100);
        lost = image_after_kill(state, 0, NULL);
        ck_assert_ptr_nonnull(strstr(said->str, "there is a gap after what could be read"));
        ck_assert(!is_same(lost, want));
        g_string_truncate(said, 0);
        for (; i < steps->len; i++) {
                fed_take(&keeper.fed, steps->pdata[i]);
                g_main_context_iteration(NULL, FALSE);
        }
        while (keeper.stats.journal_is_failed)
                g_main_context_iteration(NULL, TRUE);
        ck_assert_ptr_nonnull(strstr(said->str, "can be written again"));
        g_byte_array_unref(g_steal_pointer(&want));
        want = reference_image(steps, steps->len);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        keeper_stop(&keeper);
}
END_TEST

/* The same trouble with a removed directory. */
START_TEST(test_removed)
{
        g_autoptr(GPtrArray) steps = feeding_new(15, 60);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = NULL, got = NULL;
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++) {
                fed_take(&keeper.fed, steps->pdata[i]);
                if (i == 30)
                        remove_all(state);
        }
        while (!keeper.stats.journal_is_failed)
                g_main_context_iteration(NULL, TRUE);
        while (keeper.stats.journal_is_failed)
                g_main_context_iteration(NULL, TRUE);
        want = reference_image(steps, steps->len);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        keeper_stop(&keeper);
}
END_TEST

/* --- The host ------------------------------------------------------------------------------ */

static uint64_t started;

static uint64_t start_time(void *data, int32_t pid)
{
        return started;
}

static bool uid_of(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        *ret_uid = 1000 + (uint32_t)key->pid;
        return true;
}

static bool is_running(void *data, const ProcessKey *key)
{
        return false;
}

static bool knows_nobody(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        return false;
}

static uint64_t last_event(const Tracker *tracker)
{
        const GPtrArray *processes = tracker_processes(tracker);
        uint64_t last = 0;
        guint i;

        for (i = 0; i < processes->len; i++)
                last = MAX(last, ((const Process *)processes->pdata[i])->last);
        return last;
}

/* A replay uses the host's recorded answers, not the host's current ones. */
START_TEST(test_host)
{
        static const TrackerHost THEN = {
                .start_time = start_time, .uid = uid_of, .is_running = is_running};
        static const TrackerHost NOW = {
                .start_time = start_time, .uid = knows_nobody, .is_running = is_running};
        g_autoptr(GPtrArray) steps = feeding_new(16, 400);
        g_autofree char *state = path_of("state"), *copy = path_of("copy");
        g_autoptr(GByteArray) want = NULL, got = NULL;
        Tracker *hostless = reference(steps, steps->len);
        unsigned n_with_uid = 0;
        Keeper keeper, again;
        guint i;

        keeper_start(&keeper, state, 0, &THEN);
        for (i = 0; i < steps->len; i++) {
                started = last_event(keeper.tracker) + 1000000000;
                fed_take(&keeper.fed, steps->pdata[i]);
                if (i != 200)
                        continue;
                /* The rest of the events follows after a checkpoint. */
                journal_set_limit(keeper.journal, 1);
                while (!journal_is_compacting(keeper.journal))
                        fed_take(&keeper.fed, steps->pdata[++i]);
                keeper_wait(&keeper);
                journal_set_limit(keeper.journal, 1 << 20);
        }
        copy_state(state, copy);
        fed_deinit(&keeper.fed);
        fed_init(&keeper.fed, keeper.tracker);
        started = 1;
        keeper_start(&again, copy, 0, &NOW);
        want = tracker_image(keeper.tracker);
        got = tracker_image(again.tracker);
        ck_assert(is_same(want, got));
        for (i = 0; i < tracker_processes(again.tracker)->len; i++) {
                const Process *process = tracker_processes(again.tracker)->pdata[i];

                n_with_uid += process->uid == 1000 + (uint32_t)process->key.pid;
        }
        ck_assert_uint_gt(n_with_uid, 0);
        /* The host's answers changed the result. */
        ck_assert_uint_gt(tracker_processes(again.tracker)->len, tracker_processes(hostless)->len);
        tracker_free(hostless);
        keeper_stop(&again);
        keeper_stop(&keeper);
}
END_TEST

/* Processes that were removed because of their age do not come back. */
START_TEST(test_aged)
{
        static const TrackerHost HOST = {.is_running = is_running};
        g_autoptr(GPtrArray) steps = feeding_new(17, 80);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = NULL, got = NULL;
        Keeper keeper;
        guint i, n_before;

        keeper_start(&keeper, state, 0, &HOST);
        for (i = 0; i < steps->len; i++)
                fed_take(&keeper.fed, steps->pdata[i]);
        n_before = tracker_processes(keeper.tracker)->len;
        journal_age(keeper.journal, 0);
        journal_age(keeper.journal, 0);
        ck_assert_uint_lt(tracker_processes(keeper.tracker)->len, n_before);
        fed_deinit(&keeper.fed);
        fed_init(&keeper.fed, keeper.tracker);
        want = tracker_image(keeper.tracker);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        keeper_stop(&keeper);
}
END_TEST

/* --- Directories --------------------------------------------------------------------------- */

static char *refusal(const char *state)
{
        static const TrackerHost NOBODY;
        Tracker *tracker = tracker_new();
        g_autoptr(GError) error = NULL;
        QueryStats stats = {0};
        char *message;

        ck_assert_ptr_null(journal_new(state, tracker, &NOBODY, &stats, NULL, &error));
        ck_assert_ptr_nonnull(error);
        message = g_strdup(error->message);
        tracker_free(tracker);
        return message;
}

START_TEST(test_directories)
{
        g_autofree char *state = path_of("a/b/state"), *file = path_of("file");
        g_autofree char *locked = NULL, *writable = NULL, *no_directory = NULL, *foreign = NULL;
        struct stat st;
        Keeper keeper;

        keeper_start(&keeper, state, 0, NULL);
        ck_assert_int_eq(stat(state, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0700);
        locked = refusal(state);
        ck_assert_ptr_nonnull(strstr(locked, "another clrsymd"));
        keeper_stop(&keeper);
        {
                g_autofree char *path = only_file(state);

                ck_assert_int_eq(stat(path, &st), 0);
                ck_assert_int_eq(st.st_mode & 07777, 0600);
        }
        ck_assert_int_eq(chmod(state, 0770), 0);
        writable = refusal(state);
        ck_assert_ptr_nonnull(strstr(writable, "chmod go-w"));
        ck_assert(g_file_set_contents(file, "", 0, NULL));
        no_directory = refusal(file);
        ck_assert_ptr_nonnull(strstr(no_directory, file));
        if (geteuid() == 0) {
                ck_assert_int_eq(chmod(state, 0700) | chown(state, 12345, 0), 0);
                foreign = refusal(state);
                ck_assert_ptr_nonnull(strstr(foreign, "belongs to user 12345"));
        }
}
END_TEST

static void write_line(const char *state, const char *boot_id)
{
        g_autofree char *path = g_build_filename(state, "journal.7", NULL);
        JournalLine line = {.begin = JOURNAL_FIRST};
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        g_strlcpy(line.boot_id, boot_id, sizeof(line.boot_id));
        ck_assert_int_gt(journal_write_line(fd, &line), 0);
        close(fd);
}

START_TEST(test_other_boot)
{
        g_autofree char *state = path_of("state");
        Keeper keeper;

        ck_assert_int_eq(g_mkdir(state, 0700), 0);
        write_line(state, "11111111-2222-3333-4444-555555555555");
        keeper_start(&keeper, state, 0, NULL);
        ck_assert_ptr_nonnull(strstr(said->str, "of another boot"));
        ck_assert_uint_eq(n_files(state, ".7"), 0);
        ck_assert(!keeper.stats.journal_is_failed);
        keeper_stop(&keeper);
}
END_TEST

START_TEST(test_other_format)
{
        g_autofree char *state = path_of("state"), *path = path_of("state/journal.7");
        Keeper keeper;

        ck_assert_int_eq(g_mkdir(state, 0700), 0);
        ck_assert(g_file_set_contents(path, "clrsym-journal 99 x\n", -1, NULL));
        keeper_start(&keeper, state, 0, NULL);
        ck_assert_ptr_nonnull(strstr(said->str, "of another version"));
        ck_assert_uint_eq(n_files(state, ".7.damaged"), 1);
        keeper_stop(&keeper);
}
END_TEST

/* --- Batches that crash the daemon, children that hang ---------------------------------------- */

/* The way in which the daemon ends when it applies a batch, and the number of starts before it sets
 * the batch aside. */
static const struct {
        int signal;
        bool is_sent; /* sent by another process */
        guint n_starts;
} ENDS[] = {
        {SIGABRT, false, 2}, {SIGSEGV, false, 2}, {SIGFPE, false, 2},
        {SIGKILL, false, 4}, {SIGABRT, true, 4},
};

static int fatal_end; /* index in ENDS */
static bool is_fatal;

static void fatal_end_now(void)
{
        pid_t own = getpid(), pid;

        if (!ENDS[fatal_end].is_sent)
                raise(ENDS[fatal_end].signal);
        pid = fork();
        if (pid == 0) {
                kill(own, ENDS[fatal_end].signal);
                _exit(0);
        }
        waitpid(pid, NULL, 0);
}

static bool fatal_uid(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        if (is_fatal)
                fatal_end_now();
        *ret_uid = 1000;
        return true;
}

static const TrackerHost FATAL = {
        .start_time = start_time, .uid = fatal_uid, .is_running = is_running};

/* Runs a daemon that dies when it applies a batch after N_GOOD of the steps. */
static void die_fed(const char *state, const GPtrArray *steps, guint n_good)
{
        const struct rlimit none = {0, 0};
        Keeper keeper;
        guint i;

        setrlimit(RLIMIT_CORE, &none);
        keeper_start(&keeper, state, 0, &FATAL);
        for (i = 0; i < steps->len; i++) {
                is_fatal = i >= n_good;
                fed_take(&keeper.fed, steps->pdata[i]);
        }
        _exit(0);
}

static int wait_for_child(pid_t pid)
{
        int status = -1;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return status;
}

/* The starts after the crash crash too, or are killed. The next start sets the batch aside. */
START_TEST(test_poison)
{
        g_autoptr(GPtrArray) steps = feeding_new(21, 200);
        g_autofree char *state = path_of("state"), *marker = path_of("state/replaying");
        const GPtrArray *processes;
        Keeper keeper;
        pid_t pid;
        guint i;

        fatal_end = _i;
        pid = fork();
        if (pid == 0)
                die_fed(state, steps, 40);
        ck_assert(WIFSIGNALED(wait_for_child(pid)));
        for (i = 0; i < ENDS[_i].n_starts; i++) {
                pid = fork();
                if (pid == 0) {
                        is_fatal = true;
                        keeper_start(&keeper, state, 0, &FATAL);
                        _exit(0);
                }
                ck_assert(WIFSIGNALED(wait_for_child(pid)));
                ck_assert(g_file_test(marker, G_FILE_TEST_EXISTS));
        }
        is_fatal = true;
        keeper_start(&keeper, state, 0, &FATAL);
        is_fatal = false;
        ck_assert_ptr_nonnull(strstr(said->str, "at which clrsymd crashed"));
        ck_assert_uint_eq(n_files(state, ".damaged"), 1);
        ck_assert(!g_file_test(marker, G_FILE_TEST_EXISTS));
        processes = tracker_processes(keeper.tracker);
        ck_assert_uint_gt(processes->len, 0);
        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                ck_assert(process_has_gap(process, process_horizon(process), UINT64_MAX));
        }
        keeper_stop(&keeper);
        g_string_truncate(said, 0);
        keeper_start(&keeper, state, 0, NULL);
        check_whole();
        keeper_stop(&keeper);
}
END_TEST

/* A killed replay is not a crash: the next replay reads everything. */
START_TEST(test_killed_replay)
{
        g_autoptr(GPtrArray) steps = feeding_new(22, 100);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = reference_image(steps, steps->len), got = NULL;
        Keeper keeper;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++)
                fed_take(&keeper.fed, steps->pdata[i]);
        keeper_stop(&keeper);
        for (i = 0; i < 4; i++) {
                pid_t pid = fork();

                if (pid == 0) {
                        keeper_start(&keeper, state, 0, NULL);
                        _exit(0);
                }
                g_usleep(i * 2000);
                kill(pid, SIGKILL);
                wait_for_child(pid);
        }
        g_string_truncate(said, 0);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        check_whole();
}
END_TEST

static pid_t only_child(void)
{
        g_autofree char *path = g_strdup_printf("/proc/self/task/%d/children", (int)getpid());
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? (pid_t)g_ascii_strtoll(text, NULL, 10)
                                                            : 0;
}

/* Fate of the children that write a checkpoint. */
static enum {
        CHILD_WRITES,
        CHILD_HANGS,
        CHILD_IS_KILLED, /* fork() fails as without memory */
        CHILD_HAS_NO_ROOM,
        CHILD_HAS_NO_PROCESS,
} child;

static void on_fork_in_child(void)
{
        const struct rlimit small = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};

        switch (child) {
        case CHILD_HANGS:
                raise(SIGSTOP);
                break;
        case CHILD_IS_KILLED:
                raise(SIGKILL);
                break;
        case CHILD_HAS_NO_ROOM:
                signal(SIGXFSZ, SIG_IGN);
                setrlimit(RLIMIT_FSIZE, &small);
                break;
        case CHILD_WRITES:
        case CHILD_HAS_NO_PROCESS:
                break;
        }
}

/* Replaces fork() of libc. */
pid_t fork(void)
{
        static pid_t (*real)(void);

        if (child == CHILD_HAS_NO_PROCESS) {
                errno = EAGAIN;
                return -1;
        }
        if (!real)
                real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
        return real();
}

static void wait_until_stopped(pid_t pid)
{
        siginfo_t info = {0};

        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
        ck_assert_int_eq(info.si_code, CLD_STOPPED);
}

/* The daemon kills a child that hangs, and the next child writes the checkpoint. */
START_TEST(test_hanging_child)
{
        g_autoptr(GPtrArray) steps = feeding_new(23, 300);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = reference_image(steps, steps->len), got = NULL;
        bool is_stopped = false;
        Keeper keeper;
        guint i;

        ck_assert_int_eq(pthread_atfork(NULL, NULL, on_fork_in_child), 0);
        child = CHILD_HANGS;
        keeper_start(&keeper, state, 0, NULL);
        journal_set_patience(keeper.journal, 200);
        for (i = 0; i < steps->len; i++) {
                if (i == 100)
                        journal_set_limit(keeper.journal, 1);
                fed_take(&keeper.fed, steps->pdata[i]);
                if (!is_stopped && journal_is_compacting(keeper.journal)) {
                        wait_until_stopped(only_child());
                        is_stopped = true;
                        child = CHILD_WRITES;
                }
                if (is_stopped)
                        journal_set_limit(keeper.journal, 1 << 30);
                else
                        g_main_context_iteration(NULL, FALSE);
        }
        ck_assert(is_stopped);
        keeper_wait(&keeper);
        ck_assert_ptr_nonnull(strstr(said->str, "makes no progress"));
        while (!journal_is_compacting(keeper.journal))
                g_main_context_iteration(NULL, TRUE);
        keeper_wait(&keeper);
        ck_assert_uint_eq(n_files(state, ".1"), 0);
        g_string_truncate(said, 0);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        check_whole();
        keeper_stop(&keeper);
}
END_TEST

static const struct {
        const char *reason;
        int child;
} CHILDREN[] = {
        {"the child process was killed", CHILD_IS_KILLED},
        {"File too large", CHILD_HAS_NO_ROOM},
        {"Resource temporarily unavailable", CHILD_HAS_NO_PROCESS},
};

/* If a child cannot write the checkpoint, the journal grows, and a later child writes it. */
START_TEST(test_failing_child)
{
        g_autoptr(GPtrArray) steps = feeding_new(25, 300);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = reference_image(steps, steps->len), got = NULL;
        Keeper keeper;
        guint i;

        ck_assert_int_eq(pthread_atfork(NULL, NULL, on_fork_in_child), 0);
        child = CHILDREN[_i].child;
        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++) {
                if (i == 100)
                        journal_set_limit(keeper.journal, 1);
                fed_take(&keeper.fed, steps->pdata[i]);
                if (i >= 200 && !strstr(said->str, "cannot be made shorter")) {
                        keeper_wait(&keeper);
                        g_main_context_iteration(NULL, FALSE);
                }
        }
        ck_assert_ptr_nonnull(strstr(said->str, "cannot be made shorter"));
        ck_assert_ptr_nonnull(strstr(said->str, CHILDREN[_i].reason));
        ck_assert(!keeper.stats.journal_is_failed);
        child = CHILD_WRITES;
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        while (n_files(state, ".1") > 0)
                g_main_context_iteration(NULL, TRUE);
        keeper_wait(&keeper);
        g_string_truncate(said, 0);
        g_byte_array_unref(got);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        check_whole();
        keeper_stop(&keeper);
}
END_TEST

/* Without descriptors for a checkpoint, the journal grows, and a later child writes the
 * checkpoint. */
START_TEST(test_no_descriptors)
{
        g_autoptr(GPtrArray) steps = feeding_new(24, 300);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = reference_image(steps, steps->len), got = NULL;
        struct rlimit before, none;
        Keeper keeper;
        guint i;

        getrlimit(RLIMIT_NOFILE, &before);
        none = before;
        none.rlim_cur = 0;
        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++) {
                if (i == 100) {
                        setrlimit(RLIMIT_NOFILE, &none);
                        journal_set_limit(keeper.journal, 1);
                }
                fed_take(&keeper.fed, steps->pdata[i]);
        }
        ck_assert(!journal_is_compacting(keeper.journal));
        setrlimit(RLIMIT_NOFILE, &before);
        ck_assert_ptr_nonnull(strstr(said->str, "cannot be made shorter"));
        ck_assert(!keeper.stats.journal_is_failed);
        while (!journal_is_compacting(keeper.journal))
                g_main_context_iteration(NULL, TRUE);
        keeper_wait(&keeper);
        ck_assert_uint_eq(n_files(state, ".1"), 0);
        g_string_truncate(said, 0);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        check_whole();
        keeper_stop(&keeper);
}
END_TEST

/* Without descriptors the daemon does not start, and takes no file for damaged. */
START_TEST(test_no_descriptors_at_start)
{
        g_autoptr(GPtrArray) steps = feeding_new(26, 100);
        g_autofree char *state = path_of("state");
        g_autoptr(GByteArray) want = reference_image(steps, steps->len), got = NULL;
        static const TrackerHost NOBODY;
        unsigned n_refused = 0, n;
        struct rlimit before, few;
        Keeper keeper;
        int free_fd;
        guint i;

        keeper_start(&keeper, state, 0, NULL);
        for (i = 0; i < steps->len; i++)
                fed_take(&keeper.fed, steps->pdata[i]);
        keeper_stop(&keeper);
        free_fd = dup(STDIN_FILENO);
        close(free_fd);
        getrlimit(RLIMIT_NOFILE, &before);
        for (n = 0; n < 6; n++) {
                Tracker *tracker = tracker_new();
                QueryStats stats = {0};
                g_autoptr(GError) error = NULL;
                Journal *journal;

                few = before;
                few.rlim_cur = (rlim_t)free_fd + n;
                setrlimit(RLIMIT_NOFILE, &few);
                journal = journal_new(state, tracker, &NOBODY, &stats, NULL, &error);
                setrlimit(RLIMIT_NOFILE, &before);
                ck_assert(journal || strstr(error->message, "Too many open files"));
                n_refused += !journal;
                journal_free(journal);
                tracker_free(tracker);
                ck_assert_uint_eq(n_files(state, ".damaged"), 0);
        }
        /* Descriptors are missing for the directory, for its lock, or for its files. */
        ck_assert_uint_ge(n_refused, 3);
        ck_assert_uint_lt(n_refused, 6);
        g_string_truncate(said, 0);
        got = image_after_kill(state, 0, NULL);
        ck_assert(is_same(want, got));
        check_whole();
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("journal-trouble");
        TCase *tcase = tcase_create("journal-trouble");

        take_logs();
        tcase_set_timeout(tcase, 100);
        tcase_add_checked_fixture(tcase, keeper_set_up, keeper_tear_down);
        tcase_add_test(tcase, test_full);
        tcase_add_test(tcase, test_removed);
        tcase_add_test(tcase, test_host);
        tcase_add_test(tcase, test_aged);
        tcase_add_test(tcase, test_directories);
        tcase_add_test(tcase, test_other_boot);
        tcase_add_test(tcase, test_other_format);
        tcase_add_loop_test(tcase, test_poison, 0, G_N_ELEMENTS(ENDS));
        tcase_add_test(tcase, test_killed_replay);
        tcase_add_test(tcase, test_hanging_child);
        tcase_add_loop_test(tcase, test_failing_child, 0, (int)G_N_ELEMENTS(CHILDREN));
        tcase_add_test(tcase, test_no_descriptors);
        tcase_add_test(tcase, test_no_descriptors_at_start);
        suite_add_tcase(suite, tcase);
        return suite;
}
