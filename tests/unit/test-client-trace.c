/* SPDX-License-Identifier: MIT */

/*
 * The process that reads a trace for the client library: it starts with a clean environment, its
 * errors are explained, and it is reaped
 */

#include "clrsym/clrsym.h"

#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ  "{\"parameters\":{\"read\":1,\"total\":4},\"continues\":true}\\0"
#define DONE  "{\"parameters\":{\"read\":4,\"total\":4}}\\0"
#define REPLY "printf '" READ DONE "' >&3\n"
/* Waits until the client disconnects. */
#define SERVE "cat <&3 >/dev/null\n"

static char *directory;

static char *in_directory(const char *name)
{
        return g_build_filename(directory, name, NULL);
}

/* Installs a shell script as clrsymd. Descriptors 3 and 4 are its sockets. */
static void set_up(const char *script)
{
        g_autofree char *text = g_strconcat("#!/bin/sh\n", script, NULL);
        g_autofree char *path = NULL;

        directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        path = in_directory("clrsymd");
        ck_assert(g_file_set_contents(path, text, -1, NULL));
        ck_assert_int_eq(g_chmod(path, 0700), 0);
        g_setenv("CLRSYM_DAEMON", path, TRUE);
        g_setenv("DIRECTORY", directory, TRUE);
}

/* Checks that no child is left. */
static void tear_down(void)
{
        static const char *const FILES[] = {"clrsymd", "arguments", "odd"};
        size_t i;

        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                g_autofree char *path = in_directory(FILES[i]);

                g_unlink(path);
        }
        g_rmdir(directory);
        g_free(directory);
}

typedef struct Progress {
        uint64_t n_read, n_total;
        unsigned n_calls;
        int result;
} Progress;

static int on_progress(uint64_t n_read, uint64_t n_total, void *data)
{
        Progress *progress = data;

        ck_assert_uint_ge(n_read, progress->n_read);
        progress->n_read = n_read;
        progress->n_total = n_total;
        progress->n_calls++;
        return progress->result;
}

START_TEST(test_read)
{
        Progress progress = {0};
        const clrsym_options options = {.trace = "-the trace",
                                        .save = "to",
                                        .with_jit_events = true,
                                        .progress = on_progress,
                                        .data = &progress};
        g_autofree char *arguments = NULL, *text = NULL, *odd = NULL;
        clrsym_watch *watch;
        clrsym *handle;
        sigset_t blocked;

        set_up("printf '%s|' \"$@\" >\"$DIRECTORY/arguments\"\n"
               "for i in 5 6 7 8 9 50; do [ -e /proc/$$/fd/$i ] && echo \"fd $i\"; done "
               ">\"$DIRECTORY/odd\"\n"
               "[ \"$(readlink /proc/$$/fd/0)\" = /dev/null ] || echo stdin >>\"$DIRECTORY/odd\"\n"
               "[ \"$(readlink /proc/$$/fd/1)\" = /dev/null ] || echo stdout >>\"$DIRECTORY/odd\"\n"
               "grep 'SigBlk:.*[2367abef]..$' /proc/self/status >/dev/null && echo sig "
               ">>\"$DIRECTORY/odd\"\n"
               "grep 'SigIgn:\t.*1...$' /proc/self/status >/dev/null && echo ign "
               ">>\"$DIRECTORY/odd\"\n" REPLY SERVE);
        /* Descriptors that the child must not inherit. */
        ck_assert_int_eq(dup2(0, 50), 50);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        sigprocmask(SIG_BLOCK, &blocked, NULL);
        signal(SIGPIPE, SIG_IGN);
        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        ck_assert(progress.n_read == 4 && progress.n_total == 4 && progress.n_calls >= 2);
        ck_assert_int_eq(clrsym_watch_open(handle, NULL, &watch), -EOPNOTSUPP);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "a trace does not change"));
        clrsym_close(handle);
        arguments = in_directory("arguments");
        ck_assert(g_file_get_contents(arguments, &text, NULL, NULL));
        ck_assert_str_eq(text, "--trace=-the trace|--save=to|--jit-events|--fd=3|--fd=4|");
        g_clear_pointer(&text, g_free);
        odd = in_directory("odd");
        ck_assert(g_file_get_contents(odd, &text, NULL, NULL));
        ck_assert_str_eq(text, "");
        tear_down();
}
END_TEST

static const struct {
        const char *script;
        int error;
        const char *said;
} FAILURES[] = {
        {"printf '" READ "{\"error\":\"org.clrsym.Symbolizer.TraceUnreadable\",\"parameters\":"
         "{\"message\":\"T: what, why\"}}\\0' >&3\n" SERVE,
         -EIO, "T: what, why"},
        {"printf '{\"error\":\"a.B\"}\\0' >&3\n" SERVE, -EIO, "a.B"},
        {"kill -9 $$\n", -ECONNRESET, "T: clrsymd died of signal 9 (Killed)"},
        {"echo first >&2; printf 'odd \\033 words\\n\\n' >&2; exit 3\n", -ECONNRESET,
         "T: clrsymd ended with status 3: odd \\u{1b} words"},
        {"exit 0\n", -ECONNRESET, "T: clrsymd ended with status 0"},
        {"yes 0123456789 | head -c 3000000 >&2; echo >&2; echo last >&2; exit 1", -ECONNRESET,
         "T: clrsymd ended with status 1: last"},
        {"printf 'hello\\0' >&3\n" SERVE, -EBADMSG, "T: clrsymd and libclrsym do not match"},
        {"printf '{' >&3\n", -ECONNRESET, "T: clrsymd ended with status 0"},
};

