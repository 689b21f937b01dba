// SPDX-License-Identifier: MIT
//
// Threads whose stacks are known: each is in a chain of three methods, and waits at its end, computes there, or is in
// native code that was called from there. `Program THREADS` has so many that wait, and prints READY and its own count
// when it reads a line; a way to crash ("failfast", "overflow", "throw", "null") crashes it, in a chain of three methods.
// At the end of its input it ends, with 0 if each thread has gone on.
// `Program THREADS more` has two more: a chain of 10,000 calls, and methods that await each other, of which the innermost
// continues again and again.
using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Stacks;

static class Program
{
    static readonly ManualResetEventSlim Arrived = new();
    static readonly ManualResetEvent End = new(false);
    static int left, ended;
    static long computed, slept;
    static volatile bool isOver;
    const int Depth = 10000;

    [DllImport("libc", EntryPoint = "usleep")]
    static extern int SleepInLibc(uint microseconds);

    static void Arrive()
    {
        if (Interlocked.Decrement(ref left) == 0)
            Arrived.Set();
    }

    /* The methods do something after each call, so that optimized code cannot jump into it. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitOuter()
    {
        WaitMiddle(3);
        Interlocked.Increment(ref ended);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int WaitMiddle(int value)
    {
        return WaitInner() + value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int WaitInner()
    {
        Arrive();
        return End.WaitOne() ? 1 : 2;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ComputeOuter()
    {
        ComputeMiddle(3);
        Interlocked.Increment(ref ended);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ComputeMiddle(int value)
    {
        return ComputeInner() + value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ComputeInner()
    {
        Arrive();
        while (!isOver)
            Volatile.Write(ref computed, computed + 1);
        return computed;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeOuter()
    {
        NativeMiddle(3);
        Interlocked.Increment(ref ended);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long NativeMiddle(int value)
    {
        return NativeInner() + value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long NativeInner()
    {
        var isFirst = true;

        while (!isOver)
        {
            if (isFirst)
                Arrive();
            isFirst = false;
            SleepInLibc(200_000);
            Volatile.Write(ref slept, slept + 1);
        }
        return slept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DeepOuter()
    {
        Deep(Depth);
        Interlocked.Increment(ref ended);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int n)
    {
        return n == 0 ? DeepInner() + 1 : Deep(n - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DeepInner()
    {
        Arrive();
        return End.WaitOne() ? 1 : 2;
    }

    static async Task AwaitOuter()
    {
        await AwaitMiddle(3);
        Interlocked.Increment(ref ended);
    }

    static async Task<int> AwaitMiddle(int value)
    {
        return await AwaitInner() + value;
    }

    static async Task<int> AwaitInner()
    {
        var isFirst = true;

        while (!isOver)
        {
            await Task.Delay(10);
            AwaitBlocks(isFirst);
            isFirst = false;
        }
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AwaitBlocks(bool isFirst)
    {
        if (isFirst)
            Arrive();
        End.WaitOne(300);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CrashOuter(string how)
    {
        CrashMiddle(how);
        Interlocked.Increment(ref computed);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CrashMiddle(string how)
    {
        return CrashInner(how) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CrashInner(string how)
    {
        switch (how)
        {
            case "failfast":
                Environment.FailFast(how);
                break;
            case "overflow":
                return Overflow(1) + 1;
            case "throw":
                throw new InvalidOperationException(how);
            case "null":
                return Unsafe.NullRef<int>();
        }
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Overflow(int n)
    {
        return n == 0 ? 0 : Overflow(n + 1) + 1;
    }

    static int Main(string[] arguments)
    {
        var n = int.Parse(arguments[0], CultureInfo.InvariantCulture);
        var hasMore = arguments.Length > 1;
        var threads = new Thread[hasMore ? n + 3 : n + 2];
        var total = threads.Length + (hasMore ? 1 : 0);

        left = total;
        for (var i = 0; i < n; i++)
            threads[i] = new Thread(WaitOuter) { Name = "waits" };
        threads[n] = new Thread(ComputeOuter) { Name = "computes" };
        threads[n + 1] = new Thread(NativeOuter) { Name = "native" };
        if (hasMore)
            threads[n + 2] = new Thread(DeepOuter, 4 << 20) { Name = "deep" };
        foreach (var thread in threads)
            thread.Start();
        var awaits = hasMore ? AwaitOuter() : Task.CompletedTask;
        // The methods of a crash are compiled before it, so that their events have come.
        CrashOuter("");
        Overflow(0);
        Arrived.Wait();
        Console.WriteLine("READY");
        while (Console.In.ReadLine() is { } line)
        {
            if (line.Length > 0)
                CrashOuter(line);
            Console.WriteLine($"{Volatile.Read(ref computed)} {Volatile.Read(ref slept)}");
        }
        isOver = true;
        End.Set();
        foreach (var thread in threads)
            thread.Join();
        awaits.Wait();
        return ended == total ? 0 : 1;
    }
}
