# SPDX-License-Identifier: MIT
"""`clrsym record` of programs whose call chains are known from their source, by frame pointers and with copies of
the stack. If a method was replaced while it ran (OSR), or keeps no frame pointer, its caller is right, or a frame
shows that it is unknown. For each runtime, also against the runtime's own sampler."""

import collections
import math
import pathlib
import re
import shutil
import subprocess

from tests.live import live, runtimes, test_record, test_stack
from tests.perf import perftool
from tests.traces import recorded

UNKNOWN = '[caller unknown'
# Methods with loops, and all their callers in the source.
CALLERS = {
    'Loop': {'OneCaller'},
    'Inner': {'Nested'},
    'Nested': {'Main'},
    'Recursive': {'Main', 'Recursive'},
    'GenericLoop': {'Generic'},
    'ManyArguments': {'Main'},
    'WithTry': {'Main'},
    'Instance': {'Main'},
    'Cleared': {'InLibrary'},
    'Shared': {'One', 'Other'},
    'SharedRarely': {'Usual', 'Rare'},
    'OnThread': {'Main.lambda#c.3_0'},
    'MoveNext': {'Iterated'},
}
# The same for each kind of frame. Frames of native code, of the runtime and of dynamic methods can be in between.
KIND_CALLERS = {
    'Tiny': {'TinyLoop', 'OneCall'},
    'OneCall': {'OneCallLoop'},
    'Saves': {'SavesLoop'},
    'Id': {'Saves', 'InFinally'},
    'TailTarget': {'TailCaller', 'TailLoop'},
    'LeafInFinally': {'InFinally'},
    'LeafInCatch': {'InCatch'},
    'LeafInFilter': {'InFilter'},
    # The runtime's walk before .NET 9 finds the thrower as a filter's caller, frame pointers the method's caller.
    'InFilter': {'Run', 'Throw'},
    'InCatch': {'Run'},
    'Throw': {'InCatch', 'InFilter'},
    'Compared': {'Sorted'},
    'LeafOfCompared': {'Compared'},
    'LeafOfDynamic': {'DynamicLoop'},
    'LeafOfAsync': {'Async'},
    'TinyLoop': {'Run'},
    'DynamicLoop': {'Run'},
    'Run': {'Main'},
}
# .NET 11's stub for a call of native code; its name in the source.
STUBS = 'qsort',
# Begins of stacks; the last two on a thread of the pool.
BEGINS = 'Main', 'Async', 'LeafOfAsync'
# Leaf below a shared method -> that method's caller.
SHOWN = {'LeafOfOne': 'One', 'LeafOfOther': 'Other', 'LeafOfUsual': 'Usual', 'LeafOfRare': 'Rare'}
# Two methods call it through one call: without a copy of the stack, the caller is not certain.
SHARED = 'Shared', 'SharedRarely'
# Allowed difference of shares beside three times the standard deviation, because runs differ.
MAX_DIFFERENCE = 0.04
# Minimum of samples of a callee whose callers are compared.
MIN_SAMPLES = 40
LACKS = 'can lack callers of small methods'
# Maximum depth of Recursive.
DEEPEST = 5


def own_name(frame):
    """The method of the program; None: another frame."""
    match = re.match(r'Chains\.(?:Program\.|Kinds\.)?(?:Struct\.)?(\w[^(<]*)', frame)
    return match and match[1]


def names_of(stack):
    return [UNKNOWN if frame.startswith(UNKNOWN) else own_name(frame) for frame in stack]


def kinds_of(stack):
    """Only the program's methods, and unknown callers."""
    return [name.split('.')[0] for name in names_of(stack) if name and name not in STUBS]


def callers(path):
    """callee -> caller -> samples, for methods with loops. On a busy machine, the CPU time of each method differs
    from run to run, but its callers do not."""
    counts = collections.defaultdict(collections.Counter)
    for stack, count in perftool.folded(path.read_text(encoding='utf-8')).items():
        names = names_of(stack)
        for caller, callee in zip(names, names[1:]):
            if callee in CALLERS:
                counts[callee][caller] += count
    return counts


