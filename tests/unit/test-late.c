/* SPDX-License-Identifier: MIT */

/*
 * Late events of a process, as from two sessions of which one lags: each event concerns its own
 * time, and later observations stay true. One script for each rule.
 */

#include "support/script.h"
#include "support/suite.h"

static const char *const SCRIPTS[] = {
        /* A second load, or a rundown row, of a body that has ended since does not bring it
         * back. */
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

        /* An unload ends no younger body, not even one of the same identity. */
        "1 RuntimeInformationStart\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 26 = not-yet A\n"
        "? 0x1000 40 = ok A\n",

        /* Of two unloads, the first ends the body. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 19 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 5 = not-yet A\n"
        "? 0x1000 18 = ok A\n"
        "? 0x1000 25 = unloaded A\n",

        /* The load of a body that was known only from its unload, or from a row: the body begins at
         * the load. */
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
         * Of two loads of one body, the first comes after the second. If an unload between them
         * comes even later, the loads are of two bodies.
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

        /* Two loads are of two bodies if another body was there in between. */
        "1 RuntimeInformationStart\n"
        "20 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 25 = ok B assumed\n"
        "? 0x1000 35 = ok A\n",

        /* A body that was seen later was loaded again, whichever body was there in between. */
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

        /* A body that was seen only later was not there before the other body. */
        "1 RuntimeInformationStart\n"
        "30 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: 20 MethodLoadVerbose_V1 id=2 start=0x1000 size=32 name=B\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 15 = not-yet B\n"
        "? 0x1000 25 = ok B assumed\n"
        "? 0x1000 35 = ok A\n",

        /* A row before the rundown does not hide the same body's row in the rundown. */
        "1 RuntimeInformationStart\n"
        "25 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "1: 15 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A "
        "flags=8\n"
        "1: 20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "1: 30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 40 = ok A\n",

        /* The end of one rundown does not end the next rundown. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "50 DotNETRuntimeRundown:DCEndInit_V1\n"
        "1: 40 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 100\n"
        "1: progress 100\n"
        "? 0x1000 60 = ok A\n",

        /* The unload of a module ends its bodies of that time. A younger module of the same id
         * stays. */
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

        /* A whole session lags: each body has one life, whichever of the two times is earlier. */
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

/* A compilation and an IL map belong to the body of their time, not to another body with the same
 * id. */
START_TEST(test_compilation)
{
        Tracker *tracker = script_tracker(
                "1 RuntimeInformationStart\n"
                "18 MethodJittingStarted_V1 id=1 name=A\n"
                "30 MethodLoadVerbose_V2 id=1 start=0x1000 size=32 name=A\n"
                "31 MethodILToNativeMap_V1 id=1 ilversion=2 ILOffsets=0 NativeOffsets=0\n"
                "1: 15 MethodILToNativeMap_V1 id=1 ilversion=1 ILOffsets=0 NativeOffsets=0\n"
                "1: 16 MethodLoadVerbose_V2 id=1 start=0x2000 size=32 name=A\n"
                /* The body is known already from a later row. */
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
