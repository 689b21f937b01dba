// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Live;

/// <summary>
/// Prepares every method of the shared framework that is not generic, so that the runtime knows where the code of
/// each precompiled one is. Prints how many it asked for.
/// </summary>
static class Prepare
{
    const BindingFlags All = BindingFlags.DeclaredOnly | BindingFlags.Static | BindingFlags.Instance |
                             BindingFlags.Public | BindingFlags.NonPublic;

    public static void Run(TextWriter output)
    {
        var directory = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        int n = 0;
        foreach (var path in Directory.GetFiles(directory, "*.dll"))
            foreach (var type in TypesOf(path))
            {
                foreach (var method in type.GetMethods(All))
                    n += Try(method);
                foreach (var constructor in type.GetConstructors(All))
                    n += Try(constructor);
            }
        output.WriteLine($"PREPARED {n}");
    }

    static Type[] TypesOf(string path)
    {
        try
        {
            return Assembly.Load(Path.GetFileNameWithoutExtension(path)).GetTypes();
        }
        catch (Exception e) when (e is BadImageFormatException or IOException)
        {
            return [];
        }
        catch (ReflectionTypeLoadException e)
        {
            return Array.FindAll(e.Types, type => type != null)!;
        }
    }

    static int Try(MethodBase method)
    {
        if (method.IsAbstract || method.ContainsGenericParameters || method.GetMethodBody() == null)
            return 0;
        try
        {
            RuntimeHelpers.PrepareMethod(method.MethodHandle);
            return 1;
        }
        // What one platform has not, or the runtime keeps for itself.
        catch (Exception)
        {
            return 0;
        }
    }
}
