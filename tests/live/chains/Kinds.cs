// SPDX-License-Identifier: MIT

// One call chain for each kind of frame: test_chains.py has them. No method is inlined, unless the comment says so.

using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

namespace Chains;

static class Kinds
{
    const int N = 300_000;
    static int sum;
    static readonly Func<int, int> dynamic = MakeDynamic();

    public static int Run(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            sum += (int)TinyLoop(N * 30) + (int)OneCallLoop(N * 30) + SavesLoop(N * 5) + TailLoop(N / 30);
            sum += InFinally(N / 60) + InCatch(N / 600) + InFilter(N / 600) + Sorted(60) + DynamicLoop(N / 60);
            sum += Async(N / 60).GetAwaiter().GetResult();
        }
        return sum;
    }

    static int Work(int s, int n) { for (int i = 0; i < n; i++) s = unchecked(s * 31 + i ^ (s >> 3)); return s; }

    // The JIT gives these two no frame pointer: they have no loop, and at most one call.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Tiny(double a, double b) => a + b;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double OneCall(double a, double b) => Tiny(a, b) * 0.5 + a;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double TinyLoop(int n) { double s = 0; for (int i = 0; i < n; i++) s = Tiny(s, i); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double OneCallLoop(int n) { double s = 0; for (int i = 0; i < n; i++) s = OneCall(s, i); return s; }

    // Much of its time is in its first and last instructions: it saves many registers.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Saves(int a, int b, int c, int d)
    {
        int e = Id(a) + b, f = Id(b) + c, g = Id(c) + d, h = Id(d) + a;
        return e ^ f ^ g ^ h ^ a ^ b ^ c ^ d;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Id(int a) => a;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int SavesLoop(int n) { int s = 0; for (int i = 0; i < n; i++) s += Saves(s, i, n, 3); return s; }

    // Optimized, the call is a jump, and the caller is gone.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TailTarget(int s) => Work(s, 300);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TailCaller(int s) => TailTarget(s);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TailLoop(int n) { int s = 0; for (int i = 0; i < n; i++) s += TailCaller(s); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafInFinally(int s) => Work(s, 300) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InFinally(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) { try { s = Id(s); } finally { s += LeafInFinally(s); } }
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafInCatch(int s) => Work(s, 30_000) + 2;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InCatch(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) { try { Throw(); } catch (InvalidOperationException) { s += LeafInCatch(s); } }
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw() => throw new InvalidOperationException();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool LeafInFilter(int s) => Work(s, 30_000) != 3;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InFilter(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) { try { Throw(); } catch (InvalidOperationException) when (LeafInFilter(i)) { s++; } }
        return s;
    }

    // Native code calls back.
    delegate int Comparer(in int a, in int b);

    [DllImport("libc.so.6")]
    static extern void qsort(int[] items, nint n, nint size, Comparer compare);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfCompared(int s) => Work(s, 300) + 4;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Compared(in int a, in int b) { sum += LeafOfCompared(a); return a.CompareTo(b); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Sorted(int n)
    {
        Comparer compare = Compared;
        for (int i = 0; i < n; i++)
        {
            var items = new int[64];
            for (int k = 0; k < items.Length; k++) items[k] = k * 37 % 64;
            qsort(items, items.Length, sizeof(int), compare);
        }
        GC.KeepAlive(compare);
        return n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int LeafOfDynamic(int s) => Work(s, 300) + 5;

    static Func<int, int> MakeDynamic()
    {
        var method = new DynamicMethod("Made", typeof(int), new[] { typeof(int) }, typeof(Kinds).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(Kinds).GetMethod(nameof(LeafOfDynamic)));
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, int>>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DynamicLoop(int n) { int s = 0; for (int i = 0; i < n; i++) s += dynamic(s); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfAsync(int s) => Work(s, 300) + 6;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static async Task<int> Async(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++)
        {
            s += LeafOfAsync(s);
            if (i % 100 == 0)
                await Task.Yield();
        }
        return s;
    }
}
