/* SPDX-License-Identifier: MIT */

/*
 * Events that come late, after later ones of the same process: two sessions trace it, and one lags.
 * Each event concerns its own time, and what was seen later stays true. One script for each rule.
 */

#include "support/script.h"
#include "support/suite.h"

static const char *const SCRIPTS[] = {
        /* A second load, or a rundown row, of a body that has ended since does not bring it back.
         */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 15 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 12 = ok A\n"
        "? 0x1000 25 = unloaded A\n"
        "? 0x1000 = ok A assumed\n",

        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 15 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 12 = ok A\n"
        "? 0x1000 25 = unloaded A\n",

        /* An unload ends nobody who is younger, also of the same identity. */
        "1 RuntimeInformationStart\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 26 = not-yet A\n"
        "? 0x1000 40 = ok A\n",

        /* The first of two unloads is its end. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 19 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 5 = not-yet A\n"
        "? 0x1000 18 = ok A\n"
        "? 0x1000 25 = unloaded A\n",

        /* The load of a body of which only the unload, or a row, was seen: there it began. */
        "1 RuntimeInformationStart\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 5 = not-yet A\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 25 = unloaded A\n"
        "? 0x1000 = ok A assumed\n",

        "1 RuntimeInformationStart\n"
        "20 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 5 = not-yet A\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 25 = ok A\n",

        /*
         * The first of two loads, after the second: it is one body. If an unload in between comes
         * later still, it was two.
         */
        "1 RuntimeInformationStart\n"
        "20 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A\n"
        "90 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "? 0x1000 = ok A assumed\n",

        "1 RuntimeInformationStart\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 24 = unloaded A\n"
        "? 0x1000 40 = ok A\n"
        "? 0x1000 = ok A\n",

        /* Not so if another was there in between. */
        "1 RuntimeInformationStart\n"
        "20 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 25 = ok B assumed\n"
        "? 0x1000 35 = ok A\n",

        /* Who was seen later on was there again, whoever was there in between. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 25 = ok B assumed\n"
        "? 0x1000 35 = ok A\n",

        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 24 = unloaded A\n"
        "? 0x1000 26 = not-yet A\n"
        "? 0x1000 35 = ok A\n",

        /* Who was seen only later was not there before another. */
        "1 RuntimeInformationStart\n"
        "30 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = not-yet B\n"
        "? 0x1000 25 = ok B assumed\n"
        "? 0x1000 35 = ok A\n",

        /* A row of before the rundown does not hide the one in it. */
        "1 RuntimeInformationStart\n"
        "25 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "1: 15 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A "
        "flags=8\n"
        "1: 20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "1: 30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 40 = ok A\n",

        /* The end of one rundown is not that of the next. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "50 DotNETRuntimeRundown:DCEndInit_V1\n"
        "1: 40 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 60 = ok A\n",

        /* The unload of a module ends who was there by then. A younger module of that id stays. */
        "1 RuntimeInformationStart\n"
        "5 ModuleLoad_V2 module=7 path=/a\n"
        "20 ModuleUnload_V2 module=7 path=/a\n"
        "25 ModuleLoad_V2 module=7 path=/b\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A module=7\n"
        "1: 21 ModuleUnload_V2 module=7 path=/a\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 40 = ok A\n",

        "1 RuntimeInformationStart\n"
        "5 ModuleLoad_V2 module=7 path=/a\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A module=7\n"
        "1: 20 ModuleUnload_V2 module=7 path=/a\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 40 = ok A\n"
        "50 ModuleUnload_V2 module=7 path=/a\n"
        "? 0x1000 45 = ok A\n"
        "? 0x1000 55 = unloaded A\n",

        /* A whole session that lags: each body has one life, whichever of the two times is
           earlier. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "1: 11 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 21 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 31 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 9 = not-yet A\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 24 = unloaded A\n"
        "? 0x1000 35 = ok B\n"
        "90 MethodUnloadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "1: progress 100\n"
        "? 0x1000 = ambiguous 2\n",

        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "1: 9 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 19 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 29 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 8 = not-yet A\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 22 = unloaded A\n"
        "? 0x1000 35 = ok B\n"
        "90 MethodUnloadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "1: progress 100\n"
        "? 0x1000 = ambiguous 2\n",
};

START_TEST(test_script)
{
        script_run(SCRIPTS[_i]);
}
END_TEST

/* A compilation and an IL map are of the body of their time, not of another that has its id. */
START_TEST(test_compilation)
{
        Tracker *tracker = script_tracker(
                "1 RuntimeInformationStart\n"
                "18 MethodJittingStarted_V1 id=1 name=A\n"
                "30 MethodLoadVerbose_V2 id=1 start=0x1000 size=32 name=A\n"
                "31 MethodILToNativeMap_V1 id=1 ilversion=2 ILOffsets=0 NativeOffsets=0\n"
                "1: 15 MethodILToNativeMap_V1 id=1 ilversion=1 ILOffsets=0 NativeOffsets=0\n"
                "1: 16 MethodLoadVerbose_V2 id=1 start=0x2000 size=32 name=A\n"
                /* Known from a later row already. */
                "40 DotNETRuntimeRundown:MethodDCEndVerbose_V2 id=2 start=0x3000 size=32 name=B\n"
                "1: 17 MethodJittingStarted_V1 id=2 name=B\n"
                "1: 19 MethodLoadVerbose_V2 id=2 start=0x3000 size=32 name=B\n");
        const Process *process = tracker_processes(tracker)->pdata[0];

        ck_assert_uint_eq(codemap_live(process->map, 0x1000)->jit_time, 1);
        ck_assert_uint_eq(codemap_live(process->map, 0x2000)->jit_time, 0);
        ck_assert_uint_eq(codemap_live(process->map, 0x3000)->jit_time, 1);
        ck_assert_uint_eq(ilmap_version(body_il_map(codemap_live(process->map, 0x1000))), 2);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("late");
        TCase *tcase = tcase_create("late");

        tcase_add_loop_test(tcase, test_script, 0, G_N_ELEMENTS(SCRIPTS));
        tcase_add_test(tcase, test_compilation);
        suite_add_tcase(suite, tcase);
        return suite;
}
