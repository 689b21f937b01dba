// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

/// <summary>Prints what the runtime itself says of stacks, and of any address that it is asked about.</summary>
public static unsafe class Recorder
{
    // {u64 count and room, u64 thread}, then rows {u64 address, u64 stack, u64 method, u64 flags}.
    const int Header = 16, Row = 32;
    // A stack address that no frame is at, and "the address is that of the call".
    const ulong NoStack = 0x7ff000000000, IsCall = 2;

    static readonly delegate* unmanaged[SuppressGCTransition]<nint> framePointer = MakeFramePointer();
    static readonly FieldInfo stackTrace =
        typeof(Exception).GetField("_stackTrace", BindingFlags.NonPublic | BindingFlags.Instance)!;
    static readonly StreamWriter output = new(Console.OpenStandardOutput()) { AutoFlush = false };

    public static volatile bool IsOn = true;

    [DllImport("libc")]
    static extern void* mmap(void* address, nint size, int protection, int flags, int fd, nint offset);
    [DllImport("libc")]
    static extern int mprotect(void* address, nint size, int protection);

    // mov rax, rbp; ret
    static delegate* unmanaged[SuppressGCTransition]<nint> MakeFramePointer()
    {
        var code = (byte*)mmap(null, 4096, 3, 0x22, -1, 0);
        new byte[] { 0x48, 0x89, 0xe8, 0xc3 }.CopyTo(new Span<byte>(code, 4));
        mprotect(code, 4096, 5);
        return (delegate* unmanaged[SuppressGCTransition]<nint>)code;
    }

    /// <summary>STACK MARK RETURN-ADDRESS..., by the chain of frame pointers; and a FRAME line each.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static void Here(string mark)
    {
        if (!IsOn)
            return;
        var addresses = new List<string>();
        for (nint frame = framePointer(), next; frame != 0; frame = next)
        {
            addresses.Add(((nint*)frame)[1].ToString("x"));
            next = *(nint*)frame;
            if (next <= frame || next - frame > 0x100000)
                break;
        }
        var trace = new StackTrace(1, true);
        lock (output)
        {
            output.WriteLine($"STACK {mark} {string.Join(' ', addresses)}");
            foreach (var frame in trace.GetFrames())
                output.WriteLine("FRAME\t" + Words(frame));
        }
    }

    static string Words(StackFrame frame)
    {
        var method = frame.GetMethod();
        int token = 0;
        try
        {
            token = method?.MetadataToken ?? 0;
        }
        catch (InvalidOperationException)
        {
            // A dynamic method has none.
        }
        return string.Join('\t', frame.GetNativeOffset(), frame.GetILOffset(), frame.GetFileName(),
                           frame.GetFileLineNumber(), frame.GetFileColumnNumber(), token.ToString("x8"),
                           method?.Module.ScopeName, method?.Name);
    }

    /// <summary>Prints READY; then answers lines "ADDRESS METHOD" by ASKED lines, a "." by DONE, until
    /// there are no more. The addresses are put into the stack trace of an exception, which is then
    /// asked for its frames.</summary>
    public static void Serve()
    {
        var asked = new List<(ulong Address, ulong Method)>();
        output.WriteLine("READY");
        output.Flush();
        while (Console.ReadLine() is string line)
        {
            if (line != ".")
            {
                var words = line.Split(' ');
                asked.Add((Convert.ToUInt64(words[0], 16), Convert.ToUInt64(words[1], 16)));
                continue;
            }
            foreach (var frame in FramesAt(asked))
                output.WriteLine("ASKED\t" + Words(frame));
            asked.Clear();
            output.WriteLine("DONE");
            output.Flush();
        }
    }

    static StackFrame[] FramesAt(List<(ulong Address, ulong Method)> asked)
    {
        Exception exception = Thrown();
        object old = stackTrace.GetValue(exception)!;
        var rows = (Array)(old is object[] parts ? parts[0] : old);
        var bytes = new byte[Header + Row * asked.Count];
        Buffer.BlockCopy(rows, 0, bytes, 0, Header);
        BitConverter.TryWriteBytes(bytes, asked.Count);
        for (int i = 0; i < asked.Count; i++)
        {
            ulong[] row = { asked[i].Address, NoStack, asked[i].Method, IsCall };
            Buffer.BlockCopy(row, 0, bytes, Header + Row * i, Row);
        }
        var made = Array.CreateInstance(rows.GetType().GetElementType()!, bytes.Length);
        Buffer.BlockCopy(bytes, 0, made, 0, bytes.Length);
        object value = made;
        if (old is object[] all)
        {
            value = all.Clone();
            ((object[])value)[0] = made;
        }
        stackTrace.SetValue(exception, value);
        try
        {
            return new StackTrace(exception, true).GetFrames();
        }
        finally
        {
            stackTrace.SetValue(exception, old);
        }
    }

    static Exception Thrown()
    {
        try
        {
            throw new InvalidOperationException();
        }
        catch (InvalidOperationException e)
        {
            return e;
        }
    }
}
