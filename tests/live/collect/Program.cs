// SPDX-License-Identifier: MIT
//
// Half of its time it collects garbage: `Program SECONDS`. It prints its collections by generation, for how many
// seconds of how many they paused it, and the number of its last collection in the background, or 0.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Collect;

static class Program
{
    const int Kept = 200_000;
    static readonly List<object> Alive = new();
    static double sum;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Allocate(int number) => new object[] { number, new byte[40] };

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Compute()
    {
        for (var i = 1; i < 2_000_000; i++)
            sum += Math.Sqrt(i);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Replace(Random random)
    {
        for (var i = 0; i < 20_000; i++)
            Alive[random.Next(Kept)] = Allocate(i);
    }

    static void Main(string[] arguments)
    {
        var length = TimeSpan.FromSeconds(double.Parse(arguments[0], CultureInfo.InvariantCulture));
        // A recording that has started the program attaches it meanwhile, also on a busy machine.
        Thread.Sleep(1500);
        var watch = Stopwatch.StartNew();
        var random = new Random(1);
        for (var i = 0; i < Kept; i++)
            Alive.Add(Allocate(i));
        GC.Collect(2, GCCollectionMode.Forced, blocking: false);
        while (watch.Elapsed < length)
        {
            Replace(random);
            Compute();
        }
        GC.Collect();
        var text = $"{GC.CollectionCount(0) - GC.CollectionCount(1)} {GC.CollectionCount(1) - GC.CollectionCount(2)} "
            + $"{GC.CollectionCount(2)} {GC.GetTotalPauseDuration().TotalSeconds} {watch.Elapsed.TotalSeconds} "
            + $"{GC.GetGCMemoryInfo(GCKind.Background).Index}";
        Console.WriteLine(text);
        // The sum is used, so that the compiler keeps the loop that makes it.
        GC.KeepAlive(sum);
    }
}
