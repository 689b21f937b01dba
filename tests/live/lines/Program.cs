// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Reflection;
using System.Runtime;
using System.Threading;

/// <summary>Runs the shapes of each assembly that is named, at first and when they are compiled again.</summary>
static class Program
{
    const int Loops = 300_000, Calls = 40;

    static void Main(string[] arguments)
    {
        var shapes = Array.ConvertAll(arguments, path => Assembly.LoadFrom(Path.GetFullPath(path)).GetType("Shapes")!);
        var all = Array.ConvertAll(shapes, type => type.GetMethod("All")!.CreateDelegate<Action>());
        foreach (var type in shapes)
            type.GetMethod("Loop")!.CreateDelegate<Func<int, long>>()(Loops);
        Run(all, 1);
        Recorder.IsOn = false;
        // What is called often is compiled in the background, with counters, and then once more.
        for (long quiet = 0, n = 0; quiet < 3; quiet = JitInfo.GetCompiledMethodCount() == n ? quiet + 1 : 0)
        {
            n = JitInfo.GetCompiledMethodCount();
            Run(all, Calls);
            Thread.Sleep(100);
        }
        Recorder.IsOn = true;
        Run(all, 1);
        Recorder.IsOn = false;
        Recorder.Serve();
    }

    static void Run(Action[] all, int n)
    {
        foreach (var action in all)
            for (int i = 0; i < n; i++)
                action();
    }
}
