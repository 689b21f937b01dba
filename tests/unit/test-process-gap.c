/* SPDX-License-Identifier: MIT */

/*
 * Process gaps: inferred from rundowns, and reported by holders. One script for each rule.
 */

#include "support/script.h"
#include "support/suite.h"

#define LOAD     " MethodLoadVerbose_V1 size=32 flags=8 "
#define UNLOAD   " MethodUnloadVerbose_V1 size=32 flags=8 "
#define INIT     " DotNETRuntimeRundown:DCEndInit_V1\n"
#define ROW      " DotNETRuntimeRundown:MethodDCEndVerbose_V1 size=32 flags=8 "
#define R2R_ROW  " DotNETRuntimeRundown:MethodDCEndVerbose_V1 size=32 flags=0 "
#define COMPLETE " DotNETRuntimeRundown:DCEndComplete_V1\n"

static const char *const SCRIPTS[] = {
        /* Jitted code in the second of two rundowns, without load events: the tracker infers a
         * process gap. */
        "10" INIT "11" ROW "id=1 start=0x1000 name=A\n"
        "20" COMPLETE "30" LOAD "id=2 start=0x2000 name=B\n"
        "35" UNLOAD "id=2 start=0x2000 name=B\n"
        "50" INIT "51" ROW "id=1 start=0x1000 name=A\n"
        "52" ROW "id=3 start=0x3000 name=C\n"
        "60" COMPLETE "progress 100\n"
        "? 0x1000 40 = ok A gap\n"
        "? 0x2000 32 = ok B gap\n"
        "? 0x2000 40 = unloaded B gap\n"
        "? 0x9000 40 = no-method gap\n"
        "? 0x3000 40 = ok C gap\n"
        "# it was whole by the first, and is again\n"
        "? 0x1000 11 = ok A gap\n"
        "? 0x1000 51 = ok A\n"
        "? 0x1000 = ok A\n"
        "? 0x3000 70 = ok C\n"
        "? 0x9000 70 = no-method\n"
        "? 0x2000 70 = unloaded B\n",

        /* The first rundown of a late attachment lists older code: no gap. */
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "22" ROW "id=2 start=0x2000 name=B\n"
        "30" COMPLETE "progress 100\n"
        "? 0x1000 15 = ok A\n"
        "? 0x2000 15 = ok B assumed\n"
        "? 0x9000 15 = no-method gap\n"
        "? 0x9000 40 = no-method\n",

        /* If the start of the process was seen, the first rundown can show a gap. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "22" ROW "id=2 start=0x2000 name=B\n"
        "30" COMPLETE "progress 100\n"
        "? 0x1000 15 = ok A gap\n"
        "? 0x2000 15 = ok B gap\n"
        "? 0x9000 15 = no-method gap\n"
        "? 0x1000 25 = ok A\n"
        "? 0x9000 40 = no-method\n",

        /* Jitted code that vanished without an unload event. */
        "1 RuntimeInformationStart\n"
        "5" LOAD "id=1 start=0x1000 name=A\n"
        "10" LOAD "id=2 start=0x2000 name=B\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? 0x2000 15 = ok B gap\n"
        "? 0x9000 15 = no-method gap\n"
        "? 0x2000 25 = unloaded B\n"
        "? 0x1000 40 = ok A\n"
        "# before it was seen for the last time nothing need be missing\n"
        "40" UNLOAD "id=1 start=0x1000 name=A\n"
        "50" LOAD "id=3 start=0x1000 name=C\n"
        "? 0x1000 45 = unloaded A\n",

        /* Precompiled code needs no events: no gap. */
        "1 RuntimeInformationStart\n"
        "5 R2RGetEntryPoint id=1 entry=0x1000 name=P\n"
        "20" INIT "21" R2R_ROW "id=2 start=0x2000 name=Q\n"
        "30" COMPLETE "progress 100\n"
        "? 0x1000 15 = ok P\n"
        "? 0x9000 15 = no-method\n",

        /* A load event can follow the code's publication by a moment: during or after the
         * rundown. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "22" ROW "id=2 start=0x2000 name=B\n"
        "23" LOAD "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method gap\n"
        "31" LOAD "id=2 start=0x2000 name=B tid=101\n"
        "? 0x9000 15 = no-method\n"
        "? 0x2000 40 = ok B\n",

        /* A load long after the rundown is another load. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "2000000000" LOAD "id=1 start=0x1000 name=A\n"
        "progress 2000000001\n"
        "? 0x9000 15 = no-method gap\n",

        /* The load event arrives late, from another session. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "10: 10" LOAD "id=1 start=0x1000 name=A\n"
        "progress 100\n"
        "10: progress 100\n"
        "? 0x9000 15 = no-method\n"
        "? 0x1000 15 = ok A\n",

        /* A recorded loss explains the missing events: no gap. */
        "1 RuntimeInformationStart\n"
        "5" LOAD "id=1 start=0x1000 name=A\n"
        "gap 10 12 3\n"
        "20" INIT "21" ROW "id=2 start=0x2000 name=B\n"
        "30" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method gap\n"
        "40" INIT "41" ROW "id=2 start=0x2000 name=B\n"
        "50" COMPLETE "? 0x9000 35 = no-method\n"
        "? 0x1000 35 = unloaded A\n"
        "? 0x2000 35 = ok B\n",

        /* An incomplete rundown proves no gap. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "gap 22 23 1\n"
        "30" COMPLETE "40" INIT "41" ROW "id=1 start=0x1000 name=A\n"
        "50" COMPLETE "progress 100\n"
        "? 0x9000 10 = no-method gap\n"
        "? 0x1000 42 = ok A\n",

        /* A row outside of a rundown does not count. */
        "1 RuntimeInformationStart\n"
        "11" ROW "id=1 start=0x1000 name=A\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method\n",

        /* Each rundown counts for itself: an inferred gap stays. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "40" INIT "41" ROW "id=1 start=0x1000 name=A\n"
        "50" COMPLETE "60" INIT "61" ROW "id=1 start=0x1000 name=A\n"
        "62" ROW "id=2 start=0x2000 name=B\n"
        "70" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method gap\n"
        "? 0x9000 35 = no-method\n"
        "? 0x9000 55 = no-method gap\n"
        "? 0x1000 45 = ok A gap\n"
        "? 0x1000 35 = ok A\n"
        "? 0x1000 65 = ok A\n",

        /* The gap concerns neither other processes nor the next process with the pid. */
        "1 RuntimeInformationStart\n"
        "2 RuntimeInformationStart pid=101\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? pid=101 0x9000 15 = no-method\n"
        "40 AppDomainUnload_V1\n"
        "50 RuntimeInformationStart\n"
        "? 0x9000 60 = no-method\n",
};

