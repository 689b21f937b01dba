// SPDX-License-Identifier: MIT
//
// Sleeps, allocates in ten methods, waits for a lock, and throws: `Program`. It prints the bytes of all and of each of
// these methods, the ns that its threads waited for the lock, and the number of its exceptions. `Program quiet` only
// sleeps.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Events;

sealed record Node(long Left, long Right, long Value);

static class Program
{
    const int Threads = 3, Holds = 10, Exceptions = 50;
    static readonly object Gate = new();
    static object kept;
    static long waited;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Large() => kept = new byte[300_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Small() => kept = new int[10];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Text() => kept = new string('x', 500);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Objects() => kept = new Node(1, 2, 3);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Boxes() => kept = waited;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Doubles() => kept = new double[2000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Matrix() => kept = new short[30, 30];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Texts() => kept = new string[50];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Guids() => kept = new Guid[100];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Characters() => kept = new char[70_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Hold()
    {
        var begin = Stopwatch.GetTimestamp();

        lock (Gate)
        {
            Interlocked.Add(ref waited, Stopwatch.GetTimestamp() - begin);
            Thread.Sleep(20);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int number)
    {
        try
        {
            if (number % 2 == 0)
                throw new InvalidOperationException("even");
            throw new ArgumentException("odd");
        }
        catch (SystemException)
        {
        }
    }

    static long Allocated(Action allocate, int times)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();

        for (var i = 0; i < times; i++)
            allocate();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    static void Main(string[] arguments)
    {
        /* It is sampled some time after its start. */
        Thread.Sleep(1500);
        if (arguments.Length > 0)
            return;
        long[] allocated =
        [
            Allocated(Large, 700), Allocated(Small, 3_000_000), Allocated(Text, 200_000), Allocated(Objects, 5_000_000),
            Allocated(Boxes, 8_000_000), Allocated(Doubles, 13_000), Allocated(Matrix, 110_000), Allocated(Texts, 480_000),
            Allocated(Guids, 125_000), Allocated(Characters, 1500),
        ];
        var threads = new Thread[Threads];

        for (var i = 0; i < Threads; i++)
        {
            threads[i] = new Thread(() =>
            {
                for (var j = 0; j < Holds; j++)
                    Hold();
            });
            threads[i].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        for (var i = 0; i < Exceptions; i++)
            Throw(i);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{GC.GetTotalAllocatedBytes(true)} {waited * 1e9 / Stopwatch.Frequency:F0} {Exceptions} {string.Join(' ', allocated)}"));
    }
}
