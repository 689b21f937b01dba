/* SPDX-License-Identifier: MIT */
#include "attach/worker.h"

#include "support/suite.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* A worker ends, and has not read an order that came meanwhile: its last report is not lost. */
START_TEST(test_unread_order)
{
        const WorkerReport ended = {.event = WORKER_ENDED};
        const char order = WORKER_PING;
        WorkerReport report = {};
        int fds[2], stream;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(worker_report_receive(fds[0], &report, &stream), -1);
        ck_assert_int_eq(errno, EAGAIN);
        ck_assert_int_eq(send(fds[0], &order, 1, 0), 1);
        ck_assert_int_eq(send(fds[1], &ended, sizeof(ended), 0), sizeof(ended));
        close(fds[1]);
        ck_assert_int_eq(worker_report_receive(fds[0], &report, &stream), sizeof(report));
        ck_assert_uint_eq(report.event, WORKER_ENDED);
        ck_assert_int_eq(stream, -1);
        ck_assert_int_eq(worker_report_receive(fds[0], &report, &stream), 0);
        close(fds[0]);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("worker-report");
        TCase *tcase = tcase_create("worker-report");

        tcase_add_test(tcase, test_unread_order);
        suite_add_tcase(suite, tcase);
        return suite;
}
