// SPDX-License-Identifier: MIT

using System;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Plain;

/// <summary>
/// For each line of its standard input it compiles methods that it did not have, calls each often enough for
/// the next tier, prints DONE, and is idle.
/// </summary>
public static class Program
{
    // Calls after which the runtime compiles a method once more, in the background.
    const int Calls = 40;
    const int Methods = 12;

    static readonly Type[] Kinds = [typeof(byte), typeof(short), typeof(int), typeof(long), typeof(float), typeof(double)];
    static int rounds;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Work<T>(long value)
    {
        for (int i = 0; i < 10; i++)
            value = value * 31 + Unsafe.SizeOf<T>();
        return value;
    }

    static long Burst()
    {
        MethodInfo generic = typeof(Program).GetMethod(nameof(Work), BindingFlags.Static | BindingFlags.NonPublic);
        Type next = typeof(ValueTuple<,>).MakeGenericType(Kinds[rounds % Kinds.Length], Kinds[rounds / Kinds.Length % Kinds.Length]);
        long sum = 0;

        rounds++;
        for (int i = 0; i < Methods; i++)
        {
            // Each structure has code of its own. Types of types of types would get long names.
            next = typeof(ValueTuple<,>).MakeGenericType(next, i % 2 == 0 ? typeof(int) : typeof(long));
            var work = generic.MakeGenericMethod(next).CreateDelegate<Func<long, long>>();
            for (int k = 0; k < Calls; k++)
                sum = work(sum);
        }
        return sum;
    }

    public static void Main()
    {
        Console.WriteLine("READY");
        while (Console.ReadLine() != null)
            Console.WriteLine($"DONE {Burst()}");
    }
}
