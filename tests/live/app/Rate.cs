// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Live;

/// <summary>
/// How much work gets done. For each line on standard input, "compute SECONDS", "compile SECONDS" or
/// "switch SECONDS", it prints "RATE UNITS CPUSECONDS": units of that work, and what they took on all threads.
/// </summary>
public static class Rate
{
    const int PerUnit = 100;
    const int Switches = 2_000;

    static long total;

    public static void Run(StreamWriter output)
    {
        output.WriteLine("READY");
        output.Flush();
        while (Console.In.ReadLine() is string line)
        {
            string[] words = line.Split(' ');
            Action unit = words[0] switch { "compile" => Compile, "switch" => Switch, _ => Compute };
            double seconds = double.Parse(words[1]);
            long units = 0;
            var clock = Stopwatch.StartNew();
            TimeSpan begin = Process.GetCurrentProcess().TotalProcessorTime;

            for (; clock.Elapsed.TotalSeconds < seconds; units++)
                unit();
            TimeSpan took = Process.GetCurrentProcess().TotalProcessorTime - begin;
            output.WriteLine($"RATE {units} {took.TotalSeconds}");
            output.Flush();
        }
    }

    /// <summary>Nothing but code that is compiled already.</summary>
    static void Compute()
    {
        for (int i = 0; i < 20_000; i++)
            total ^= Tiers.Mix(Tiers.Add(i, total));
    }

    /// <summary>Two threads that wait for each other, as those of a server do for requests.</summary>
    static void Switch()
    {
        using var there = new AutoResetEvent(false);
        using var back = new AutoResetEvent(false);
        var other = new Thread(() =>
        {
            for (int i = 0; i < Switches; i++)
            {
                there.WaitOne();
                back.Set();
            }
        });

        other.Start();
        for (int i = 0; i < Switches; i++)
        {
            there.Set();
            back.WaitOne();
        }
        other.Join();
    }

    /// <summary>Dynamic methods, each of other length, and what the collection of them takes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Compile()
    {
        for (int i = 0; i < PerUnit; i++)
        {
            var method = DynamicMethods.Make($"Rate_{i}", i);
            var call = (Func<long, long>)method.CreateDelegate(typeof(Func<long, long>));
            total += call(total);
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }
}
