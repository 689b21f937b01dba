// SPDX-License-Identifier: MIT

// Call chains that are known from the source: test_chains.py has them. No method is inlined. Each loop
// runs so long in one call that the method is replaced while it runs (OSR).

using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Chains;

static class Program
{
    const int N = 30_000_000;
    static int sink;
    static int[] room = new int[1 << 16];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Main(string[] words)
    {
        if (words.Length > 0 && words[0] == "reads")
        {
            sink += Reads() + TooDeep(2_000);
            return sink == 1 ? 1 : 0;
        }
        if (words.Length > 0 && words[0] == "kinds")
            return Over(Kinds.Run(words.Length > 1 ? int.Parse(words[1]) : 6));
        // No runtime waits for a recording: on a busy machine the session is opened while the program runs already.
        Thread.Sleep(500);
        int rounds = words.Length > 0 ? int.Parse(words[0]) : 1;
        Console.WriteLine(Environment.Version);
        for (int i = 0; i < rounds; i++)
            sink += OneCaller(N) + Nested(N / 40) + Recursive(4, N / 4) + Generic("a", N) + Generic(1, N) + ManyArguments(1, 2, 3.5, "four", 5, 6, 7, 8, N)
                + WithTry(N) + new Struct().Instance(N) + InLibrary(400) + ManyWays(20) + RareWay(40) + Iterated(N);
        var thread = new Thread(() => sink += OnThread(N));
        thread.Start();
        thread.Join();
        return Over(sink);
    }

    // Waits for a last copy of all code, if the recording makes copies.
    static int Over(int sum)
    {
        Thread.Sleep(int.Parse(Environment.GetEnvironmentVariable("CHAINS_PAUSE") ?? "0"));
        return sum == 1 ? 1 : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Mix(int s, int i) => unchecked(s * 31 + i ^ (s >> 3));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Loop(int n) { int s = 0; for (int i = 0; i < n; i++) s = unchecked(s * 31 + i ^ (s >> 3)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneCaller(int n) { int s = Loop(n); return s + 1; }

    // A replaced method calls a replaced method.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Inner(int n) { int s = 0; for (int i = 0; i < n; i++) s = unchecked(s * 33 + i ^ (s >> 5)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Nested(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) { s += Mix(s, i); if (i == n / 2) s += Inner(N); }
        return s;
    }

    // Each activation is replaced, and is called by a replaced one of the same method.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Recursive(int depth, int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) { s = unchecked(s * 31 + i ^ (s >> 3)); if (i == n / 2 && depth > 0) s += Recursive(depth - 1, n); }
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int GenericLoop<T>(T t, int n) { int s = t.GetHashCode(); for (int i = 0; i < n; i++) s = unchecked(s * 31 + i ^ (s >> 3)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Generic<T>(T t, int n) { int s = GenericLoop(t, n); return s + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ManyArguments(int a, long b, double c, string d, int e, int f, int g, int h, int n)
    {
        int s = a;
        for (int i = 0; i < n; i++) s = unchecked(s * 31 + i ^ (s >> 3)) + (int)b + d.Length + e + f + g + h + (int)c;
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int WithTry(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++)
        {
            try { s = unchecked(s * 31 + i ^ (s >> 3)); if (s == 12345) throw new InvalidOperationException(); }
            catch (InvalidOperationException) { s = 0; }
            finally { s++; }
        }
        return s;
    }

    struct Struct
    {
        int v;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Instance(int n) { for (int i = 0; i < n; i++) v = unchecked(v * 31 + i ^ (v >> 3)); return v; }
    }

    // Its leaf is in libc, which keeps no frame pointers.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Cleared(int n) { for (int i = 0; i < n * 50; i++) Array.Clear(room); return room[0]; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InLibrary(int n) { int s = Cleared(n); return s + 1; }

    // One call calls one method or another, and both call the same one; the leaf shows which.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfOne(int s) { for (int i = 0; i < 400; i++) s = unchecked(s * 31 + i ^ (s >> 3)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfOther(int s) { for (int i = 0; i < 400; i++) s = unchecked(s * 37 + i ^ (s >> 5)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Shared(int n, bool one) { int s = 0; for (int i = 0; i < n; i++) s += one ? LeafOfOne(s) : LeafOfOther(s); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int One(int n) { int s = Shared(n, true); return s + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Other(int n) { int s = Shared(n, false); return s + 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ManyWays(int n)
    {
        var ways = new Func<int, int>[] { One, Other };
        int s = 0;
        for (int i = 0; i < n; i++) s += ways[i & 1](60_000);
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfUsual(int s) { for (int i = 0; i < 400; i++) s = unchecked(s * 31 + i ^ (s >> 3)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int LeafOfRare(int s) { for (int i = 0; i < 400; i++) s = unchecked(s * 37 + i ^ (s >> 5)); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int SharedRarely(int n, bool usual) { int s = 0; for (int i = 0; i < n; i++) s += usual ? LeafOfUsual(s) : LeafOfRare(s); return s; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Usual(int n) { int s = SharedRarely(n, true); return s + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Rare(int n) { int s = SharedRarely(n, false); return s + 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RareWay(int n)
    {
        var ways = new Func<int, int>[] { Usual, Rare };
        int s = 0;
        for (int i = 0; i < n; i++) s += ways[i % 20 == 7 ? 1 : 0](60_000);
        return s;
    }

    static IEnumerable<int> Steps(int n)
    {
        int s = 0;
        for (int k = 0; k < 3; k++)
        {
            for (int i = 0; i < n / 3; i++) s = unchecked(s * 31 + i ^ (s >> 3));
            yield return s;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Iterated(int n) { int s = 0; foreach (int step in Steps(n)) s += step; return s; }

    // System calls, whose leaves in libc keep no frame pointers.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Reads()
    {
        var bytes = new byte[16];
        using var file = File.OpenHandle("/proc/self/exe");
        int s = 0;
        for (int i = 0; i < 1_000_000; i++) s += RandomAccess.Read(file, bytes, 0);
        return s | 2;
    }

    // Deeper than perf looks.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int depth, int s) { s = LeafOfOne(s); if (depth > 0) s += Deep(depth - 1, s); return LeafOfOne(s); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TooDeep(int n) { int s = 0; for (int i = 0; i < n; i++) s += Deep(500, s); return s | 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OnThread(int n) { int s = 0; for (int i = 0; i < n; i++) s = unchecked(s * 37 + i ^ (s >> 3)); return s; }
}
