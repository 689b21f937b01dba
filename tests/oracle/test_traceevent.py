# SPDX-License-Identifier: MIT
"""The dump, field by field, compared with Microsoft.Diagnostics.Tracing.TraceEvent on the same
bytes.

TraceEvent has its own CTF reader, blob layouts and text conversion. The tables below list the
events and fields that TraceEvent omits or changes; all others must be there and equal.
"""

import collections
import json
import lzma
import os
import pathlib
import re

from tests.oracle import traceevent
from tests.traces import recorded
from tests.traces.layout import LAYOUT

SAMPLED = pathlib.Path(__file__).resolve().parents[1] / 'nettrace' / 'data' / 'sampled'
RUNTIME, RUNDOWN = 'Microsoft-Windows-DotNETRuntime', 'Microsoft-Windows-DotNETRuntimeRundown'
# Ids from the manifest. TraceEvent gives the failures the ids of their Ansi forms.
IDS = {RUNTIME: {
    1: 'GCStart', 2: 'GCEnd', 3: 'GCRestartEEEnd', 7: 'GCRestartEEBegin', 8: 'GCSuspendEEEnd', 9: 'GCSuspendEEBegin',
    72: 'MethodDetails', 88: 'ILStubGenerated', 141: 'MethodLoad', 142: 'MethodUnload',
    143: 'MethodLoadVerbose', 144: 'MethodUnloadVerbose', 145: 'MethodJittingStarted',
    151: 'DomainModuleLoad', 152: 'ModuleLoad', 153: 'ModuleUnload', 154: 'AssemblyLoad',
    155: 'AssemblyUnload', 156: 'AppDomainLoad', 157: 'AppDomainUnload', 158: 'ModuleRangeLoad',
    185: 'MethodJitInliningSucceeded', 186: 'MethodJitInliningFailed',
    187: 'RuntimeInformationStart', 188: 'MethodJitTailCallSucceeded',
    189: 'MethodJitTailCallFailed', 190: 'MethodILToNativeMap', 280: 'TieredCompilationSettings',
    281: 'TieredCompilationPause', 282: 'TieredCompilationResume',
    283: 'TieredCompilationBackgroundJitStart', 284: 'TieredCompilationBackgroundJitStop'},
    RUNDOWN: {
    141: 'MethodDCStart', 142: 'MethodDCEnd', 143: 'MethodDCStartVerbose',
    144: 'MethodDCEndVerbose', 145: 'DCStartComplete', 146: 'DCEndComplete', 147: 'DCStartInit',
    148: 'DCEndInit', 149: 'MethodDCStartILToNativeMap', 150: 'MethodDCEndILToNativeMap',
    151: 'DomainModuleDCStart', 152: 'DomainModuleDCEnd', 153: 'ModuleDCStart',
    154: 'ModuleDCEnd', 155: 'AssemblyDCStart', 156: 'AssemblyDCEnd', 157: 'AppDomainDCStart',
    158: 'AppDomainDCEnd', 187: 'RuntimeInformationDCStart'}}
# Events that the CTF table of TraceEvent 4.0.0 lacks, and BulkType, whose rows test_bt2.py
# compares.
NOT_DELIVERED = ('DotNETRuntime:BulkType',
                 'DotNETRuntime:R2RGetEntryPoint', 'DotNETRuntime:R2RGetEntryPointStart',
                 'DotNETRuntime:MethodJitMemoryAllocatedForCode', 'DotNETRuntimeRundown:',
                 'DotNETRuntimePrivate:')
# Traces without processes: TraceEvent takes processes only from contexts, not from the environment
# of a per-PID trace.
WITHOUT_PROCESS = ('perpid',)
# TraceEvent moves the tier from the flags to a property with numbers of its own.
TIER_MASK, TIER_SHIFT = 0x380, 7
# TraceEvent reads 16-bit text as 8-bit text here: only the first letter of the reason is right.
MISREAD = {'MethodJitInliningFailed': ('FailReason', 'ClrInstanceID')}
BITS = {'u8': 8, 'u16': 16, 'u32': 32, 'u64': 64, 'i32': 32}


def signed_away(kind, value):
    """Returns a number of TraceEvent's, which may be signed, in the dump's form for that type."""
    if kind in BITS and isinstance(value, int):
        value &= (1 << BITS[kind]) - 1
        return f'0x{value:x}' if kind == 'u64' else value
    if '[' in kind:
        element = kind.split('[')[0]
        return [v if element == 'i32' else signed_away(element, v) for v in value]
    return value


def differences(name, ours, theirs):
    """Returns (number of compared fields, differences)."""
    kinds = dict(LAYOUT[name])
    n_fields, wrong = 0, []
    for field, value in theirs.items():
        if field not in kinds:
            continue
        got = ours[field]
        if field in MISREAD.get(name.split(':')[1], ()):
            if field == 'FailReason' and got[:1] != value[:1]:
                wrong.append(f'{name} {field}: dump {got!r}, TraceEvent {value!r}')
            continue
        if field == 'MethodFlags':
            got &= ~TIER_MASK
        n_fields += 1
        if got != signed_away(kinds[field], value):
            wrong.append(f'{name} {field}: dump {got!r}, TraceEvent {value!r}')
    if 'OptimizationTier' in theirs and 'MethodFlags' in theirs and theirs['MethodFlags'] & 8:
        n_fields += 1
        if (ours['MethodFlags'] & TIER_MASK) >> TIER_SHIFT != theirs['OptimizationTier']:
            wrong.append(f'{name} tier: {ours["MethodFlags"]:#x}, {theirs["OptimizationTier"]}')
    return n_fields, wrong


