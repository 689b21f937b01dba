/* SPDX-License-Identifier: MIT */

/* The meaning of the runtime's events, and the answers: one script for each rule. */

#include "support/script.h"
#include "support/suite.h"

static const char *const SCRIPTS[] = {
        /* A body is alive in [load, unload). */
        "10 RuntimeInformationStart\n"
        "20 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 100\n"
        "? 0x1000 19 = not-yet A\n"
        "? 0x1000 20 = ok A\n"
        "? 0x100f 29 = ok A\n"
        "? 0x1010 29 = no-method\n"
        "? 0x1000 30 = unloaded A\n"
        "? 0x1000 = ok A assumed\n"
        "? 0x2000 = no-method\n"
        "? pid=7 0x1000 = no-process\n",

        /* The same address twice: a time decides; without one there are two candidates. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1008 size=16 name=B\n"
        "40 MethodUnloadVerbose_V1 id=1 start=0x1008 size=16 name=B\n"
        "progress 50\n"
        "? 0x1008 15 = ok A\n"
        "? 0x1008 24 = unloaded A\n"
        "? 0x1008 26 = not-yet B\n"
        "? 0x1008 35 = ok B\n"
        "? 0x1008 = ambiguous 2\n"
        "? 0x1000 = ok A assumed\n",

        /* A holder reports a process long before its runtime starts. */
        "1 DotNETRuntimeRundown:RuntimeInformationDCStart\n"
        "5000000000 RuntimeInformationStart\n"
        "5000000010 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 5000000020\n"
        "? 0x1000 5 = not-yet A\n"
        "? 0x1000 5000000015 = ok A\n",

        /* A load over a live body: its unload was lost. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 MethodLoadVerbose_V1 id=2 start=0x1010 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 25 = unloaded A\n"
        "? 0x1010 25 = ok B\n"
        "# the unload that comes late is not B's\n"
        "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "? 0x1010 35 = ok B\n"
        "? 0x1000 25 = unloaded A\n",

        /* Two threads race to compile and both report the winner's body. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "11 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A tid=101\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "? 0x1000 10 = ok A\n"
        "? 0x1000 = ok A assumed\n",

        /* Flags may differ between load and unload; versions do not. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=0x1c8\n"
        "12 MethodLoadVerbose_V2 id=1 start=0x2000 size=32 name=A2 rejit=1\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=0x188\n"
        "progress 50\n"
        "? 0x1000 25 = unloaded A\n"
        "? 0x2000 25 = ok A2\n",

        /* An unload without a load: the body was there before. */
        "10 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "? 0x1000 5 = ok A assumed\n"
        "? 0x1000 10 = unloaded A\n"
        "? 0x1000 = ok A assumed\n",

        /* A debug build's method is compiled a second time, with new IL. 0x88: never optimized. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A flags=0x88\n"
        "11 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A flags=0x88 tid=101\n"
        "12 MethodLoadVerbose_V1 id=2 start=0x3000 size=16 name=B flags=0x188\n"
        "20 MethodLoadVerbose_V1 id=1 start=0x2000 size=16 name=A flags=0x88\n"
        "21 MethodLoadVerbose_V2 id=2 start=0x4000 size=16 name=B rejit=1 flags=0x208\n"
        "progress 50\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 25 = ok A\n"
        "? 0x2000 25 = ok A edited\n"
        "? 0x3000 25 = ok B\n"
        "? 0x4000 25 = ok B\n",

        /* After hot reload, methods compiled later may have new IL. The runtime has no bit 30. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A flags=0x40000088\n"
        "20 R2RGetEntryPoint ns=System.Reflection.Metadata.MetadataUpdater name=ApplyUpdate "
        "entry=0x9000\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=16 name=B flags=0x88\n"
        "31 MethodLoadVerbose_V1 id=3 start=0x3000 size=16 name=C flags=0x188\n"
        "progress 50\n"
        "? 0x1000 35 = ok A\n"
        "? 0x2000 35 = ok B edited\n"
        "? 0x3000 35 = ok C\n",

        /* Hot reload before the attachment: the changed methods are unknown. */
        "5 DotNETRuntimeRundown:DCStartInit_V1\n"
        "6 DotNETRuntimeRundown:MethodDCStartVerbose_V1 id=1 start=0x1000 size=16 name=A "
        "flags=0x88\n"
        "7 DotNETRuntimeRundown:MethodDCStartVerbose_V1 id=9 start=0x9000 size=16 name=ApplyUpdate "
        "ns=System.Reflection.Metadata.MetadataUpdater\n"
        "8 DotNETRuntimeRundown:DCStartComplete_V1\n"
        "progress 50\n"
        "? 0x1000 20 = ok A edited\n",

        /* The unload of a module ends its bodies; the id names another module afterwards. */
        "1 RuntimeInformationStart\n"
        "5 ModuleLoad_V2 module=0x77 path=/a.dll\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A module=0x77\n"
        "20 ModuleUnload_V2 module=0x77 path=/a.dll\n"
        "25 ModuleLoad_V2 module=0x77 path=/b.dll\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x3000 size=32 name=B module=0x77\n"
        "progress 50\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 21 = unloaded A\n"
        "? 0x3000 35 = ok B\n",

        /* A rundown row covers earlier times; it confirms known bodies, and ends bodies that it
         * overlaps. */
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "11 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "22 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=3 start=0x2000 size=32 name=C\n"
        "23 DotNETRuntimeRundown:MethodDCEndVerbose_V2 id=4 start=0x4000 size=32 name=D rejit=1\n"
        "progress 50\n"
        "? 0x4000 5 = ok D assumed\n"
        "? 0x4000 30 = ok D\n"
        "? 0x1000 30 = ok A\n"
        "? 0x2000 21 = ok B assumed\n"
        "? 0x2000 30 = ok C\n",

        /* A body that was compiled before a complete rundown and is missing in it has ended. */
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "11 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=8\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "22 MethodLoadVerbose_V1 id=3 start=0x3000 size=32 name=N flags=8\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x2000 15 = ok B gap\n"
        "? 0x2000 40 = unloaded B\n"
        "? 0x1000 40 = ok A\n"
        "? 0x3000 40 = ok N\n"
        "? 0x9000 40 = no-method\n"
        "? 0x9000 5 = no-method gap\n",

        /* A rundown with only modules does not list code, so it ends no body. */
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 DotNETRuntimeRundown:ModuleDCEnd_V2 module=7\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x1000 40 = ok A\n"
        "? 0x9000 40 = no-method gap\n",

        /* With the settings of the JIT, it would list code: a starting program has none. */
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "19 DotNETRuntimeRundown:TieredCompilationSettingsDCStart\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 DotNETRuntimeRundown:ModuleDCEnd_V2 module=7\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "35 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=8\n"
        "40 DotNETRuntimeRundown:DCEndInit_V1\n"
        "41 DotNETRuntimeRundown:ModuleDCEnd_V2 module=7\n"
        "45 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x1000 40 = unloaded A\n"
        "? 0x2000 46 = ok B\n"
        "? 0x9000 32 = no-method\n"
        "? 0x9000 5 = no-method gap\n",

        /* A rundown also lists bodies that are unloaded while it runs: the unload stays valid. */
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=9\n"
        "11 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=9\n"
        "12 MethodUnloadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=9\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=9\n"
        "22 MethodUnloadVerbose_V1 id=3 start=0x3000 size=32 name=C flags=9\n"
        "23 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A flags=9\n"
        "24 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=3 start=0x3000 size=32 name=C flags=9\n"
        "25 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=2 start=0x2000 size=32 name=B flags=9\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x1000 20 = ok A\n"
        "? 0x1000 40 = unloaded A\n"
        "? 0x3000 15 = ok C assumed\n"
        "? 0x3000 40 = unloaded C\n"
        "? 0x2000 40 = ok B\n",

        /* The runtime's rundown at its exit, after all unloads, begins no lives, either. Its IL map
         * belongs to the earlier code. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "11 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=8\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "21 MethodUnloadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=8\n"
        "22 AppDomainUnload_V1\n"
        "30 DotNETRuntimeRundown:DCEndInit_V1\n"
        "31 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=A flags=8\n"
        "32 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=3 start=0x2000 size=32 name=C\n"
        "40 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 31 = unloaded A\n"
        "? 0x1000 = ok A assumed\n"
        "? 0x2000 15 = ok B\n"
        "? 0x2000 = ok C\n",

        /* The rule does not apply if events were lost in between. */
        "10 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B flags=8\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "gap 22 25 7\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x2000 40 = ok B gap\n",

        /* A loss affects only answers that it can have changed. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "15 MethodUnloadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "16 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "gap 20 30 5\n"
        "35 MethodLoadVerbose_V1 id=3 start=0x3000 size=32 name=C\n"
        "40 MethodUnloadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 12 = ok A\n"
        "? 0x1000 17 = unloaded A\n"
        "? 0x1000 25 = unloaded A gap\n"
        "? 0x1000 45 = unloaded A gap\n"
        "# alive at both ends of the loss, so alive in it? it can have gone and come again\n"
        "? 0x2000 25 = ok B gap\n"
        "? 0x3000 45 = ok C\n"
        "? 0x3000 33 = not-yet C gap\n"
        "? 0x3000 12 = not-yet C gap\n",

        /* A time past the horizon. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: progress 5\n"
        "? 0x1000 10 = ok A provisional\n"
        "? 0x2000 10 = pending provisional\n"
        "? 0x1000 = ok A\n"
        "1: progress 40\n"
        "progress 20\n"
        "? 0x1000 20 = ok A\n"
        "? 0x1000 21 = ok A provisional\n"
        "? 0x2000 20 = no-method\n"
        "close\n"
        "? 0x1000 40 = ok A\n"
        "? 0x1000 41 = ok A provisional\n"
        "1: close\n"
        "? 0x1000 40 = ok A\n",

        /* A killed process: after the end of its session, too, no event can arrive. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 20\n"
        "ended 40\n"
        "? 0x1000 30 = ok A provisional\n"
        "? 0x2000 30 = pending provisional\n"
        "? 0x2000 50 = pending provisional\n"
        "close\n"
        "? 0x1000 20 = ok A\n"
        "? 0x1000 21 = ok A gap\n"
        "? 0x2000 20 = no-method\n"
        "? 0x2000 21 = no-method gap\n"
        "? 0x2000 50 = no-method gap\n"
        "? 0x1000 2000000000 = unloaded A gap\n",

        /* The same, but the event of the runtime's end arrived: no loss. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 AppDomainUnload_V1\n"
        "? 0x2000 30 = pending provisional\n"
        "close\n"
        "? 0x2000 30 = no-method\n"
        "? 0x1000 21 = ok A\n"
        "? 0x1000 2000000000 = unloaded A\n",

        /* Another program reuses the pid. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 AppDomainUnload_V1\n"
        "# other threads of the old one are not done yet\n"
        "21 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "100 RuntimeInformationStart\n"
        "110 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=N\n"
        "progress 200\n"
        "? 0x1000 15 = ok A\n"
        "? 0x2000 22 = ok B\n"
        "? 0x1000 115 = ok N\n"
        "? 0x2000 115 = no-method\n"
        "? 0x2000 = no-method\n",

        /* The same without the start event of the new runtime: long after the exit, it is another
         * program. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 AppDomainUnload_V1\n"
        "5000000000 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=N\n"
        "progress 6000000000\n"
        "? 0x1000 5000000001 = no-method gap\n"
        "? 0x2000 5000000001 = ok N\n"
        "? 0x1000 15 = ok A\n",

        /* The same without any event of the other program: the current process is unknown. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "20 AppDomainUnload_V1\n"
        "progress 6000000000\n"
        "? 0x1000 1000000020 = ok A\n"
        "? 0x1000 1000000021 = unloaded A\n"
        "? 0x1000 5000000000 = unloaded A\n"
        "? 0x1000 6000000001 = pending A provisional\n"
        "? 0x1000 = ok A\n",

        /* The same without a seen exit, but the program of the pid was started later. */
        "100000000 RuntimeInformationStart\n"
        "200000000 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "started 50000000\n"
        "300000000 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "started 400000000\n"
        "350000000 MethodLoadVerbose_V1 id=3 start=0x3000 size=32 name=C\n"
        "500000000 MethodLoadVerbose_V1 id=4 start=0x4000 size=32 name=N\n"
        "progress 600000000\n"
        "? 0x2000 360000000 = ok B\n"
        "? 0x3000 360000000 = ok C\n"
        "? 0x4000 550000000 = ok N\n"
        "? 0x2000 550000000 = no-method gap\n",

        /* One pid in two pid namespaces. */
        "10 MethodLoadVerbose_V1 pid=1 pid_ns=11 id=1 start=0x1000 size=32 name=A\n"
        "11 MethodLoadVerbose_V1 pid=1 pid_ns=22 id=1 start=0x1000 size=32 name=B\n"
        "? pid=1 0x1000 = ambiguous 2\n",

        /* Precompiled code: only the first address is known, until a rundown gives the extent. */
        "1 RuntimeInformationStart\n"
        "10 R2RGetEntryPoint id=1 entry=0x1000 name=P\n"
        "11 R2RGetEntryPoint id=2 entry=0 name=Q\n"
        "progress 50\n"
        "? 0x1000 10 = ok P\n"
        "? 0x1000 5 = ok P assumed\n"
        "? 0x1001 10 = no-method\n"
        "20 DotNETRuntimeRundown:DCEndInit_V1\n"
        "21 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=32 name=P\n"
        "30 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "? 0x1001 10 = ok P\n"
        "? 0x1001 40 = ok P\n",

        /* Records at or below the watermark of an earlier batch are already known. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "10 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "commit\n"
        "10 MethodLoadVerbose_V1 id=3 start=0x1000 size=32 name=X\n"
        "9 MethodLoadVerbose_V1 id=3 start=0x2000 size=32 name=X\n"
        "progress 50\n"
        "? 0x1000 20 = ok A\n"
        "? 0x2000 20 = ok B\n",

        /* A feeder that was away: a gap, unless its data goes back far enough. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "commit\n"
        "detach\n"
        "open\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 40 = ok A gap\n"
        "? 0x2000 40 = ok B\n",

        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "commit\n"
        "detach\n"
        "open\n"
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 40 = ok A\n"
        "? 0x2000 40 = ok B\n",

        /* A second feeder opens the stream before the first data: the gap can still be found. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "commit\n"
        "detach\n"
        "open\n"
        "open\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 40 = ok A gap\n"
        "? 0x2000 40 = ok B\n",

        /* The same; one of the two feeders leaves before the first data. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "commit\n"
        "detach\n"
        "open\n"
        "open\n"
        "detach\n"
        "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "progress 50\n"
        "? 0x1000 40 = ok A gap\n",

        /* The feeder comes back, but without data of one of the streams: the gap stays until the
         * feeder reports that stream as quiet. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "1: progress 12\n"
        "commit\n"
        "detach\n"
        "1: detach\n"
        "open\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "? 0x1000 12 = ok A\n"
        "? 0x1000 13 = ok A provisional\n"
        "quiet 30\n"
        "? 0x1000 11 = ok A\n"
        "? 0x1000 12 = ok A gap\n"
        "? 0x1000 30 = ok A gap\n"
        "35 MethodLoadVerbose_V1 id=2 start=0x2000 size=32 name=B\n"
        "? 0x2000 35 = ok B provisional\n"
        "quiet 40\n"
        "quiet 20\n"
        "? 0x2000 40 = ok B\n"
        "? 0x2000 41 = ok B provisional\n"
        "1: open\n"
        "1: 45 MethodLoadVerbose_V1 id=3 start=0x3000 size=32 name=C\n"
        "1: progress 50\n"
        "? 0x2000 50 = ok B\n"
        "? 0x3000 50 = ok C\n",

        /* The feeder leaves again: the quiet stream is known to be quiet only until then. */
        "1 RuntimeInformationStart\n"
        "1: progress 12\n"
        "commit\n"
        "1: detach\n"
        "quiet 20\n"
        "25 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "commit\n"
        "detach\n"
        "open\n"
        "25 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "? 0x1000 26 = ok A provisional\n"
        "quiet 40\n"
        "? 0x1000 30 = ok A gap\n",

        /* The feeder ends the last fed stream: the quiet stream has ended, too. */
        "1 RuntimeInformationStart\n"
        "1: progress 12\n"
        "2: progress 12\n"
        "commit\n"
        "1: detach\n"
        "quiet 20\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 50\n"
        "close\n"
        "? 0x1000 30 = ok A provisional\n"
        "2: progress 50\n"
        "2: close\n"
        "? 0x1000 50 = ok A\n",

        /* A load without names takes them from its compilation; a module id alone gives none. */
        "1 RuntimeInformationStart\n"
        "9 MethodJittingStarted_V1 id=1 name=A\n"
        "10 MethodLoad_V1 id=1 start=0x1000 size=32\n"
        "11 MethodLoad_V1 id=2 start=0x2000 size=32\n"
        "progress 50\n"
        "? 0x1000 40 = ok A\n"
        "? 0x2000 40 = ok -\n",

        /* Code at an address that no program has. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0xffffffffffffff00 size=32 name=A\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x7fffffffffffffff size=32 name=A\n"
        "10 R2RGetEntryPoint id=1 entry=0xffffffffffffff00 name=A\n"
        "progress 50\n"
        "? 0xffffffffffffff00 40 = no-method\n",
        /* Per-UID buffers: a loss affects every process in the buffers, and no others. */
        "1 RuntimeInformationStart pid=100\n"
        "2 RuntimeInformationStart pid=101\n"
        "10: 3 RuntimeInformationStart pid=200\n"
        "10 MethodLoadVerbose_V1 pid=100 id=1 start=0x1000 size=16 name=A\n"
        "11 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=B\n"
        "10: 12 MethodLoadVerbose_V1 pid=200 id=1 start=0x1000 size=16 name=C\n"
        "1: gap 20 30 5\n"
        "progress 50\n"
        "1: progress 50\n"
        "10: progress 50\n"
        "? pid=100 0x1000 15 = ok A\n"
        "? pid=100 0x1000 40 = ok A gap\n"
        "? pid=101 0x1000 40 = ok B gap\n"
        "? pid=200 0x1000 40 = ok C\n"
        "? pid=200 0x1000 = ok C\n"
        "? pid=100 0x1000 = ok A gap\n",

        /* The streams of a process's own trace decide its horizon. */
        "1 RuntimeInformationStart pid=100\n"
        "10: 3 RuntimeInformationStart pid=200\n"
        "10 MethodLoadVerbose_V1 pid=100 id=1 start=0x1000 size=16 name=A\n"
        "10: 12 MethodLoadVerbose_V1 pid=200 id=1 start=0x1000 size=16 name=C\n"
        "10: progress 50\n"
        "? pid=100 0x1000 40 = ok A provisional\n"
        "? pid=200 0x1000 40 = ok C\n",

        /* An ended session does not hold back its successor. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=32 name=A\n"
        "progress 20\n"
        "10: 30 MethodLoadVerbose_V1 id=2 start=0x2000 size=16 name=B\n"
        "10: progress 50\n"
        "? 0x2000 40 = ok B provisional\n"
        "close\n"
        "? 0x2000 40 = ok B\n"
        "? 0x2000 51 = ok B provisional\n"
        "10: close\n"
        "? 0x2000 50 = ok B\n"
        "? 0x2000 51 = ok B provisional\n",

        /* A rundown row is a confirmation: after it, an earlier loss does not matter. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "gap 20 30 5\n"
        "40 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 50\n"
        "? 0x1000 25 = ok A gap\n"
        "? 0x1000 40 = ok A\n"
        "? 0x1000 45 = ok A\n"
        "? 0x1000 = ok A\n",

        /* No body at the address: a complete rundown after the loss proves it. */
        "1 RuntimeInformationStart\n"
        "gap 20 30 5\n"
        "35 DotNETRuntimeRundown:DCEndInit_V1\n"
        "40 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "progress 50\n"
        "? 0x1000 15 = no-method gap\n"
        "? 0x1000 45 = no-method\n",

        /* The first seen version can be other than 0, and each version is a body of its own. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V2 id=1 start=0x1000 size=16 name=A rejit=1\n"
        "20 MethodLoadVerbose_V1 id=1 start=0x2000 size=16 name=A\n"
        "progress 50\n"
        "? 0x1000 30 = ok A\n"
        "? 0x2000 30 = ok A\n",

        /* Two sessions trace one process: one process, one life of each body. */
        "1 RuntimeInformationStart\n"
        "10: 2 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "10: 11 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "10: 21 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 50\n"
        "10: progress 50\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 21 = unloaded A\n"
        "? 0x1000 = ok A assumed\n",

        /* Another method reuses a MethodID at the same address. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "20 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=B\n"
        "40 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=B\n"
        "# whose load was lost\n"
        "45 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=C\n"
        "progress 50\n"
        "? 0x1000 15 = ok A\n"
        "? 0x1000 25 = unloaded A\n"
        "? 0x1000 35 = ok B\n"
        "? 0x1000 42 = ok C assumed\n",

        /* The same; the unload was lost. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "30 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=B\n"
        "# not its\n"
        "35 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 50\n"
        "? 0x1000 15 = ok A assumed\n"
        "? 0x1000 32 = ok B\n"
        "? 0x1000 40 = ok B\n",

        /*
         * A forked process has its parent's code, without events of its own: it gets no names from
         * the parent. Its own events are its own, and neither process ends a body of the other.
         */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "11 MethodLoadVerbose_V1 id=2 start=0x2000 size=16 name=B\n"
        "? pid=101 0x1000 12 = no-process\n"
        "20 MethodLoadVerbose_V1 pid=101 id=3 start=0x3000 size=16 name=C\n"
        "21 MethodLoadVerbose_V1 pid=101 id=4 start=0x2000 size=16 name=D\n"
        "progress 30\n"
        "? pid=101 0x1000 25 = no-method gap\n"
        "? pid=101 0x1000 15 = no-method gap\n"
        "? pid=101 0x1000 = no-method gap\n"
        "? pid=101 0x3000 25 = ok C\n"
        "? pid=101 0x2000 25 = ok D\n"
        "? pid=101 0x2000 20 = not-yet D gap\n"
        "? 0x3000 25 = no-method\n"
        "? 0x2000 25 = ok B\n"
        "40 MethodUnloadVerbose_V1 id=2 start=0x2000 size=16 name=B\n"
        "41 MethodUnloadVerbose_V1 pid=101 id=3 start=0x3000 size=16 name=C\n"
        "42 MethodLoadVerbose_V1 id=5 start=0x3000 size=16 name=E\n"
        "progress 50\n"
        "? 0x2000 45 = unloaded B\n"
        "? pid=101 0x2000 45 = ok D\n"
        "? pid=101 0x3000 45 = unloaded C\n"
        "? 0x3000 45 = ok E\n"
        "50 MethodUnloadVerbose_V1 pid=101 id=4 start=0x2000 size=16 name=D\n"
        "# the unload of what was there at the copy's begin\n"
        "51 MethodUnloadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=A\n"
        "52 AppDomainUnload_V1\n"
        "progress 60\n"
        "? pid=101 0x1000 30 = ok A assumed\n"
        "? pid=101 0x1000 55 = unloaded A\n"
        "? 0x1000 51 = ok A\n",

        /* The same; both processes have the same body. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "20 DotNETRuntimeRundown:MethodDCEndVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=A\n"
        "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "progress 50\n"
        "? 0x1000 40 = unloaded A\n"
        "? pid=101 0x1000 40 = ok A\n"
        "60 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "70 MethodUnloadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=A\n"
        "progress 80\n"
        "? 0x1000 75 = ok A\n"
        "? pid=101 0x1000 75 = unloaded A\n",

        /* A fork, then an exec: the new program begins at its start, and has no earlier bodies. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "20 RuntimeInformationStart pid=101\n"
        "30 MethodLoadVerbose_V1 pid=101 id=1 start=0x2000 size=16 name=M\n"
        "progress 50\n"
        "? pid=101 0x1000 25 = no-method\n"
        "? pid=101 0x1000 = no-method\n"
        "? pid=101 0x2000 25 = not-yet M\n"
        "? pid=101 0x2000 35 = ok M\n",

        /* The same; the copy emits an event of its own before the exec. */
        "1 RuntimeInformationStart\n"
        "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
        "15 MethodLoadVerbose_V1 pid=101 id=2 start=0x3000 size=16 name=C\n"
        "20 RuntimeInformationStart pid=101\n"
        "30 MethodLoadVerbose_V1 pid=101 id=1 start=0x2000 size=16 name=M\n"
        "progress 50\n"
        "? pid=101 0x1000 17 = no-method gap\n"
        "? pid=101 0x3000 17 = ok C\n"
        "? pid=101 0x3000 25 = no-method\n"
        "? pid=101 0x3000 = no-method\n"
        "? pid=101 0x1000 25 = no-method\n"
        "? pid=101 0x2000 35 = ok M\n",
};

START_TEST(test_script)
{
        script_run(SCRIPTS[_i]);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("tracker");
        TCase *tcase = tcase_create("tracker");

        tcase_add_loop_test(tcase, test_script, 0, G_N_ELEMENTS(SCRIPTS));
        suite_add_tcase(suite, tcase);
        return suite;
}
