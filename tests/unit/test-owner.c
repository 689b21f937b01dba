/* SPDX-License-Identifier: MIT */

/*
 * The owner of an event's process: a traced program can write any pid, namespace and time. Events
 * from one user's buffers change nothing about another user's process. One script for each attack;
 * streams 40-49 are the attacker's, uid 2000, and process 100 belongs to uid 1000.
 */

#include "support/script.h"
#include "support/suite.h"

#define VICTIM                                                                                     \
        "1 RuntimeInformationStart\n"                                                              \
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"                               \
        "20 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"

static const char *const SCRIPTS[] = {
        /* One event does not show the process to the attacker. */
        VICTIM "40: 30 ModuleLoad module=7\n"
               "progress 60\n40: progress 60\n"
               "? uid=2000 0x1000 25 = no-method gap\n"
               "? uid=2000 0x1000 = no-method gap\n"
               "? uid=1000 0x1000 25 = ok A\n"
               "? uid=3000 0x1000 = no-process\n",

        /* A load over a live body renames it for the attacker alone; a map, an unload, ... */
        VICTIM "40: 30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
               "40: 31 MethodUnloadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
               "progress 60\n40: progress 60\n"
               "? uid=1000 0x1000 40 = ok A\n"
               "? uid=1000 0x1000 = ok A\n"
               "? uid=1000 0x2000 = ok B\n"
               "? uid=2000 0x1000 40 = ok EVIL\n",

        /* The attacker can neither end the process nor begin another generation of it. */
        VICTIM "40: 30 AppDomainUnload_V1\n"
               "40: 5000000000 RuntimeInformationStart\n"
               "21 MethodLoadVerbose_V1 id=3 start=0x3000 size=32 name=C\n"
               "6000000000 MethodLoadVerbose_V1 id=4 start=0x4000 size=32 name=D\n"
               "progress 7000000000\n"
               "? uid=1000 0x1000 6000000000 = ok A\n"
               "? uid=1000 0x3000 = ok C\n"
               "? uid=1000 0x4000 = ok D\n",

        /* A stream without progress does not hold the process back. */
        VICTIM "40: 30 ModuleLoad module=7\n"
               "progress 60\n"
               "? uid=1000 0x1000 50 = ok A\n"
               "? uid=1000 0x9000 50 = no-method\n",

        /* A loss in the attacker's stream does not affect the process. */
        VICTIM "40: 30 ModuleLoad module=7\n"
               "40: gap 1 100 5\n"
               "progress 60\n40: progress 200\n"
               "? uid=1000 0x1000 50 = ok A\n"
               "? uid=1000 0x9000 50 = no-method\n"
               "? uid=2000 0x9000 50 = no-method gap\n",

        /* A module's unload, and a rundown without its methods. */
        "1 RuntimeInformationStart\n"
        "9 ModuleLoad module=7 path=/a.dll\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 flags=8 name=A module=7\n"
        "40: 30 ModuleUnload module=7\n"
        "40: 31 DotNETRuntimeRundown:DCEndInit_V1\n"
        "40: 32 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 60\n"
        "? uid=1000 0x1000 50 = ok A\n",

        /* The host knows the owner: the events are dropped. */
        "owner 100 1000 0\n" VICTIM "40: 30 ModuleLoad module=7\n"
        "40: 31 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
        "commit\n"
        "40: 32 ModuleLoad module=7\n"
        "? uid=2000 0x1000 = no-process\n"
        "? 0x1000 = ok A\n",

        /* ... also if the attacker was first. */
        "owner 100 1000 0\n"
        "40: 5 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n" VICTIM
        "? uid=2000 0x1000 = no-process\n"
        "? 0x1000 = ok A\n",

        /* Events before the start of the program belong to another process. */
        "owner 100 1000 8\n"
        "40: 5 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "? uid=2000 0x1000 = ok EVIL\n"
        "? uid=1000 0x1000 = ok A\n"
        "? 0x1000 = ok A\n",

        /* If the host knows neither owner, a viewer who sees all users gets both processes. */
        VICTIM "40: 30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
               "? 0x1000 = ambiguous 2\n"
               "owner 100 2000 0\n"
               "? 0x1000 = ok EVIL\n"
               "owner 100 1000 0\n"
               "? 0x1000 = ok A\n",

        /* A namespace that the attacker chose. */
        "1 RuntimeInformationStart pid_ns=5\n"
        "10 MethodLoadVerbose_V1 pid_ns=5 id=1 start=0x1000 size=32 name=A\n"
        "40: 30 MethodLoadVerbose_V1 pid_ns=5 id=1 start=0x1000 size=32 name=EVIL\n"
        "40: 31 MethodLoadVerbose_V1 pid_ns=6 id=1 start=0x1000 size=32 name=EVIL\n"
        "? uid=1000 0x1000 = ok A\n",

        /* A process gap belongs to the owner's process, whether the process is known or not yet. */
        "owner 100 1000 8\n"
        "40: 5 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
        "10 RuntimeInformationStart\n"
        "11 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 60\n40: progress 60\n"
        "process-gap 30 -\n"
        "? uid=1000 0x1000 50 = ok A gap\n"
        "? uid=2000 0x1000 50 = ok EVIL\n",

        "owner 100 1000 8\n"
        "process-gap 30 -\n"
        "40: 5 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
        "10 RuntimeInformationStart\n"
        "11 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 60\n40: progress 60\n"
        "? uid=1000 0x1000 50 = ok A gap\n"
        "? uid=2000 0x1000 50 = ok EVIL\n",

        /* Per-process buffers: their owner is the owner of the program that had the pid then. */
        "owner 100 1000 0\n"
        "50: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "? uid=1000 0x1000 = ok A\n"
        "? uid=2000 0x1000 = no-process\n",

        "owner 100 2000 50\n"
        "50: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "50: 60 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "? uid=2000 0x1000 = no-process\n"
        "? uid=2000 0x2000 = no-process\n"
        "? 0x1000 = ok A\n",

        /* ... and they have no events of other processes. */
        "owner 100 2000 0\n"
        "owner 101 1000 0\n"
        "50: 10 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=32 name=EVIL\n"
        "11 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=32 name=A\n"
        "? uid=1000 pid=101 0x1000 = ok A\n"
        "? uid=2000 pid=101 0x1000 = no-process\n"
        "? pid=101 0x1000 = ok A\n",

        /* If the feeder gives the owner, the tracker does not ask the host; and the buffers have no
         * events of other processes. */
        "60: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "60: 11 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=32 name=EVIL\n"
        "? uid=1000 0x1000 = ok A\n"
        "? uid=2000 0x1000 = no-process\n"
        "? pid=101 0x1000 = no-process\n",

        /* Another user's process reuses the pid. */
        "owner 100 2000 0\n"
        "40: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "owner 100 1000 50\n"
        "60 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=B\n"
        "? uid=2000 0x1000 = ok A\n"
        "? uid=1000 0x1000 = ok B\n"
        "? 0x1000 = ok B\n",
};

