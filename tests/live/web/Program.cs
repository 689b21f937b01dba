// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection.Emit;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Web;

/// <summary>
/// A web server whose code comes and goes: each request compiles a regular expression and a method
/// of its own, beside what a server does anyway. Others only await and compute.
///
/// Prints its address, and serves until it is stopped.
/// </summary>
public static class Program
{
    static int s_count;

    public static void Main(string[] arguments)
    {
        var builder = WebApplication.CreateSlimBuilder(arguments);
        builder.Logging.ClearProviders();
        var app = builder.Build();

        app.MapGet("/text/{text}", Work);
        app.MapGet("/await/{text}", Outer);
        app.Urls.Add("http://127.0.0.1:0");
        app.Start();
        var server = app.Services.GetRequiredService<IServer>();
        Console.WriteLine(server.Features.Get<IServerAddressesFeature>()!.Addresses.First());
        app.WaitForShutdown();
    }

    // An ordinary request, beside those that compile: two methods await each other, and each continues elsewhere.
    static async Task<string> Outer(string text)
    {
        uint hash = await Inner(text);

        await Task.Yield();
        return JsonSerializer.Serialize(new { words = text.Split('-'), hash });
    }

    static async Task<uint> Inner(string text)
    {
        await Task.Yield();
        return Hash(text, 20000);
    }

    static string Work(string text)
    {
        int number = Interlocked.Increment(ref s_count);
        var matches = new Regex($"([a-z]+{number % 97}?)+-", RegexOptions.Compiled).Matches(text);
        var words = new List<string>();

        foreach (Match match in matches)
            words.Add(match.Value.ToUpperInvariant());
        return JsonSerializer.Serialize(new { words, sum = Sum(number), hash = Hash(text, 20000) });
    }

    static long Sum(int number)
    {
        var method = new DynamicMethod($"Sum{number}", typeof(long), [typeof(int)]);
        ILGenerator il = method.GetILGenerator();
        Label again = il.DefineLabel();

        il.DeclareLocal(typeof(long));
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldloc_0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc_0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Starg_S, (byte)0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brtrue, again);
        il.Emit(OpCodes.Ldloc_0);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, long>>()(200000);
    }

    static uint Hash(string text, int rounds)
    {
        uint hash = 2166136261;

        for (int i = 0; i < rounds; i++)
            hash = (hash ^ text[i % text.Length]) * 16777619;
        return hash;
    }
}
