// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Threading;

namespace Reload
{
    internal static class Program
    {
        private static long sum;

        // The test inserts a line at the mark, and changes the version.
        private static void Edited()
        {
            // MARK
            var watch = Stopwatch.StartNew();
            while (watch.ElapsedMilliseconds < 20)
                sum++;
            Console.WriteLine($"VERSION 1 {Environment.ProcessId}");
        }

        private static void Unedited()
        {
            var watch = Stopwatch.StartNew();
            while (watch.ElapsedMilliseconds < 20)
                sum++;
        }

        private static void Main()
        {
            for (;;)
            {
                Edited();
                Unedited();
                Thread.Sleep(20);
            }
        }
    }
}
