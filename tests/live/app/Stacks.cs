// SPDX-License-Identifier: MIT

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Live;

/// <summary>
/// Methods of every kind that has a name of its own, each of which tells the stack that it is on.
///
/// Prints for each frame, with tabs in between: "FRAME", the module's file, the method's token, the
/// names of the type parameters of its type and of the method, and the runtime's line for it.
/// </summary>
public static class Stacks
{
    static TextWriter output = TextWriter.Null;

    public static void Run(TextWriter to)
    {
        output = to;
        Members();
        Arguments();
        Generic();
        Functions();
        Machines().GetAwaiter().GetResult();
        Dynamic();
        Finalizers();
    }

    /// <summary>Each frame with its line of the stack trace.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Tell()
    {
        // It begins with the property's getter, and has the place in the source where that is known.
        string whole = Environment.StackTrace;
        string[] lines = whole.Split('\n').Skip(1).Select(WithoutSource).ToArray();
        int shown = 0;

        lock (output)
        {
            foreach (StackFrame frame in new StackTrace(0, false).GetFrames())
            {
                // Some frames are hidden, but never the only one.
                string line = new StackTrace(frame).ToString().TrimEnd();
                if (shown < lines.Length && line == lines[shown])
                {
                    Print(frame.GetMethod()!, line.Trim());
                    shown++;
                }
            }
        }
        if (shown != lines.Length)
            throw new InvalidOperationException($"no frame for line {shown} of\n{whole}");
        return shown;
    }

    static string WithoutSource(string line)
    {
        int source = line.IndexOf(" in /", StringComparison.Ordinal);
        return (source < 0 ? line : line[..source]).TrimEnd();
    }

    static void Print(MethodBase method, string line)
    {
        bool isDynamic = method is DynamicMethod || method.DeclaringType == null;
        string[] columns =
        [
            "FRAME",
            isDynamic ? "" : Path.GetFileName(method.Module.FullyQualifiedName),
            isDynamic ? "0x0" : $"0x{method.MetadataToken:x8}",
            isDynamic ? "" : Parameters(method.DeclaringType!.GetGenericArguments()),
            method.IsGenericMethod ? Parameters(method.GetGenericArguments()) : "",
            line,
        ];
        output.WriteLine(string.Join('\t', columns));
    }

    static string Parameters(Type[] types) => string.Join(',', types.Select(type => type.Name));

    static void Members()
    {
        var shape = new Shape(3) { Made = 4, [1] = 5, Name = "x" };
        _ = shape.Name + shape.Made + shape[2];
        shape.Changed += Shape.OnChanged;
        shape.Changed -= Shape.OnChanged;
        _ = shape + shape;
        _ = -shape;
        shape++;
        shape += 3;
        _ = shape ? 1 : 2;
        int whole = shape;
        var exact = checked((short)shape);
        ((IMeasure<int>)shape).Measure(whole + exact);
        ((IMeasure<string[]>)shape).Measure([]);
        _ = ((IMeasure<int>)shape).Size + ((IMeasure<int>)shape).Twice();
        ((IDisposable)shape).Dispose();
        shape.Deconstruct(out _, out _);
        new Shape.Inner.Innermost().Method();
        Extensions.Extended("x");
        _ = new Pair(1, "x").ToString();
        _ = Sum<Shape>(shape, shape);
    }

    static T Sum<T>(T one, T other) where T : IAdds<T> => T.Add(one, other);

    static unsafe void Arguments()
    {
        int number = 1;
        string text = "x";
        byte small = 2;
        Args.Built(true, 'c', 1, 2, 3, 4, 5, 6, 7, 8);
        Args.More(1, 2, 3, 4, 5, text, text);
        Args.References(ref number, out text, in small);
        Args.ByInterface(new Args());
        Args.Pointers(&number, &small, (void**)0);
        Args.Arrays([1], [[1]], new int[1, 1], new string[1][,], [new int[1], null]);
        Args.Generics([1], new Dictionary<string, List<int>>(), (1, "x"), [1, 2], 5);
        Args.Nested(new Shape.Inner.Innermost(), default, DayOfWeek.Monday);
        Args.Functions(&Tell, null, () => Tell());
        Args.Many(1, 2, 3);
        Args.Optional();
        Args.Spans("x", [1, 2]);
    }

