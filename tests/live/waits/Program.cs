// SPDX-License-Identifier: MIT
//
// Threads that wait in four ways, each in a method of its own: for a lock, for input, for a time, for a task; and one
// that computes for as long. `Program [SECONDS]` prints the ns that each of these methods took, by its own clock. With
// SECONDS, it goes on for so long, and prints a line when it begins. `Program turns` calls the methods in turn in one
// thread, some of them several times.
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.IO.Pipes;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Waits;

static class Program
{
    const int Milliseconds = 40;
    static int times = 20;
    static readonly object Gate = new();
    static readonly long[] Waited = new long[5];
    static long last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Lock()
    {
        lock (Gate)
            return Now();
    }

    /* The methods do something after each call, so that optimized code cannot jump into it. */
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static long Now()
    {
        var now = Stopwatch.GetTimestamp();

        Volatile.Write(ref last, now);
        return now;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Input(Stream stream)
    {
        stream.ReadByte();
        return Now();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Sleep()
    {
        Thread.Sleep(Milliseconds);
        return Now();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Await()
    {
        Task.Delay(Milliseconds).Wait();
        return Now();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Compute()
    {
        var end = Stopwatch.GetTimestamp() + Milliseconds * Stopwatch.Frequency / 1000;

        while (Stopwatch.GetTimestamp() < end)
            Thread.SpinWait(10);
        return Now();
    }

    static void Measure(int index, Func<long> wait, Action before)
    {
        before?.Invoke();
        var begin = Stopwatch.GetTimestamp();
        Waited[index] += wait() - begin;
    }

    static Thread Repeat(params (int Index, Func<long> Wait, Action Before)[] turn)
    {
        var thread = new Thread(() =>
        {
            for (var i = 0; i < times; i++)
                foreach (var (index, wait, before) in turn)
                    Measure(index, wait, before);
        });

        thread.Start();
        return thread;
    }

    static void Main(string[] arguments)
    {
        var hasTurns = arguments.Length > 0 && arguments[0] == "turns";
        if (arguments.Length > 0 && !hasTurns)
        {
            times = int.Parse(arguments[0], CultureInfo.InvariantCulture) * 1000 / Milliseconds;
            Console.WriteLine("begins");
        }
        using var writer = new AnonymousPipeServerStream(PipeDirection.Out);
        using var reader = new AnonymousPipeClientStream(PipeDirection.In, writer.ClientSafePipeHandle);
        using var held = new SemaphoreSlim(0);
        using var wanted = new SemaphoreSlim(0);
        var end = false;
        /* Holds the lock for the time that the other thread wants it. */
        var holder = new Thread(() =>
        {
            while (!Volatile.Read(ref end))
            {
                lock (Gate)
                {
                    held.Release();
                    Thread.Sleep(Milliseconds);
                }
                Thread.Sleep(1);
            }
        });
        var feeder = new Thread(() =>
        {
            for (var i = 0; i < times; i++)
            {
                wanted.Wait();
                Thread.Sleep(Milliseconds);
                writer.WriteByte(1);
            }
        });

        holder.Start();
        feeder.Start();
        (int, Func<long>, Action)[] calls =
        [
            (0, Lock, held.Wait), (1, () => Input(reader), () => wanted.Release()), (2, Sleep, null), (3, Await, null),
            (4, Compute, null),
        ];
        Thread[] threads = hasTurns
            ? [Repeat([.. calls, calls[2], calls[4], calls[4]])]
            : Array.ConvertAll(calls, call => Repeat(call));
        foreach (var thread in threads)
            thread.Join();
        Volatile.Write(ref end, true);
        holder.Join();
        feeder.Join();
        Console.WriteLine(string.Join(' ', Array.ConvertAll(Waited, ticks =>
            (ticks * 1e9 / Stopwatch.Frequency).ToString("F0", CultureInfo.InvariantCulture))));
    }
}
