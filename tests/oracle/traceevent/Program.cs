// SPDX-License-Identifier: MIT
//
// Reads a zip of a CTF trace with Microsoft.Diagnostics.Tracing.TraceEvent.
//
//   traceevent ZIP...        every event that it delivers, one JSON object a line, and an empty line
//                            after those of each ZIP
//   traceevent --universal FILE.nettrace...  the events of dotnet-trace collect-linux in it, as of a ZIP
//   traceevent --leaves FILE.nettrace  of such a file: when each sample of a CPU was, and the name of its leaf
//   traceevent FILE.nettrace...  the samples in it with their stacks, in the same way
//   traceevent --bench FILE  names and extents of all loaded methods read; prints how many

using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.Parsers;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

if (args is ["--bench", var benchPath])
{
    Bench(benchPath);
    return 0;
}
if (args is ["--leaves", var recording])
{
    using var output = new BufferedStream(Console.OpenStandardOutput(), 1 << 20);
    PrintLeaves(recording, output);
    return 0;
}
if (args is ["--universal", .. var recordings])
{
    using var output = new BufferedStream(Console.OpenStandardOutput(), 1 << 20);
    foreach (var path in recordings)
    {
        PrintUniversal(path, output);
        output.WriteByte((byte)'\n');
    }
    return 0;
}
if (args.Length > 0)
{
    using var output = new BufferedStream(Console.OpenStandardOutput(), 1 << 20);
    foreach (var path in args)
    {
        if (path.EndsWith(".nettrace"))
            PrintSamples(path, output);
        else
            Print(path, output);
        output.WriteByte((byte)'\n');
    }
    return 0;
}
Console.Error.WriteLine("usage: traceevent [--bench] ZIP...");
return 2;

static void Bench(string path)
{
    using TraceEventDispatcher source =
        path.EndsWith(".nettrace") ? new EventPipeEventSource(path) : new CtfTraceEventSource(path);
    long events = 0, loads = 0, bytes = 0, characters = 0;
    source.Clr.All += _ => events++;
    source.Clr.MethodLoadVerbose += load =>
    {
        loads++;
        bytes += load.MethodSize;
        characters += load.MethodNamespace.Length + load.MethodName.Length +
                      load.MethodSignature.Length;
    };
    source.Process();
    Console.WriteLine($"{events} events, {loads} method loads, {bytes} bytes of code, " +
                      $"{characters} characters of names");
}

static void Print(string path, Stream output)
{
    using var source = new CtfTraceEventSource(path);
    var printer = PrinterTo(output);
    source.Clr.All += printer;
    new ClrRundownTraceEventParser(source).All += printer;
    source.Process();
}

static void PrintUniversal(string path, Stream output)
{
    using var source = new EventPipeEventSource(path);
    var printer = PrinterTo(output);
    var system = new UniversalSystemTraceEventParser(source);
    var events = new UniversalEventsTraceEventParser(source);
    system.ExistingProcess += printer;
    system.ProcessCreate += printer;
    system.ProcessExit += printer;
    system.ProcessMapping += printer;
    system.ProcessSymbol += printer;
    system.ProcessMappingMetadata += printer;
    events.cpu += printer;
    events.cswitch += printer;
    source.Process();
}

static void PrintLeaves(string path, Stream output)
{
    using var log = new TraceLog(TraceLog.CreateFromEventPipeDataFile(path));
    using var writer = new StreamWriter(output, leaveOpen: true) { NewLine = "\n" };
    foreach (var data in log.Events)
    {
        if (data.ProviderName != UniversalEventsTraceEventParser.ProviderName || data.CallStack() is not { } leaf)
            continue;
#pragma warning disable CS0618 // the clock's raw value
        writer.WriteLine(JsonSerializer.Serialize(new
        {
            time = data.TimeStampQPC,
            tid = data.ThreadID,
            name = leaf.CodeAddress.Method?.FullMethodName ?? "",
        }));
#pragma warning restore CS0618
    }
}