def differing_shares(one, other):
    """(caller, callee) -> its two shares, if they differ by more than chance."""
    found = {}
    for callee in one.keys() & other.keys():
        n, m = one[callee].total(), other[callee].total()
        for caller in one[callee].keys() | other[callee].keys():
            a, b = one[callee][caller] / n, other[callee][caller] / m
            share = (one[callee][caller] + other[callee][caller]) / (n + m)
            deviation = math.sqrt(share * (1 - share) * (1 / n + 1 / m))
            if min(n, m) >= MIN_SAMPLES and abs(a - b) > 3 * deviation + MAX_DIFFERENCE:
                found[caller, callee] = a, b, n, m
    return found


class Counted(collections.Counter):
    """The edges of stacks to methods with loops."""

    def __init__(self, stacks):
        super().__init__()
        self.wrong = collections.Counter()
        for stack, count in stacks.items():
            names = names_of(stack)
            for i, (caller, callee) in enumerate(zip(names, names[1:]), 1):
                if callee in CALLERS:
                    self.add(caller, callee, names[i + 1] if i + 1 < len(names) else None, stack, count)
            if names.count('Recursive') > DEEPEST:
                self.wrong['too deep'] += count

    def add(self, caller, callee, below, stack, count):
        want = {SHOWN[below]} if below in SHOWN else CALLERS[callee]
        if caller == UNKNOWN:
            self['shared, unknown' if callee in SHARED else 'unknown'] += count
        elif caller in want:
            self['right'] += count
        else:
            self['wrong'] += count
            self.wrong[(caller, callee, below, stack[-8:])] += count


def test_runtime(tap, place, command, what):
    for graph in 'fp', 'both', 'dwarf,16384':
        code, _, errors = place.record('-g', graph, '-F', 499, '-o', f'{graph}.folded', '--', *command, 2)
        if not tap.check(code == 0, f'{what}, {graph}: it is recorded', code, errors):
            continue
        counted = Counted(perftool.folded((place.directory / f'{graph}.folded').read_text(encoding='utf-8')))
        tap.note(f'{what}, {graph}: {dict(counted)}')
        # Other programs leave it only a part of a CPU.
        tap.check(sum(counted.values()) > 200, f'{what}, {graph}: {sum(counted.values())} callers', errors)
        tap.check(not counted.wrong, f'{what}, {graph}: {counted.wrong.total()} callers are wrong', counted,
                  *counted.wrong.most_common(4))
        unknown = counted['unknown'] + (counted['shared, unknown'] if graph != 'fp' else 0)
        share = 20 if graph == 'fp' else 100
        tap.check(share * unknown <= counted['right'], f'{what}, {graph}: all but 1 in {share} callers are known', counted)


def test_oracle(tap, place, command, what):
    """The stacks that perf copied against the runtime's own sampler, with its own walk of the stack."""
    code, _, errors = place.record('-o', 'runtime.folded', '--', *command, 2, PATH='/nowhere')
    tap.check(code == 0 and "uses the runtime's own sampler" in errors, 'the runtime samples itself', errors)
    runtime, copies = (callers(place.directory / f'{name}.folded') for name in ('runtime', 'dwarf,16384'))
    differing = differing_shares(runtime, copies)
    tap.check(len(runtime.keys() & copies.keys()) > 8 and not differing,
              f'{what}: {len(runtime)} methods have the callers that the runtime itself finds', differing)