def name_of(event):
    base = IDS.get(event['provider'], {}).get(event['id'])
    provider = 'DotNETRuntimeRundown' if event['provider'] == RUNDOWN else 'DotNETRuntime'
    version = f'_V{event["version"]}' if event['version'] else ''
    return f'{provider}:{base}{version}' if base else None


def key_of(trace, name, time, event):
    process = () if trace in WITHOUT_PROCESS else (event['pid'], event['tid'])
    return (name, time, *process)


def check(tap, name, dumped, delivered):
    ours = collections.defaultdict(list)
    n_expected = 0
    for event in dumped:
        if event['event'].startswith('('):
            continue
        full_name = f'{event["provider"]}:{event["event"]}'
        time = int(event['time'].replace('.', ''))
        ours[key_of(name, full_name, time, event)].append(event['fields'])
        n_expected += not full_name.startswith(NOT_DELIVERED)
    n_events, n_fields, wrong = 0, 0, []
    by_name = collections.Counter()
    for event in delivered:
        full_name = name_of(event)
        if full_name is None:
            continue
        candidates = ours.get(key_of(name, full_name, event['time'], event))
        if not candidates:
            wrong.append(f'{full_name} at {event["time"]}: not in the dump')
            continue
        n, differs = differences(full_name, candidates.pop(0), event['fields'])
        n_events, n_fields = n_events + 1, n_fields + n
        wrong += differs
        by_name[full_name] += 1
    missing = collections.Counter(key[0] for key, left in ours.items() for _ in left
                                  if not key[0].startswith(NOT_DELIVERED))
    tap.check(n_events == n_expected and n_events > 0 and not missing and not wrong,
              f'{name}: {n_events} events of {len(by_name)} kinds, {n_fields} fields as TraceEvent '
              'reads them', f'{n_expected} expected; missing: {dict(missing)}',
              f'{len(wrong)} differ', *wrong[:8])
    return n_fields


def check_samples(tap, programs, directory, command):
    """Samples of the runtime's own sampler: stacks, and the names that TraceEvent also has."""
    path = pathlib.Path(directory) / 'sampled.nettrace'
    path.write_bytes(lzma.open(SAMPLED / 'trace.nettrace.xz').read())
    theirs, = traceevent.read(command, [path])
    done = programs.run([programs.clrsym, 'perf', '-i', path, '--style', 'clr'])
    ours = collections.Counter()
    names = {}
    for sample in done.stdout.strip().split('\n\n'):
        head, *frames = sample.splitlines()
        rows = [re.fullmatch(r'\t *([0-9a-f]+) (.*) \(.*\)', frame).groups() for frame in frames]
        kind = 1 if rows and rows[0][0] == '0' else 2
        rows = rows[1:] if kind == 1 else rows
        ours[int(re.match(r'.*? +(\d+) +\d+\.\d{9}: ', head)[1]), kind,
             tuple(int(address, 16) for address, _ in rows)] += 1
        names.update((int(address, 16), text) for address, text in rows)
    tap.equal(ours, collections.Counter((sample['tid'], sample['kind'], tuple(sample['addresses']))
                                        for sample in theirs),
              f'sampled: {ours.total()} samples, with the stacks that TraceEvent reads')
    known = [(address, name) for sample in theirs
             for address, name in zip(sample['addresses'], sample['names']) if name]
    wrong = [(hex(address), name, names[address]) for address, name in known
             if f'{name.split("(")[0]}(' not in names[address].replace('::', '.')]
    tap.check(len(known) > 500 and not wrong,
              f'sampled: {len(known)} frames have the names that TraceEvent has', *wrong[:5])


def run(tap, programs, directory, names):
    command = traceevent.build(directory)
    check_samples(tap, programs, directory, command)
    n_fields = 0
    traces = {name: trace for name, trace in recorded.unpack(directory, names).items()
              if name != recorded.REFUSED}
    archives = [traceevent.pack(trace, os.path.join(directory, f'{name}.zip'))
                for name, trace in traces.items()]
    for delivered, (name, trace) in zip(traceevent.read(command, archives), traces.items()):
        output = os.path.join(directory, f'{name}.jsonl')
        tap.equal(programs.dump(trace, output).returncode, 0, f'{name}: dump succeeds')
        with open(output, encoding='utf-8') as lines:
            n_fields += check(tap, name, map(json.loads, lines), delivered)
    if set(recorded.USUAL) <= set(names):
        tap.check(n_fields > (1_000_000 if recorded.LARGEST in names else 500_000), f'{n_fields} fields compared')


if __name__ == '__main__':
    recorded.main(run)