    static void Generic()
    {
        new Box<int>(1).Put(2);
        new Box<string>("x").Put("y");
        new Box<string>("x").Convert<long>("y", 3);
        new Box<int>.Lid<string, Shape>().Close(1, "x", null!);
        Box<int>.Lid<string, Shape>.Static();
        Generics<int>(1);
        Generics("x");
        Twice<int, string>([1], "x");
        Twice<object, DateTime>([new object()], default);
        foreach (int _ in new Box<int>(2))
            continue;
    }

    static void Functions()
    {
        int captured = 1;
        Func<int> plain = () => Tell();
        Func<int, string, int> taking = (number, text) => Tell();
        Func<int> capturing = () => captured++ + Tell();
        Action nested = () =>
        {
            Func<int> inner = () => captured++ + Tell();
            inner();
        };
        plain();
        taking(1, "x");
        capturing();
        nested();
        Local(1);
        Capturing(ref captured);
        Closures("x")();
        Closures(1)();
        new Shape(1).Functions();

        static int Local(int number) => Tell();
        int Capturing(ref int number) => captured + Tell();
    }

    static Func<int> Closures<T>(T value)
    {
        return () => Tell() + (value is null ? 1 : Deeper(2));

        int Deeper(int number) => Tell() + (value is null ? 1 : number);
    }

    static async Task Machines()
    {
        Tell();
        await Load(1, "x");
        await Load<int>([1]);
        await new Shape(1).Slow();
        Func<int, Task> lambda = async number =>
        {
            await Task.Yield();
            Tell();
        };
        await lambda(1);
        await Local("x");
        foreach (string _ in Items(2, "x"))
            continue;
        foreach (Shape _ in Items<Shape>(new Shape(1)))
            continue;
        await foreach (int _ in Arriving(1))
            continue;

        static async ValueTask<int> Local(string text)
        {
            await Task.Delay(1);
            return Tell();
        }
    }

    static async Task<int> Load(int number, string text)
    {
        await Task.Yield();
        return Tell();
    }

    static async Task<T> Load<T>(List<T> values)
    {
        await Task.Yield();
        Tell();
        return values[0];
    }

    static IEnumerable<string> Items(int number, string text)
    {
        Tell();
        yield return text;
    }

    static IEnumerable<T> Items<T>(T value)
    {
        Tell();
        yield return value;
    }