static const char *const TOLD[] = {
        /* An open process gap: all answers are uncertain from its begin until a rundown after its
         * end. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "11" LOAD "id=2 start=0x2000 name=B\n"
        "12" UNLOAD "id=2 start=0x2000 name=B\n"
        "progress 100\n"
        "? 0x1000 50 = ok A\n"
        "process-gap 30 -\n"
        "? 0x1000 29 = ok A\n"
        "? 0x1000 30 = ok A gap\n"
        "? 0x1000 50 = ok A gap\n"
        "? 0x1000 = ok A gap\n"
        "? 0x2000 29 = unloaded B\n"
        "? 0x2000 50 = unloaded B gap\n"
        "? 0x9000 29 = no-method\n"
        "? 0x9000 50 = no-method gap\n"
        "process-gap 60 60\n"
        "? 0x9000 70 = no-method gap\n"
        "? 0x1000 70 = ok A gap\n"
        "70" INIT "71" ROW "id=1 start=0x1000 name=A\n"
        "72" ROW "id=3 start=0x3000 name=C\n"
        "80" COMPLETE "progress 200\n"
        "? 0x1000 50 = ok A gap\n"
        "? 0x1000 71 = ok A\n"
        "? 0x1000 = ok A\n"
        "? 0x3000 50 = ok C gap\n"
        "? 0x3000 90 = ok C\n"
        "? 0x9000 65 = no-method gap\n"
        "? 0x9000 90 = no-method\n"
        "? 0x9000 29 = no-method gap\n"
        "# what is loaded and unloaded after it is known as a whole\n"
        "90" LOAD "id=4 start=0x4000 name=D\n"
        "95" UNLOAD "id=4 start=0x4000 name=D\n"
        "? 0x4000 92 = ok D\n"
        "? 0x4000 96 = unloaded D\n",

        /* The end is not part of the gap; the same holds if begin and end are reported together. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "process-gap 30 60\n"
        "60" UNLOAD "id=1 start=0x1000 name=A\n"
        "61" LOAD "id=2 start=0x2000 name=B\n"
        "progress 100\n"
        "? 0x1000 29 = ok A gap\n"
        "? 0x1000 59 = ok A gap\n"
        "? 0x1000 60 = unloaded A\n"
        "? 0x2000 62 = ok B\n",

        /* The rundown arrives before the report of the gap's end. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "11" LOAD "id=2 start=0x2000 name=B\n"
        "process-gap 30 -\n"
        "70" INIT "71" ROW "id=1 start=0x1000 name=A\n"
        "80" COMPLETE "progress 100\n"
        "? 0x2000 90 = ok B gap\n"
        "? 0x9000 90 = no-method gap\n"
        "process-gap 60 60\n"
        "? 0x2000 90 = unloaded B\n"
        "? 0x1000 90 = ok A\n"
        "? 0x9000 90 = no-method\n",

        /* A rundown that ended before the gap's end does not count. */
        "1 RuntimeInformationStart\n"
        "11" LOAD "id=2 start=0x2000 name=B\n"
        "process-gap 30 -\n"
        "70" INIT "80" COMPLETE "progress 100\n"
        "process-gap 75 75\n"
        "? 0x2000 90 = ok B gap\n"
        "? 0x9000 90 = no-method gap\n",

        /* A late report explains the gap that the rundown has shown. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "15" UNLOAD "id=1 start=0x1000 name=A\n"
        "16" LOAD "id=2 start=0x1000 name=B\n"
        "70" INIT "71" ROW "id=2 start=0x1000 name=B\n"
        "72" ROW "id=3 start=0x3000 name=C\n"
        "80" COMPLETE "progress 100\n"
        "? 0x1000 12 = ok A gap\n"
        "process-gap 30 60\n"
        "? 0x1000 12 = ok A\n"
        "? 0x1000 50 = ok B gap\n"
        "? 0x1000 90 = ok B\n",

        /* An earlier rundown does not count while the gap is open; after the end it counts
         * again. */
        "1 RuntimeInformationStart\n"
        "70" INIT "80" COMPLETE "progress 100\n"
        "? 0x9000 90 = no-method\n"
        "process-gap 30 -\n"
        "? 0x9000 90 = no-method gap\n"
        "process-gap 60 60\n"
        "? 0x9000 90 = no-method\n"
        "? 0x9000 65 = no-method gap\n"
        "process-gap 75 78\n"
        "? 0x9000 90 = no-method gap\n",

        /* An end before the begin does not end the gap; the earlier begin counts. */
        "1 RuntimeInformationStart\n"
        "progress 100\n"
        "process-gap 50 -\n"
        "process-gap 30 -\n"
        "process-gap 20 20\n"
        "? 0x9000 29 = no-method\n"
        "? 0x9000 40 = no-method gap\n"
        "? 0x9000 99 = no-method gap\n",

        /* Reports before the first event of a process count for this process, and for no other. */
        "process-gap 30 -\n"
        "process-gap pid=101 20 30\n"
        "process-gap 60 60\n"
        "10 RuntimeInformationStart\n"
        "11 RuntimeInformationStart pid=101\n"
        "progress 100\n"
        "? 0x9000 25 = no-method\n"
        "? 0x9000 40 = no-method gap\n"
        "? pid=101 0x9000 15 = no-method\n"
        "? pid=101 0x9000 25 = no-method gap\n"
        "? pid=102 0x9000 25 = no-process\n",

        /* Some streams do not record the namespace. */
        "1 RuntimeInformationStart\n"
        "progress 100\n"
        "process-gap pid_ns=7 30 -\n"
        "? 0x9000 40 = no-method gap\n",

        /* If a stream records the namespace, a process of another namespace is another process. */
        "1 RuntimeInformationStart pid_ns=8\n"
        "progress 100\n"
        "process-gap pid_ns=7 30 -\n"
        "? 0x9000 40 = no-method\n"
        "process-gap pid_ns=8 30 -\n"
        "? 0x9000 40 = no-method gap\n",

        /* The gap belongs to the process that had the pid then, not to the current one. */
        "1 RuntimeInformationStart\n"
        "40 AppDomainUnload_V1\n"
        "50 RuntimeInformationStart\n"
        "progress 100\n"
        "process-gap 30 -\n"
        "? 0x9000 45 = no-method gap\n"
        "? 0x9000 60 = no-method\n"
        "process-gap 55 58\n"
        "? 0x9000 54 = no-method\n"
        "? 0x9000 60 = no-method gap\n"
        "? 0x9000 29 = no-method\n"
        "process-gap 20 70\n"
        "? 0x9000 25 = no-method gap\n"
        "? 0x9000 54 = no-method gap\n",

        /* A session of another tool gave events before the holder's session: it can have ended. */
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" UNLOAD "id=1 start=0x1000 name=A\n"
        "progress 5000000000\n"
        "? 0x1000 30 = unloaded A\n"
        "process-gap 2000000000 2000000000\n"
        "2000000001" INIT "2000000002" COMPLETE "progress 5000000000\n"
        "? 0x1000 15 = ok A gap\n"
        "? 0x1000 30 = unloaded A gap\n"
        "? 0x1000 2000000003 = unloaded A\n"
        "# the next session of a holder shows nothing of the time before it\n"
        "process-gap 4000000000 4000000000\n"
        "? 0x1000 3000000000 = unloaded A\n",

        /* The session itself gives events before the time of its report. */
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" UNLOAD "id=1 start=0x1000 name=A\n"
        "process-gap 900000000 900000000\n"
        "progress 5000000000\n"
        "? 0x1000 30 = unloaded A\n",

        /* The start of the process was seen, or a rundown: a session was there before. */
        "1 RuntimeInformationStart\n"
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" UNLOAD "id=1 start=0x1000 name=A\n"
        "process-gap 2000000000 2000000000\n"
        "progress 5000000000\n"
        "? 0x1000 30 = unloaded A\n",

        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" UNLOAD "id=1 start=0x1000 name=A\n"
        "25" INIT "26" COMPLETE "process-gap 2000000000 2000000000\n"
        "progress 5000000000\n"
        "? 0x1000 30 = unloaded A\n",

        /* The session belongs to the process that has the pid at its time. */
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" UNLOAD "id=1 start=0x1000 name=A\n"
        "40 AppDomainUnload_V1\n"
        "process-gap 2000000000 2000000000\n"
        "progress 5000000000\n"
        "? 0x1000 30 = unloaded A\n"
        "1900000000 RuntimeInformationStart\n"
        "process-gap 4000000000 4000000000\n"
        "? 0x1000 30 = unloaded A\n",
};

