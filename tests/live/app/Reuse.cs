// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Live;

/// <summary>
/// Dynamic methods that compute for some milliseconds each, one after another, mostly in memory that
/// others had before. For each it prints "SPAN BEGIN END METHOD", in ns of CLOCK_MONOTONIC: at each
/// instant between, this thread was in that method.
/// </summary>
public static class Reuse
{
    const int PerRound = 50;
    // Some ms.
    const long Turns = 10_000_000;

    static long total;

    public static void Run(Report report, StreamWriter output, double seconds)
    {
        var clock = Stopwatch.StartNew();

        for (int round = 0; clock.Elapsed.TotalSeconds < seconds; round++)
        {
            CallMany(report, output, round);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        output.Flush();
    }

    /// <summary>Not inlined: nothing of it may be held on the stack when the collector runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CallMany(Report report, StreamWriter output, int round)
    {
        for (int i = 0; i < PerRound; i++)
        {
            DynamicMethod method = Make($"Reuse_{round}_{i}");
            var call = (Func<long, long>)method.CreateDelegate(typeof(Func<long, long>));
            total += call(1); // compiles it
            long begin = Stopwatch.GetTimestamp();
            total += call(Turns);
            long end = Stopwatch.GetTimestamp();
            DynamicMethods.Tell(report, method);
            output.WriteLine($"SPAN {begin} {end} {method.Name}");
        }
    }

    /// <summary>Counts its argument down.</summary>
    static DynamicMethod Make(string name)
    {
        var method = new DynamicMethod(name, typeof(long), [typeof(long)], typeof(Reuse).Module);
        ILGenerator il = method.GetILGenerator();
        Label again = il.DefineLabel();
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Starg_S, (byte)0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brtrue, again);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
        return method;
    }
}