    static async IAsyncEnumerable<int> Arriving(int number)
    {
        await Task.Yield();
        Tell();
        yield return number;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Generics<T>(T value) => Tell();

    static int Twice<T, U>(T[] values, U value) => Tell();

    static void Dynamic()
    {
        var method = new DynamicMethod("Given", typeof(int), [typeof(int), typeof(string)]);
        ILGenerator code = method.GetILGenerator();
        code.EmitCall(OpCodes.Call, typeof(Stacks).GetMethod(nameof(Tell))!, null);
        // Not in its place: a call before a return may be a jump.
        code.Emit(OpCodes.Neg);
        code.Emit(OpCodes.Ret);
        method.CreateDelegate<Func<int, string, int>>()(1, "x");
    }

    static void Finalizers()
    {
        Abandon();
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Abandon() => _ = new Abandoned<int>();

    sealed class Abandoned<T>
    {
        ~Abandoned() => Tell();
    }

    interface IMeasure<T>
    {
        int Size { get; }
        int Measure(T value);
        int Twice() => 2 * Tell();
    }

    interface IAdds<T> where T : IAdds<T>
    {
        static abstract T Add(T one, T other);
    }

    interface ITakes
    {
        int Take(in long value, ref readonly int other);
    }

    sealed class Shape : IMeasure<int>, IMeasure<string[]>, IDisposable, IAdds<Shape>
    {
        static readonly int Told = Tell();
        readonly int size;
        string name = "";

        static Shape()
        {
            Tell();
        }

        public Shape(int size)
        {
            this.size = size + Tell() + Told;
        }

        public string Name
        {
            get => name + Tell();
            set => name = value + Tell();
        }

        public int Made
        {
            get => size;
            init => size = value + Tell();
        }

        public int this[int index]
        {
            get => index + Tell();
            set => size2 = value + Tell();
        }

        int size2;

        public event Action<int> Changed
        {
            add => Tell();
            remove => Tell();
        }

        int IMeasure<int>.Size => size2 + Tell();

        int IMeasure<int>.Measure(int value) => Tell();

        int IMeasure<string[]>.Size => 0;

        int IMeasure<string[]>.Measure(string[] value) => Tell();

        void IDisposable.Dispose() => Tell();

        static Shape IAdds<Shape>.Add(Shape one, Shape other) => Tell() > 0 ? one : other;

        public static void OnChanged(int number)
        {
        }

        public void Deconstruct(out int one, out string other)
        {
            one = Tell();
            other = "";
        }

        public void Functions()
        {
            Func<int> own = () => size + Tell();
            own();
        }

        public async Task Slow()
        {
            await Task.Yield();
            Tell();
        }

        public void operator +=(int number) => Tell();

        public static Shape operator +(Shape one, Shape other) => Tell() > 0 ? one : other;

        public static Shape operator -(Shape one) => Tell() > 0 ? one : one;

        public static Shape operator ++(Shape one) => Tell() > 0 ? one : one;

        public static bool operator true(Shape one) => Tell() > 0;

        public static bool operator false(Shape one) => Tell() < 0;

        public static implicit operator int(Shape one) => Tell();

        public static explicit operator short(Shape one) => 0;

        public static explicit operator checked short(Shape one) => (short)Tell();

        internal static class Inner
        {
            internal struct Innermost
            {
                public readonly int Method() => Tell();
            }
        }
    }

    sealed class Args : ITakes
    {
        public static int Built(bool a, char b, sbyte c, byte d, short e, ushort f, int g, uint h,
                                long i, ulong j) => Tell();

        public static int More(float a, double b, decimal c, nint d, nuint e, string f, object g) =>
            Tell();

        public static void References(ref int one, out string two, in byte three)
        {
            two = "" + Tell();
        }

        public static void ByInterface(ITakes takes)
        {
            int number = 1;
            takes.Take(2, ref number);
        }

        public int Take(in long value, ref readonly int other) => Tell();

        public static unsafe int Pointers(int* one, byte* two, void** three) => Tell();

        public static int Arrays(int[] a, int[][] b, int[,] c, string[][,] d, int[]?[] e) => Tell();

        public static int Generics(List<int> a, Dictionary<string, List<int>> b, (int, string) c,
                                   IEnumerable<int> d, int? e) => Tell();

        public static int Nested(Shape.Inner.Innermost a, List<int>.Enumerator b, DayOfWeek c) =>
            Tell();

        public static unsafe int Functions(delegate*<int> a, delegate*<int, ref string, void> b,
                                           Func<int> c) => Tell();

        public static int Many(params int[] all) => Tell();

        public static int Optional(int number = 1, string? text = null) => Tell();

        public static int Spans(ReadOnlySpan<char> text, Span<int> numbers) => Tell();
    }

    sealed class Box<T>(T first) : IEnumerable<T>
    {
        readonly T first = first;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Put(T value) => Tell();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Convert<U>(T value, U other) => Tell();

        public IEnumerator<T> GetEnumerator()
        {
            Tell();
            yield return first;
        }

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        public sealed class Lid<U, V>
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public int Close(T one, U two, V[] three) => Tell();

            [MethodImpl(MethodImplOptions.NoInlining)]
            public static int Static() => Tell();
        }
    }

    record Pair(int One, string Two)
    {
        public int Told => Tell();
    }
}

static class Extensions
{
    public static int Extended(this string text) => Stacks.Tell();
}
