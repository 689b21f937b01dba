// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Live;

/// <summary>
/// Dynamic methods that come and go at an even pace for a long time. Some hundred live at once,
/// each until another takes its place; the first of them stay to the end.
/// </summary>
public static class Churn
{
    const int Alive = 800, Kept = 50;
    // So many are made, then comes a collection.
    const int PerRound = 400;
    // One in so many is told of.
    const int ToldShare = 8;

    static readonly List<(DynamicMethod Method, Func<long, long> Call)> kept = new();
    static readonly Func<long, long>?[] alive = new Func<long, long>?[Alive];
    static readonly Random random = new(1);
    static long total;

    public static void Run(Report report, StreamWriter output, int seconds, int bodies)
    {
        var clock = Stopwatch.StartNew();

        for (int made = 0; made < bodies;)
        {
            MakeMany(report, made, Math.Min(made + PerRound, bodies));
            made = Math.Min(made + PerRound, bodies);
            // An even pace, or as fast as it goes.
            double early = (double)seconds * made / bodies - clock.Elapsed.TotalSeconds;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            output.Flush();
            if (early > 0)
                Thread.Sleep(TimeSpan.FromSeconds(early));
        }
    }

    public static void TellKept(Report report)
    {
        foreach (var (method, call) in kept)
        {
            total += call(total);
            DynamicMethods.Tell(report, method);
        }
    }

    /// <summary>Not inlined: nothing of it may be held on the stack when the collector runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeMany(Report report, int begin, int end)
    {
        for (int i = begin; i < end; i++)
        {
            var method = DynamicMethods.Make($"Churn_{i}", random.Next(30));
            var call = (Func<long, long>)method.CreateDelegate(typeof(Func<long, long>));
            total += call(total);
            alive[random.Next(Alive)] = call;
            if (kept.Count < Kept)
                kept.Add((method, call));
            if (i % ToldShare == 0)
                DynamicMethods.Tell(report, method);
        }
    }
}