static Action<TraceEvent> PrinterTo(Stream output)
{
    var options = new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
    var writer = new Utf8JsonWriter(output, options);
    return data =>
    {
        writer.WriteStartObject();
        writer.WriteString("provider", data.ProviderName);
        writer.WriteString("name", data.EventName);
        writer.WriteNumber("id", (int)data.ID);
        writer.WriteNumber("version", data.Version);
#pragma warning disable CS0618 // obsolete, but the only exact property: the clock's raw value
        writer.WriteNumber("time", data.TimeStampQPC);
#pragma warning restore CS0618
        writer.WriteNumber("pid", data.ProcessID);
        writer.WriteNumber("tid", data.ThreadID);
        writer.WriteStartObject("fields");
        PrintFields(writer, data);
        writer.WriteEndObject();
        writer.WriteEndObject();
        writer.Flush();
        output.WriteByte((byte)'\n');
        writer.Reset();
    };
}

static void PrintSamples(string path, Stream output)
{
    using var log = new TraceLog(TraceLog.CreateFromEventPipeDataFile(path));
    using var writer = new StreamWriter(output, leaveOpen: true) { NewLine = "\n" };
    foreach (var data in log.Events)
    {
        if (data.ProviderName != "Microsoft-DotNETCore-SampleProfiler")
            continue;
        var addresses = new List<ulong>();
        var names = new List<string>();
        for (var stack = data.CallStack(); stack != null; stack = stack.Caller)
        {
            addresses.Add(stack.CodeAddress.Address);
            names.Add(stack.CodeAddress.Method?.FullMethodName ?? "");
        }
        writer.WriteLine(JsonSerializer.Serialize(new
        {
            pid = data.ProcessID,
            tid = data.ThreadID,
            kind = BitConverter.ToInt32(data.EventData()),
            addresses,
            names,
        }));
    }
}

// TraceEvent's payloads lack arrays, and its payload list of MethodDetails is shifted by one: the
// typed properties are right.
static void PrintFields(Utf8JsonWriter writer, TraceEvent data)
{
    switch (data)
    {
        case MethodDetailsTraceData details:
            PrintValue(writer, "MethodID", details.MethodID);
            PrintValue(writer, "TypeID", details.TypeID);
            PrintValue(writer, "MethodToken", details.MethodToken);
            PrintValue(writer, "TypeParameterCount", details.TypeParameterCount);
            PrintValue(writer, "LoaderModuleID", details.LoaderModuleID);
            PrintArray(writer, "TypeParameters", details.TypeParameterCount,
                       i => (long)details.TypeParameters(i));
            return;
        case MethodILToNativeMapTraceData map:
            PrintArray(writer, "ILOffsets", map.CountOfMapEntries, i => map.ILOffset(i));
            PrintArray(writer, "NativeOffsets", map.CountOfMapEntries, i => map.NativeOffset(i));
            break;
    }
    for (int i = 0; i < data.PayloadNames.Length; i++)
        PrintValue(writer, data.PayloadNames[i], data.PayloadValue(i));
}

static void PrintArray(Utf8JsonWriter writer, string name, int count, Func<int, long> element)
{
    writer.WriteStartArray(name);
    for (int i = 0; i < count; i++)
        writer.WriteNumberValue(element(i));
    writer.WriteEndArray();
}

static void PrintValue(Utf8JsonWriter writer, string name, object? value)
{
    switch (value)
    {
        case null:
            writer.WriteNull(name);
            break;
        case string text:
            writer.WriteString(name, text);
            break;
        case bool isTrue:
            writer.WriteBoolean(name, isTrue);
            break;
        case Guid guid:
            writer.WriteString(name, guid);
            break;
        case ulong number:
            writer.WriteNumber(name, number);
            break;
        default: // numbers of other types, and enumerations
            writer.WriteNumber(name, Convert.ToInt64(value));
            break;
    }
}