START_TEST(test_script)
{
        script_run(SCRIPTS[_i]);
}
END_TEST

/* Epoch, horizon and traces of the process stay, and dropped events are counted. */
START_TEST(test_untouched)
{
        Tracker *tracker = script_tracker(VICTIM "progress 60\ncommit\n");
        const Process *process = tracker_process_of(tracker, &(ProcessKey){0, 100}, 1000);
        uint64_t epoch = codemap_epoch(process->map);

        script_go_on(tracker, "40: 30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=EVIL\n"
                              "commit\n");
        ck_assert_uint_eq(codemap_epoch(process->map), epoch);
        ck_assert_uint_eq(process_horizon(process), 60);
        ck_assert_uint_eq(process->traces->len, 1);
        ck_assert_uint_eq(tracker_stats(tracker)->forged, 0);
        tracker_free(tracker);

        tracker = script_tracker("owner 100 1000 0\n" VICTIM "40: 30 ModuleLoad module=7\n"
                                 "40: 31 ModuleLoad module=7\n");
        ck_assert_uint_eq(tracker_stats(tracker)->forged, 2);
        ck_assert_uint_eq(tracker_processes(tracker)->len, 1);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("owner");
        TCase *tcase = tcase_create("owner");

        tcase_add_loop_test(tcase, test_script, 0, G_N_ELEMENTS(SCRIPTS));
        tcase_add_test(tcase, test_untouched);
        suite_add_tcase(suite, tcase);
        return suite;
}
