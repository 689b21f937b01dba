// SPDX-License-Identifier: MIT

using System;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Live;

/// <summary>Hot methods: quick code first, then instrumented, then optimized code elsewhere.</summary>
public static class Tiers
{
    static long total;

    public static void Run()
    {
        for (int i = 0; i < 200; i++)
        {
            total += Add(i, total);
            total ^= Mix(total);
            total += Text(i).Length;
        }
        total += Loop(200_000);
        total += Fixed(3);
        total += Aggressive(5);
    }

    public static void Tell(Report report)
    {
        foreach (string name in new[] { "Add", "Mix", "Text", "Fixed", "Aggressive" })
        {
            MethodInfo method = typeof(Tiers).GetMethod(name)!;
            RuntimeHelpers.PrepareMethod(method.MethodHandle);
            report.Code(method.MethodHandle.GetFunctionPointer(), "Live.Tiers", name);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Add(long left, long right) => left + (right >> 3);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Mix(long value)
    {
        for (int i = 0; i < 8; i++)
            value = (value * 0x5851f42d4c957f2d) ^ (value >>> 29);
        return value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string Text(int value) => value % 2 == 0 ? "even" : value.ToString();

    /// <summary>One call, many rounds: replaced on the stack while it runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Loop(int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += Add(i, sum);
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    public static int Fixed(int value) => value + 1;

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int Aggressive(int value) => value * 3;
}