START_TEST(test_told)
{
        script_run(TOLD[_i]);
}
END_TEST

/* The number of kept gaps is bounded, and the merged gaps cover all reports. */
START_TEST(test_many)
{
        g_autoptr(GString) script = g_string_new("1 RuntimeInformationStart\nprogress 100000\n");
        Tracker *tracker;
        const Process *process;
        size_t n_bytes;
        unsigned i;

        for (i = 1; i <= 2000; i++)
                g_string_append_printf(script, "process-gap %u %u\n", 10 * i, 10 * i + 2);
        tracker = script_tracker(script->str);
        process = tracker_process(tracker, &(ProcessKey){0, 100});
        n_bytes = tracker_budget(tracker)->account->n_bytes;
        for (i = 1; i <= 2000; i++)
                ck_assert(process_has_gap(process, 10 * i + 1, 10 * i + 1));
        ck_assert(!process_has_gap(process, 20005, 20009));
        ck_assert(!process_has_gap(process, 19995, 19999));
        ck_assert(!process_has_gap(process, 2, 9));
        g_string_truncate(script, 0);
        for (i = 0; i < 2000; i++)
                g_string_append_printf(script, "process-gap pid=%u 10 -\nprocess-gap %u %u\n",
                                       200 + i, 30000 + 10 * i, 30000 + 10 * i + 2);
        script_go_on(tracker, script->str);
        ck_assert_uint_eq(tracker_budget(tracker)->account->n_bytes, n_bytes);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_script)
{
        script_run(SCRIPTS[_i]);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("process-gap");
        TCase *tcase = tcase_create("process-gap");

        tcase_add_loop_test(tcase, test_script, 0, G_N_ELEMENTS(SCRIPTS));
        tcase_add_loop_test(tcase, test_told, 0, G_N_ELEMENTS(TOLD));
        tcase_add_test(tcase, test_many);
        suite_add_tcase(suite, tcase);
        return suite;
}
