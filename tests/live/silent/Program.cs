// SPDX-License-Identifier: MIT
// Computes for some ms, or until a file exists (its second argument). It asks for no culture: it runs
// where there is no ICU, unless something else asks for one.

using System;
using System.IO;
using System.Threading;

namespace Silent;

static class Program
{
    static int Main(string[] arguments)
    {
        int ms = 0;
        long sum = 0;

        foreach (char digit in arguments[0])
            ms = 10 * ms + digit - '0';
        for (long end = Environment.TickCount64 + ms; Environment.TickCount64 < end; Thread.Sleep(1))
        {
            if (arguments.Length > 1 && File.Exists(arguments[1]))
                break;
            for (int i = 0; i < 100000; i++)
                sum += i ^ sum;
        }
        return sum == 0 ? 1 : 0;
    }
}
