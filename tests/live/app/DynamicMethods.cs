// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Live;

/// <summary>Methods that are made, called and collected: their memory is used again and again.</summary>
public static class DynamicMethods
{
    const int PerRound = 100;

    static readonly MethodInfo descriptor = typeof(DynamicMethod).GetMethod(
        "GetMethodDescriptor", BindingFlags.Instance | BindingFlags.NonPublic)!;
    static readonly List<(DynamicMethod Method, Func<long, long> Call)> kept = new();
    static long total;

    public static void Run(Report report, int round)
    {
        MakeMany(report, round);
        for (int i = 0; i < 2; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    public static void TellKept(Report report)
    {
        foreach (var (method, call) in kept)
        {
            total += call(total);
            Tell(report, method);
        }
    }

    /// <summary>Not inlined: nothing of it may be held on the stack when the collector runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeMany(Report report, int round)
    {
        for (int i = 0; i < PerRound; i++)
        {
            var method = Make($"Dyn_{round}_{i}", i);
            var call = (Func<long, long>)method.CreateDelegate(typeof(Func<long, long>));
            total += call(total);
            Tell(report, method);
            if (i == 0)
                kept.Add((method, call));
        }
    }

    internal static DynamicMethod Make(string name, int length)
    {
        var method = new DynamicMethod(name, typeof(long), new[] { typeof(long) },
                                       typeof(DynamicMethods).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        for (int i = 0; i < length % 30; i++)
        {
            il.Emit(OpCodes.Ldc_I8, 0x1234567890L + i);
            il.Emit(OpCodes.Xor);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Mul);
        }
        il.Emit(OpCodes.Ret);
        return method;
    }

    internal static void Tell(Report report, DynamicMethod method)
    {
        var handle = (RuntimeMethodHandle)descriptor.Invoke(method, null)!;
        report.Code(handle.GetFunctionPointer(), "dynamicClass", method.Name);
    }
}
