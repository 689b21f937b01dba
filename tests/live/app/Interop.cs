// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Live;

/// <summary>
/// Calls of native code, and back, for which the runtime has to make a stub.
///
/// Prints for each stub, with tabs in between: "STUB", its kind, and the methods that may share it,
/// as "TYPE METHOD", the one that is called first in front.
/// </summary>
public static unsafe class Interop
{
    delegate int Compare(int* one, int* other);

    [DllImport("libc", EntryPoint = "strlen")]
    static extern nint Length(string text);

    [DllImport("libc", EntryPoint = "strlen")]
    static extern nint LengthAgain(string text);

    [DllImport("libc", EntryPoint = "atoi")]
    static extern int Parse(string text);

    [DllImport("libc", EntryPoint = "atoi", SetLastError = true)]
    static extern int ParseWithError(string text);

    [DllImport("libc", EntryPoint = "qsort")]
    static extern void Sort(int* numbers, nint n, nint size, Compare compare);

    public static void Run(TextWriter output)
    {
        int* numbers = stackalloc int[] { 3, 1, 2 };
        if (Length("four") != 4 || LengthAgain("fives") != 5 || Parse("6") != 6 || ParseWithError("7") != 7)
            throw new InvalidOperationException("the C library counts otherwise");
        Sort(numbers, 3, sizeof(int), (one, other) => *one - *other);
        if (numbers[0] != 1 || numbers[2] != 3)
            throw new InvalidOperationException("the C library sorts otherwise");

        Tell(output, "PInvoke", nameof(Length), nameof(LengthAgain));
        Tell(output, "PInvoke", nameof(Parse));
        Tell(output, "PInvoke", nameof(ParseWithError));
        Tell(output, "PInvoke", nameof(Sort));
        output.WriteLine($"STUB\tReversePInvoke\t{Name(typeof(Compare).GetMethod("Invoke")!)}");
    }

    static void Tell(TextWriter output, string kind, params string[] names)
    {
        const BindingFlags any = BindingFlags.Static | BindingFlags.NonPublic;
        string[] methods = Array.ConvertAll(names, name => Name(typeof(Interop).GetMethod(name, any)!));
        output.WriteLine($"STUB\t{kind}\t{string.Join('\t', methods)}");
    }

    static string Name(MethodInfo method) => $"{method.DeclaringType!.FullName} {method.Name}";
}
