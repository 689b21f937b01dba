// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection.Metadata;

/// <summary>
/// All sequence points of all methods of the given PDBs, by System.Reflection.Metadata. Prints methods
/// with points, points, ms cold, ms warm, and by how many MiB its working set grew.
/// </summary>
public static class Program
{
    static (long, long) Count(MetadataReader reader)
    {
        long methods = 0, points = 0;
        foreach (MethodDebugInformationHandle handle in reader.MethodDebugInformation)
        {
            MethodDebugInformation method = reader.GetMethodDebugInformation(handle);
            if (method.SequencePointsBlob.IsNil)
                continue;
            methods++;
            foreach (SequencePoint point in method.GetSequencePoints())
                points += point.Offset >= 0 ? 1 : 0;
        }
        return (methods, points);
    }

    public static int Main(string[] paths)
    {
        long before = Environment.WorkingSet, methods = 0, points = 0;
        var readers = new List<MetadataReader>();
        var watch = Stopwatch.StartNew();
        foreach (string path in paths)
        {
            var provider = MetadataReaderProvider.FromPortablePdbStream(File.OpenRead(path));
            readers.Add(provider.GetMetadataReader());
            var (m, p) = Count(readers[^1]);
            methods += m;
            points += p;
        }
        double cold = watch.Elapsed.TotalMilliseconds;
        long after = Environment.WorkingSet;
        watch.Restart();
        foreach (MetadataReader reader in readers)
            Count(reader);
        double warm = watch.Elapsed.TotalMilliseconds;
        Console.WriteLine(FormattableString.Invariant(
            $"{methods} {points} {cold:F2} {warm:F2} {(after - before) / 1048576.0:F1}"));
        return 0;
    }
}
