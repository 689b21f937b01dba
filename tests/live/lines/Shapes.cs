// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

#if FOREIGN
// Its lines and its code are others than those of the assembly that this PDB lies beside.



class Foreign { int number = 1; public int Number { get { Recorder.Here("foreign"); return number++; } } }
#endif

/// <summary>Code of each kind that has lines of its own.</summary>
public static class Shapes
{
    static volatile int sink;

    struct Point
    {
        public int X;
        public Point(int x)
        {
            X = x;
            Recorder.Here("struct-constructor");
        }
        public static Point operator +(Point a, Point b)
        {
            Recorder.Here("operator");
            return new Point { X = a.X + b.X };
        }
    }

    class Counter
    {
        static readonly int start = Number("static-field", 3);
        readonly int own = Number("field", 4);
        static Counter()
        {
            Recorder.Here("static-constructor");
        }
        public int Value
        {
            get
            {
                Recorder.Here("get");
                return own + start;
            }
            set => sink = Number("set", value);
        }
        static int Number(string mark, int value)
        {
            Recorder.Here(mark);
            return value;
        }
    }

    class Box<T>
    {
        readonly T item;
        public Box(T item) => this.item = item;
        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Show<TOther>(TOther other)
        {
            string text = $"{item}";
            Recorder.Here("generic");
            return text + other;
        }
    }

    sealed class Closer : IDisposable
    {
        public void Dispose() => Recorder.Here("dispose");
    }

    static int Try(int divisor)
    {
        int result = 0;
        try
        {
            result++;
            Recorder.Here("try");
            result += 10 / divisor;
        }
        catch (DivideByZeroException) when (IsExpected(divisor))
        {
            result += 2;
            Recorder.Here("catch");
            try
            {
                throw new InvalidOperationException();
            }
            catch (InvalidOperationException e)
            {
                Recorder.Here("catch-in-catch");
                result += e.Message.Length;
            }
        }
        finally
        {
            using (new Closer())
            {
                result += 4;
                Recorder.Here("finally");
            }
        }
        return result;
    }

    static bool IsExpected(int divisor)
    {
        Recorder.Here("filter");
        return divisor == 0;
    }

    static IEnumerable<int> Iterate(int n)
    {
        try
        {
            for (int i = 0; i < n; i++)
            {
                Recorder.Here("iterator");
                yield return i;
            }
        }
        finally
        {
            Recorder.Here("iterator-finally");
        }
    }

    static async Task<int> Wait(int n)
    {
        Recorder.Here("async-before");
        await Task.Yield();
        Recorder.Here("async-after");
        try
        {
            await Task.Run(() =>
            {
                Recorder.Here("async-lambda");
                throw new InvalidOperationException();
            });
        }
        catch (InvalidOperationException)
        {
            await Task.Yield();
            Recorder.Here("async-catch");
        }
        await foreach (int i in Stream(n))
            sink += i;
        return n > 0 ? await Wait(n - 1) : 0;
    }

    static async IAsyncEnumerable<int> Stream(int n)
    {
        for (int i = 0; i < n; i++)
        {
            await Task.Yield();
            Recorder.Here("async-iterator");
            yield return i;
        }
    }

    static int Closures(int captured)
    {
        Func<int, int> lambda = x =>
        {
            Recorder.Here("lambda");
            return x + captured;
        };
        Action fixedOne = static () => Recorder.Here("static-lambda");
        int Local(int depth)
        {
            if (depth > 0)
                return Local(depth - 1) + captured;
            Recorder.Here("local-function");
            return depth;
        }
        fixedOne();
        return lambda(1) + Local(2) + new[] { 3, 1, 2 }
            .Where(x => x > 1 || IsExpected(x))
            .OrderBy(x => { Recorder.Here("query"); return -x; })
            .Sum();
    }

    static string Choose(object? value) => value switch
    {
        int i when i > 5 => Named("int", i),
        string { Length: > 2 } s => Named("text", s.Length),
        null => Named("null", 0),
        _ => Named("other", 1),
    };

    static string Named(string mark, int n)
    {
        Recorder.Here(mark);
        return mark + n;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static int Inlined(int x)
    {
        int y = x * 3;
        Recorder.Here("inlined");
        return y + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Inliner(int x)
    {
        int y = Inlined(x);
        y += Inlined(y);
        Recorder.Here("inliner");
        return y;
    }

#line 700 "Generated.razor"
    static int Template(int x)
    {
        Recorder.Here("line-directive");
#line hidden
        x += 3; Recorder.Here("hidden");
#line 710
        Recorder.Here("after-hidden");
        return x;
    }
#line default

    /// <summary>Long enough to be replaced while it runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Loop(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += i ^ (sum << 1);
            if (i == 10)
                Recorder.Here("loop-begin");
            if (i == n - 10)
                Recorder.Here("loop-end");
        }
        return sum;
    }

    public static void All()
    {
        sink += Try(1) + Try(0);
        foreach (int i in Iterate(2))
            sink += i;
        Wait(1).GetAwaiter().GetResult();
        sink += Closures(5) + Inliner(2) + Template(1);
        sink += Choose(9).Length + Choose("abc").Length + Choose(null).Length + Choose(2.5).Length;
        sink += new Box<int>(1).Show("a").Length + new Box<string>("b").Show(2).Length
            + new Box<Point>(new Point(1) + new Point(2)).Show<object>("c").Length;
        sink += new Counter { Value = 4 }.Value;
    }
}
