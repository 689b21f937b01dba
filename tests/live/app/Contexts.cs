// SPDX-License-Identifier: MIT

using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Live;

/// <summary>This very assembly, loaded once more into a collectible context, run and unloaded.</summary>
public static class Contexts
{
    public static void Run(Report report)
    {
        WeakReference context = LoadAndRun(report);
        for (int i = 0; context.IsAlive && i < 10; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        if (context.IsAlive)
            throw new InvalidOperationException("a collectible context is not collected");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference LoadAndRun(Report report)
    {
        var context = new AssemblyLoadContext("passing", isCollectible: true);
        Assembly copy = context.LoadFromAssemblyPath(typeof(Contexts).Assembly.Location);
        MethodInfo work = copy.GetType("Live.Passing")!.GetMethod("Work")!;
        work.Invoke(null, new object[] { 20 });
        report.Code(work.MethodHandle.GetFunctionPointer(), "Live.Passing", "Work");
        context.Unload();
        return new WeakReference(context);
    }
}

/// <summary>Is called only in the copies.</summary>
public static class Passing
{
    public static int Work(int depth) => depth <= 1 ? depth : Work(depth - 1) + Work(depth - 2);
}