START_TEST(test_failure)
{
        const clrsym_options options = {.trace = "T"};
        clrsym *handle;
        char *message;

        set_up(FAILURES[_i].script);
        ck_assert_int_eq(clrsym_open(&handle, &options, &message), FAILURES[_i].error);
        ck_assert_ptr_null(handle);
        ck_assert_str_eq(message, FAILURES[_i].said);
        free(message);
        tear_down();
}
END_TEST

START_TEST(test_no_program)
{
        const clrsym_options options = {.trace = "T"};
        g_autofree char *want = NULL;
        clrsym *handle;
        char *message;

        set_up("");
        want = g_strdup_printf("no %s/none, which reads traces: install clrsymd, or set "
                               "CLRSYM_DAEMON",
                               directory);
        g_chmod(g_getenv("CLRSYM_DAEMON"), 0600);
        ck_assert_int_eq(clrsym_open(&handle, &options, &message), -EACCES);
        ck_assert_ptr_nonnull(strstr(message, "cannot start"));
        free(message);
        {
                g_autofree char *none = in_directory("none");

                g_setenv("CLRSYM_DAEMON", none, TRUE);
        }
        ck_assert_int_eq(clrsym_open(&handle, &options, &message), -ENOENT);
        ck_assert_str_eq(message, want);
        free(message);
        tear_down();
}
END_TEST

/* The child is silent and does not end in time. */
START_TEST(test_cancel)
{
        Progress progress = {.result = 1};
        const clrsym_options options = {.trace = "T", .progress = on_progress, .data = &progress};
        clrsym *handle;
        char *message;

        set_up("exec sleep 1000\n");
        ck_assert_int_eq(clrsym_open(&handle, &options, &message), -ECANCELED);
        ck_assert_str_eq(message, "T: reading it was cancelled");
        ck_assert_uint_eq(progress.n_calls, 1);
        free(message);
        tear_down();
}
END_TEST

/* The program ignores SIGCHLD, or waits for all children. */
START_TEST(test_ignored_children)
{
        const clrsym_options options = {.trace = "T"};
        clrsym *handle;
        char *message;

        signal(SIGCHLD, SIG_IGN);
        set_up(REPLY SERVE);
        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        clrsym_close(handle);
        tear_down();
        set_up("sleep 0.3; echo why >&2; exit 1");
        ck_assert_int_eq(clrsym_open(&handle, &options, &message), -ECONNRESET);
        ck_assert_str_eq(message, "T: clrsymd has ended: why");
        free(message);
        tear_down();
}
END_TEST

static int stop(const char *parameters, size_t n, void *data)
{
        return 7;
}

static int check_reply(const char *parameters, size_t n, void *data)
{
        ck_assert_str_eq(parameters, data);
        return 0;
}

/* All calls share one connection: the library reads up to the last reply and can then go on. */
START_TEST(test_calls)
{
        const clrsym_options options = {.trace = "T"};
        clrsym_query query = {.pid = 1};
        clrsym_answer answer;
        clrsym *handle;

        set_up(REPLY "printf '{\"continues\":true}\\0{\"continues\":true}\\0{}\\0' >&3\n"
                     "printf '{\"parameters\":{\"n\":5}}\\0' >&3\n"
                     "head -c 150 <&3 >/dev/null\n" /* part of the last call */
                     "exit 5\n");
        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        ck_assert_int_eq(clrsym_call(handle, "Some", NULL, CLRSYM_MORE, 0, stop, NULL), 7);
        ck_assert_int_eq(clrsym_call(handle, "Some", NULL, 0, 0, check_reply, (char *)"{\"n\":5}"),
                         0);
        ck_assert_int_eq(clrsym_call(handle, "Some", NULL, 0, 0, stop, NULL), -ECONNRESET);
        ck_assert_str_eq(clrsym_message(handle), "T: clrsymd ended with status 5");
        ck_assert_int_eq(clrsym_call(handle, "Some", NULL, 0, 0, stop, NULL), -ECONNRESET);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "open the trace again"));
        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), -ECONNRESET);
        clrsym_close(handle);
        tear_down();
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-trace");
        TCase *tcase = tcase_create("client-trace");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_read);
        tcase_add_loop_test(tcase, test_failure, 0, G_N_ELEMENTS(FAILURES));
        tcase_add_test(tcase, test_no_program);
        tcase_add_test(tcase, test_cancel);
        tcase_add_test(tcase, test_ignored_children);
        tcase_add_test(tcase, test_calls);
        suite_add_tcase(suite, tcase);
        return suite;
}
