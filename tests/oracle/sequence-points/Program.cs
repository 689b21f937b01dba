// SPDX-License-Identifier: MIT

// Prints the sequence points of portable PDBs as System.Reflection.Metadata reads them, in the form of
// tests/support/pdb-points.c.
using System.Diagnostics;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

bool quiet = args.Length > 0 && args[0] == "--quiet";
long n = 0;
using var output = new StreamWriter(Console.OpenStandardOutput());
var clock = Stopwatch.StartNew();
foreach (string path in args.Skip(quiet ? 1 : 0))
{
    byte[] bytes = File.ReadAllBytes(path);
    MetadataReaderProvider provider;
    if (bytes[0] == 'M')
    {
        using var pe = new PEReader(new MemoryStream(bytes));
        provider = pe.ReadEmbeddedPortablePdbDebugDirectoryData(
            pe.ReadDebugDirectory().First(e => e.Type == DebugDirectoryEntryType.EmbeddedPortablePdb));
    }
    else
        provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(bytes));
    var reader = provider.GetMetadataReader();
    foreach (var handle in reader.MethodDebugInformation)
    {
        int method = System.Reflection.Metadata.Ecma335.MetadataTokens.GetRowNumber(handle);
        foreach (var p in reader.GetMethodDebugInformation(handle).GetSequencePoints())
        {
            n++;
            if (quiet)
                continue;
            output.Write(p.IsHidden ? $"{path} {method} {p.Offset} hidden\n" :
                $"{path} {method} {p.Offset} {p.StartLine} {p.StartColumn} {p.EndLine} {p.EndColumn} {reader.GetString(reader.GetDocument(p.Document).Name)}\n");
        }
    }
}
if (quiet)
    output.Write($"{n} {clock.Elapsed.TotalMilliseconds:F1} ms, {Environment.WorkingSet >> 20} MiB\n");
