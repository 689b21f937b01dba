/* SPDX-License-Identifier: MIT */

/* How long a seen process counts as running, with a clock of the test's own. */

#include "daemon/seen-process.h"

#include "support/suite.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRESH SEEN_PROCESS_FRESH_US

typedef enum How {
        RUNS,
        IS_ZOMBIE, /* ended but not reaped */
        HAS_ENDED,
} How;

/* The state of the process at a time, and whether it counts as running. */
typedef struct Question {
        How how;
        int64_t now; /* us; 0 ends the list */
        bool lives;
} Question;

typedef struct Case {
        const char *name;
        Question questions[5];
} Case;

static const Case CASES[] = {
        {"runs", {{RUNS, 1, true}, {RUNS, FRESH, true}, {RUNS, 5000, true}, {RUNS, 9999, true}}},
        {"ended just after it was seen",
         {{RUNS, 5000, true}, {HAS_ENDED, 5000, true}, {HAS_ENDED, 5000 + FRESH - 1, true}}},
        {"the time is over", {{RUNS, 5000, true}, {HAS_ENDED, 5000 + FRESH, false}}},
        {"long after", {{RUNS, 5000, true}, {HAS_ENDED, 1000000000000, false}}},
        {"what is believed is not seen",
         {{RUNS, 5000, true},
          {HAS_ENDED, 5000 + FRESH - 1, true},
          {HAS_ENDED, 5000 + FRESH, false}}},
        {"seen again",
         {{RUNS, 5000, true},
          {RUNS, 5000 + FRESH, true},
          {HAS_ENDED, 5000 + 2 * FRESH - 1, true},
          {HAS_ENDED, 5000 + 2 * FRESH, false}}},
        {"one that ended stays so",
         {{RUNS, 5000, true}, {HAS_ENDED, 5000 + FRESH, false}, {HAS_ENDED, 5001 + FRESH, false}}},
        {"ended before it was seen", {{HAS_ENDED, 1, false}, {HAS_ENDED, 5000, false}}},
        {"not waited for",
         {{RUNS, 5000, true},
          {IS_ZOMBIE, 5000 + FRESH, true},
          {HAS_ENDED, 5000 + 2 * FRESH, false}}},
};

static pid_t child_start(void)
{
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        while (!pid)
                pause();
        return pid;
}

/* Changes the child from WAS to HOW, and returns when the change is visible. */
static void child_become(pid_t pid, How was, How how)
{
        siginfo_t info;

        if (was == RUNS && how != RUNS) {
                ck_assert_int_eq(kill(pid, SIGKILL), 0);
                ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        }
        if (was != HAS_ENDED && how == HAS_ENDED)
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(test_rule)
{
        const Case *one = &CASES[_i];
        pid_t pid = child_start();
        SeenProcess process = seen_process_open(pid);
        How how = RUNS;
        unsigned i;

        ck_assert_int_ge(process.pidfd, 0);
        for (i = 0; one->questions[i].now; i++) {
                const Question *question = &one->questions[i];

                child_become(pid, how, question->how);
                how = question->how;
                ck_assert_msg(seen_process_lives(&process, question->now) == question->lives,
                              "%s: question %u", one->name, i);
        }
        child_become(pid, how, HAS_ENDED);
        seen_process_clear(&process);
        ck_assert_int_eq(process.pidfd, -1);
}
END_TEST

static const pid_t IMPOSSIBLE[] = {0, -1, INT32_MIN, INT32_MAX};

/* No process: SO_PEERCRED gives pid 0 for a process of another pid namespace. */
START_TEST(test_impossible)
{
        SeenProcess process = seen_process_open(IMPOSSIBLE[_i]);

        ck_assert_int_eq(process.pidfd, -1);
        ck_assert(!seen_process_lives(&process, 1));
        ck_assert(!seen_process_lives(&process, 5000));
        seen_process_clear(&process);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("seen-process");
        TCase *tcase = tcase_create("seen-process");

        tcase_add_loop_test(tcase, test_rule, 0, G_N_ELEMENTS(CASES));
        tcase_add_loop_test(tcase, test_impossible, 0, G_N_ELEMENTS(IMPOSSIBLE));
        suite_add_tcase(suite, tcase);
        return suite;
}
