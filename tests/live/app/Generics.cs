// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Live;

/// <summary>One code body for all reference types, one for each value type.</summary>
public static class Generics
{
    static int total;

    public static void Run()
    {
        for (int i = 0; i < 50; i++)
        {
            total += Count(new[] { "a", "b" }, "a") + Count(new[] { new object() }, "b");
            total += Count(new[] { 1, 2, 3 }, 2) + Count(new[] { 1.5, 2.5 }, 1.5);
            total += Count(new[] { new Point(1, 2) }, new Point(1, 2));
            total += new Box<string>("x").Size + new Box<long>(7).Size + new Box<Point>(default).Size;
        }
    }

    public static void Tell(Report report)
    {
        MethodInfo count = typeof(Generics).GetMethod(nameof(Count))!;
        foreach (Type argument in new[] { typeof(int), typeof(double), typeof(Point) })
        {
            RuntimeMethodHandle handle = count.MakeGenericMethod(argument).MethodHandle;
            RuntimeHelpers.PrepareMethod(handle, new[] { argument.TypeHandle });
            report.Code(handle.GetFunctionPointer(), "Live.Generics", nameof(Count));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Count<T>(T[] values, object wanted)
    {
        int found = 0;
        foreach (T value in values)
            if (EqualityComparer<object>.Default.Equals(value, wanted))
                found++;
        return found;
    }

    public readonly record struct Point(int X, int Y);

    sealed class Box<T>(T value)
    {
        readonly T value = value;

        public int Size
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            get => value is null ? 0 : Unsafe.SizeOf<T>();
        }
    }
}