def count_kinds(stacks):
    """Numbers of right and of unknown edges; and the wrong edges."""
    counts, wrong = collections.Counter(), collections.Counter()
    for stack, count in stacks.items():
        names = kinds_of(stack)
        for caller, callee in zip(names, names[1:]):
            if callee not in KIND_CALLERS:
                continue
            kind = 'unknown' if caller == UNKNOWN else 'right' if caller in KIND_CALLERS[callee] else 'wrong'
            counts[kind] += count
            if kind == 'wrong':
                wrong[caller, callee] += count
        if names and names[0] not in BEGINS:
            is_shown = names[0] == UNKNOWN or any(frame in ('[no caller]', '[truncated]') for frame in stack)
            counts['unknown' if is_shown else 'wrong'] += count
            if not is_shown:
                wrong[None, names[0]] += count
    return counts, wrong


def test_kinds(tap, place, command, what):
    """A program with each kind of frame, by perf."""
    for graph in 'fp', 'both', 'dwarf,32768':
        code, _, errors = place.record('-g', graph, '-F', 499, '-o', f'kinds-{graph}.folded', '--', *command, 'kinds')
        counts, wrong = count_kinds(perftool.folded((place.directory / f'kinds-{graph}.folded').read_text(encoding='utf-8')))
        tap.note(f'{what}, kinds, {graph}: {dict(counts)}')
        tap.check(code == 0 and counts['right'] > 400 and not wrong, f'{what}, kinds, {graph}: no caller is wrong', errors,
                  counts, wrong.most_common(8))
        # Copies end in the runtime's exception handling, which needs many KiB of the stack.
        tap.check(graph == 'fp' or 10 * counts['unknown'] <= counts['right'],
                  f'{what}, kinds, {graph}: callers are known', counts)


def test_parts(tap, place, command, what):
    """Continuous profiles: the last interval is named after the end of the program."""
    code, _, errors = place.record('--every', 2, '-d', 7, '-F', 499, '--format', 'folded', '-o', f'parts-{what}', '--', *command,
                                   'kinds', 1000)
    stacks = collections.Counter()
    for path in (place.directory / f'parts-{what}').iterdir():
        stacks.update(perftool.folded(path.read_text(encoding='utf-8')))
    counts, wrong = count_kinds(stacks)
    tap.check(counts['right'] > 400 and not wrong, f'{what}, intervals: no caller is wrong', code, errors, counts, wrong)


def report(place, data):
    """(the names, the standard error) of a recording of perf itself."""
    output = place.directory / 'report.folded'
    done = place.programs.run([place.programs.clrsym, 'report', data, '-o', output], env=place.environment)
    if done.returncode != 0:
        raise RuntimeError(f'clrsym report {data}: {done.returncode}: {done.stderr}')
    return perftool.folded(output.read_text(encoding='utf-8')), done.stderr


def test_report(tap, place, command, what):
    """A recording of perf itself, named by a daemon while the program still runs, and after its end."""
    data = place.directory / f'{what}.data'
    place.environment |= {'CLRSYM_HOLDER': str(place.directory / 'holder')}
    with recorded.Daemon(place.programs, place.directory) as daemon:
        place.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}
        with live.child([*command, 'kinds', 1000], env=place.environment, stdin=subprocess.DEVNULL) as program:
            live.wait_for('the port', lambda: test_record.has_port(place, program.pid), program)
            live.run(place.programs.clrsym, 'attach', '--wait=60', program.pid, *daemon.source, env=place.environment)
            live.run('perf', 'record', '-q', '-F', '499', '-e', 'cpu-clock', '-k', 'mono', '-g', '-p', program.pid,
                     '-o', data, '--', 'sleep', 5)
            stacks, errors = report(place, data)
            counts, wrong = count_kinds(stacks)
            tap.note(f'{what}: {dict(counts)}')
            tap.check(counts['right'] > 200 and not wrong and LACKS not in errors, f'{what}: no caller is wrong', counts,
                      wrong.most_common(8), errors)
        live.wait_for('the end', lambda: '"state":"exited"' in test_stack.stack_ps(place, daemon))
        _, errors = report(place, data)
        tap.check(LACKS in errors, f'{what}: after the end of the program, a line counts stacks that can lack callers', errors)


