// SPDX-License-Identifier: MIT
//
// Methods that await each other, and compute after each await: `Program MILLISECONDS [events]`. The innermost one continues
// on a thread of the pool, whose stack has none of its callers. Each chain has a method of its own in the middle.
// With `events`, they begin once somebody listens to the events of async methods.
using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Awaits;

static class Program
{
    static long end, sum;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Compute(int microseconds)
    {
        var until = Stopwatch.GetTimestamp() + microseconds * Stopwatch.Frequency / 1_000_000;

        while (Stopwatch.GetTimestamp() < until)
            for (var i = 0; i < 100; i++)
                sum += i * sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InLeaf() => Compute(2000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InMiddle() => Compute(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InOuter() => Compute(500);

    static async Task<int> Leaf(int number)
    {
        await Task.Yield();
        InLeaf();
        if (number % 3 == 0)
            await Task.Delay(1);
        InLeaf();
        return number;
    }

    static async Task<int> First(int number)
    {
        var found = await Leaf(number);
        InMiddle();
        return found;
    }

    static async ValueTask<int> Second(int number)
    {
        var found = await Leaf(number) + await Leaf(number + 1);
        InMiddle();
        return found;
    }

    static async Task<T> Generic<T>(T value)
    {
        await Leaf(1);
        InMiddle();
        return value;
    }

    static async Task Outer()
    {
        for (var i = 0; Stopwatch.GetTimestamp() < end; i++)
        {
            await First(i);
            InOuter();
            await Second(i);
            InOuter();
            await Generic("text");
            InOuter();
        }
    }

    /* What is awaited before the runtime is attached has no chain. */
    static void WaitForEvents()
    {
        while (!EventSource.GetSources().Any(source => source.Name.EndsWith(".AsyncProfilerEventSource") && source.IsEnabled()))
            Thread.Sleep(5);
    }

    static async Task Main(string[] arguments)
    {
        if (arguments.Length > 1)
        {
            /* The first await makes the source of these events. */
            await Task.Yield();
            WaitForEvents();
        }
        end = Stopwatch.GetTimestamp() + int.Parse(arguments[0], CultureInfo.InvariantCulture) * Stopwatch.Frequency / 1000;
        await Outer();
        /* The runtime sends what threads have buffered once they are idle. */
        Thread.Sleep(3000);
    }
}
