/* SPDX-License-Identifier: MIT */

/*
 * A process that told nothing for a while, though no stream lost anything: what a rundown proves of
 * it; one script a rule.
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
        /* Jitted code that nobody told of, between two rundowns: it was silent there. */
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

        /* What the first rundown of a late attachment lists was there before: that is no proof. */
        "10" LOAD "id=1 start=0x1000 name=A\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "22" ROW "id=2 start=0x2000 name=B\n"
        "30" COMPLETE "progress 100\n"
        "? 0x1000 15 = ok A\n"
        "? 0x2000 15 = ok B assumed\n"
        "? 0x9000 15 = no-method gap\n"
        "? 0x9000 40 = no-method\n",

        /* But it is of one whose start was seen. */
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

        /* Jitted code that is gone without a word. */
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

        /* Precompiled code comes and stays without a word. */
        "1 RuntimeInformationStart\n"
        "5 R2RGetEntryPoint id=1 entry=0x1000 name=P\n"
        "20" INIT "21" R2R_ROW "id=2 start=0x2000 name=Q\n"
        "30" COMPLETE "progress 100\n"
        "? 0x1000 15 = ok P\n"
        "? 0x9000 15 = no-method\n",

        /* A load follows its publishing by a moment: in the rundown, or behind it. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "22" ROW "id=2 start=0x2000 name=B\n"
        "23" LOAD "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method gap\n"
        "31" LOAD "id=2 start=0x2000 name=B tid=101\n"
        "? 0x9000 15 = no-method\n"
        "? 0x2000 40 = ok B\n",

        /* Long after, it is another load. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "2000000000" LOAD "id=1 start=0x1000 name=A\n"
        "progress 2000000001\n"
        "? 0x9000 15 = no-method gap\n",

        /* By another session it comes late. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "10: 10" LOAD "id=1 start=0x1000 name=A\n"
        "progress 100\n"
        "10: progress 100\n"
        "? 0x9000 15 = no-method\n"
        "? 0x1000 15 = ok A\n",

        /* A loss that is known explains it. */
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

        /* A rundown that is not whole proves nothing. */
        "1 RuntimeInformationStart\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "gap 22 23 1\n"
        "30" COMPLETE "40" INIT "41" ROW "id=1 start=0x1000 name=A\n"
        "50" COMPLETE "progress 100\n"
        "? 0x9000 10 = no-method gap\n"
        "? 0x1000 42 = ok A\n",

        /* A row outside of any is none of a rundown. */
        "1 RuntimeInformationStart\n"
        "11" ROW "id=1 start=0x1000 name=A\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? 0x9000 15 = no-method\n",

        /* Each rundown for itself: what one has proven stays. */
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

        /* Another process knows nothing of it, nor does the next one of that pid. */
        "1 RuntimeInformationStart\n"
        "2 RuntimeInformationStart pid=101\n"
        "20" INIT "21" ROW "id=1 start=0x1000 name=A\n"
        "30" COMPLETE "progress 100\n"
        "? pid=101 0x9000 15 = no-method\n"
        "40 AppDomainUnload_V1\n"
        "50 RuntimeInformationStart\n"
        "? 0x9000 60 = no-method\n",
};

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
        suite_add_tcase(suite, tcase);
        return suite;
}
