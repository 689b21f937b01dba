// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;

namespace Live;

/// <summary>
/// Makes the runtime compile in every way that moves code: tiers, generics, dynamic methods that are
/// collected, collectible contexts that are unloaded.
///
///     clrsym-live [ROUNDS]
///     clrsym-live churn SECONDS BODIES
///     clrsym-live stacks
///     clrsym-live reuse SECONDS
///     clrsym-live prepare
///
/// With "churn" it makes so many dynamic methods, and takes so long for it, if it can. With "stacks"
/// it calls methods of every kind of name, and prints the stack in each, and native code. With "parent"
/// it waits for a line, and starts itself with the other arguments.
///
/// Prints what it knows of its own code, "CODE NANOSECONDS ADDRESS TYPE METHOD": at that instant of
/// CLOCK_MONOTONIC the method's code began at that address. Then "READY", and it waits for its
/// standard input to end; what it printed after "LASTING" is still true while it waits.
/// </summary>
public static class Program
{
    public static int Main(string[] arguments)
    {
        using var output = new StreamWriter(Console.OpenStandardOutput());
        var report = new Report(output);

        if (arguments.Length == 1 && arguments[0] == "rate")
        {
            Rate.Run(output);
            return 0;
        }
        if (arguments.Length == 2 && arguments[0] == "reuse")
        {
            Reuse.Run(report, output, double.Parse(arguments[1]));
            return 0;
        }
        if (arguments.Length == 1 && arguments[0] == "prepare")
        {
            Prepare.Run(output);
            return 0;
        }
        if (arguments.Length > 0 && arguments[0] == "parent")
            return RunChild(arguments[1..]);
        if (arguments.Length == 3 && arguments[0] == "churn")
            RunChurn(report, output, int.Parse(arguments[1]), int.Parse(arguments[2]));
        else if (arguments.Length == 1 && arguments[0] == "stacks")
        {
            Stacks.Run(output);
            Interop.Run(output);
        }
        else if (arguments.Length > 0 && arguments[0] == "busy")
            RunBusy(report, output, arguments.Contains("contexts"));
        else
            RunAll(report, output, arguments.Length > 0 ? int.Parse(arguments[0]) : 20);
        output.WriteLine("READY");
        output.Flush();

        while (Console.In.ReadLine() != null)
        {
        }
        Tiers.Run();
        output.WriteLine("DONE");
        return 0;
    }

    static int RunChild(string[] arguments)
    {
        Console.In.ReadLine();
        using var child = Process.Start(Environment.ProcessPath!, [Environment.GetCommandLineArgs()[0], ..arguments]);
        child.WaitForExit();
        return child.ExitCode;
    }

    static void RunChurn(Report report, StreamWriter output, int seconds, int bodies)
    {
        Churn.Run(report, output, seconds, bodies);
        output.WriteLine("LASTING");
        Churn.TellKept(report);
    }

    static void RunAll(Report report, StreamWriter output, int rounds)
    {
        for (int round = 0; round < rounds; round++)
        {
            Tiers.Run();
            Generics.Run();
            DynamicMethods.Run(report, round);
            Contexts.Run(report);
        }
        Settle(report, output);
    }

    static void RunBusy(Report report, StreamWriter output, bool withContexts)
    {
        Busy.Run(report, output, withContexts);
        Settle(report, output);
    }

    static void Settle(Report report, StreamWriter output)
    {
        // Until the background compiler is through with what is hot. It waits for quiet, and where there
        // is but one processor ten times as long.
        int rounds = Environment.ProcessorCount > 1 ? 15 : 60;
        for (int i = 0; i < rounds; i++)
        {
            Tiers.Run();
            Generics.Run();
            Thread.Sleep(120);
        }

        output.WriteLine("LASTING");
        Tiers.Tell(report);
        Generics.Tell(report);
        DynamicMethods.TellKept(report);
    }
}

/// <summary>The program's own account of where its code is.</summary>
public sealed class Report(TextWriter output)
{
    public void Code(IntPtr entry, string type, string method)
    {
        nuint code = Native.FollowStubs(entry);
        // The runtime's Stopwatch is CLOCK_MONOTONIC in ns on Linux.
        if (Stopwatch.Frequency != 1_000_000_000)
            throw new NotSupportedException("no nanosecond clock");
        output.WriteLine($"CODE {Stopwatch.GetTimestamp()} 0x{(ulong)code:x} {type} {method}");
    }
}
