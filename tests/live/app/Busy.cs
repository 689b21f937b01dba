// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Threading;

namespace Live;

/// <summary>
/// Compiles and frees without a pause, until a line comes on standard input. Unloads contexts if it is to:
/// a runtime can die of that when its code is listed.
/// </summary>
public static class Busy
{
    public static void Run(Report report, StreamWriter output, bool withContexts)
    {
        var stop = new Thread(() => Console.In.ReadLine()) { IsBackground = true };

        stop.Start();
        for (int round = 0; stop.IsAlive; round++)
        {
            Tiers.Run();
            Generics.Run();
            DynamicMethods.Run(report, round);
            if (withContexts && round % 8 == 0)
                Contexts.Run(report);
            output.Flush();
        }
    }
}