def test_kinds_oracle(tap, place, command, what):
    """The same by the runtime's own sampler."""
    code, _, errors = place.record('-o', 'kinds-runtime.folded', '--', *command, 'kinds', PATH='/nowhere')
    if not tap.check(code == 0, f'{what}, kinds, by the runtime: it is recorded', code, errors):
        return
    # It samples where the runtime can stop a thread, so the shares of several callers differ.
    counts, wrong = count_kinds(perftool.folded((place.directory / 'kinds-runtime.folded').read_text(encoding='utf-8')))
    tap.check(code == 0 and counts['right'] > 400 and not wrong,
              f'{what}, kinds: the callers are those that the runtime itself finds', errors, counts, wrong)


def test_roots(tap, place, command):
    """Stacks that do not reach Main show that."""
    for graph in 'fp', 'both', 'dwarf,32768':
        code, _, errors = place.record('-g', graph, '-F', 499, '-o', f'roots-{graph}.folded', '--', *command, 'reads')
        stacks = perftool.folded((place.directory / f'roots-{graph}.folded').read_text(encoding='utf-8'))
        # Without the frames below the program's methods and their callees, and without start and end.
        found = {stack: n for stack, n in stacks.items()
                 if any('pread' in frame or frame.startswith(('Chains.Program.Deep(', 'Chains.Program.LeafOfOne('))
                        for frame in stack)}
        bad = {stack: n for stack, n in found.items()
               if stack[1] not in ('[truncated]', '[no caller]') and not any(frame.startswith('Chains.Program.Main(') for frame in stack)}
        all_found, marked = sum(found.values()), sum(n for stack, n in found.items() if stack[1] in ('[truncated]', '[no caller]'))
        tap.check(code == 0 and all_found > 300 and sum(bad.values()) <= all_found / 200,
                  f'{graph}: {marked} of {all_found} stacks are not whole, and show it', errors, list(bad.items())[:4])
        shares = re.search(r'^clrsym: stacks: ([\d.]+) % whole(.*)$', errors, re.M)
        tap.check(shares and (graph != 'dwarf,32768') == ('kernel.perf_event_max_stack' in shares[2]), f'{graph}: the shares', errors)


def precompiled(directory, command):
    """The command with precompiled code, which stays."""
    host, assembly = command
    to = directory / 'precompiled'
    shutil.copytree(assembly.parent, to)
    runtimes.precompile(assembly, to / assembly.name, runtimes.framework(runtimes.own_host(), runtimes.OWN))
    return ['/usr/bin/env', 'DOTNET_TieredCompilation=0', host, to / assembly.name]


def without_file(command):
    """The command with the code in memory of the process only. The callers of methods that it compiles after the last
    copy of the code are unknown."""
    return ['/usr/bin/env', 'DOTNET_EnableWriteXorExecute=0', 'CHAINS_PAUSE=1000', *command]


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version, command in runtimes.commands(tap, __file__, directory, 'chains', 'clrsym-chains'):
        place, what = test_record.Place(programs, directory, f'place-{version}'), f'.NET {version}'
        test_runtime(tap, place, command, what)
        test_oracle(tap, place, command, what)
        test_kinds(tap, place, command, what)
        test_kinds_oracle(tap, place, command, what)
        if version == '10':
            test_roots(tap, place, command)
            test_runtime(tap, place, without_file(command), f'{what}, without W^X')
            test_kinds(tap, place, without_file(command), f'{what}, without W^X')
            test_parts(tap, place, command, what)
            test_parts(tap, place, without_file(command), f'{what}, without W^X')
            test_report(tap, place, command, f'{what}, perf record')
            test_report(tap, place, without_file(command), f'{what}, perf record, without W^X')
            test_kinds(tap, place, precompiled(directory, command), f'{what}, precompiled')


if __name__ == '__main__':
    if test_record.missing():
        print(f'1..0 # SKIP {test_record.missing()}')
    else:
        recorded.main(test)
