# SPDX-License-Identifier: MIT
"""`clrsym record --off-cpu` of a program that waits in four ways, and measures each with its own clock, with each
runtime."""

import pathlib
import re

from tests.live import live, runtimes, test_record
from tests.perf import perftool
from tests.traces import recorded

WAITS = 'Lock', 'Input', 'Sleep', 'Await'
COMPUTES = 'Compute'
PREEMPTED = '[waits for a CPU]'
# A method also computes before and after its wait, and the runtime spins.
MAX_DEVIATION = 0.05
# Of the shares of the methods, by the runtime's sampler, whose pace depends on the machine: so a thread calls them in turn.
MAX_SHARE_DEVIATION = 0.05


def spent(stacks, method):
    """ns without a CPU in METHOD and its callees: of waits, and of preemptions."""
    ours = {stack: n for stack, n in stacks.items()
            if any(frame.startswith(f'Waits.Program.{method}(') for frame in stack)}
    taken = sum(n for stack, n in ours.items() if stack[-1] == PREEMPTED)
    return sum(ours.values()) - taken, taken


def between(stacks):
    """ns without a CPU in the calling method, between reads of its clock: on a busy machine it can be preempted
    there."""
    return sum(n for stack, n in stacks.items()
               if next((frame for frame in reversed(stack) if frame.startswith('Waits.')), '').startswith('Waits.Program.Measure('))


def is_near(stacks, method, ns, errors, least=1 - MAX_DEVIATION):
    """On a busy machine perf can lose samples, which it must report, and a method can be preempted after the read
    of its clock."""
    slept, taken = spent(stacks, method)
    is_lossy = 'events: waits can be missing' in errors
    return slept <= (1 + MAX_DEVIATION) * ns and (is_lossy or slept + taken + between(stacks) >= least * ns)


def record(tap, place, what, arguments, command):
    """(ns of each method by the program, stacks, messages) or None"""
    code, output, errors = place.record(*arguments, '-o', 'a.folded', '--', *command)
    named = re.search(r' managed frames: ([\d.]+)% named', errors)
    if not tap.check(code == 0 and named and float(named[1]) >= 99.5, f'{what}: named', code, output, errors):
        return None
    ns = dict(zip((*WAITS, COMPUTES), map(int, output.split())))
    return ns, perftool.folded((place.directory / 'a.folded').read_text(encoding='utf-8')), errors


def test_waits(tap, place, command, what):
    found = record(tap, place, what, ['--off-cpu'], command)
    if not found:
        return
    ns, stacks, errors = found
    for method in WAITS:
        slept, taken = spent(stacks, method)
        # A wait for a task spins first, which needs a CPU.
        least = 0.5 if method == 'Await' else 1 - MAX_DEVIATION
        tap.check(is_near(stacks, method, ns[method], errors, least), f'{what}: {method}() waits {slept} + {taken} of {ns[method]} ns', errors)
    tap.check(re.match(r'\d+\.\d\d s of off-cpu in \d+ threads, over', errors), f'{what}: the first line of the summary', errors)
    slept, _ = spent(stacks, COMPUTES)
    tap.check(slept < 0.02 * ns[COMPUTES], f'{what}: {COMPUTES}() does not wait: {slept} ns', errors)


def test_both(tap, place, command, what):
    found = record(tap, place, what, ['--off-cpu=both', '-F', '997'], command)
    if not found:
        return
    ns, stacks, errors = found
    for method in (*WAITS, COMPUTES):
        ours = sum(spent(stacks, method))
        tap.check(is_near(stacks, method, ns[method], errors), f'{what}: both: {method}() takes {ours} of {ns[method]} ns', errors)


def test_runtime(tap, place, command, what):
    found = record(tap, place, f'{what}: runtime', ['--sampler', 'runtime'], [*command, 'turns'])
    if not found:
        return
    ns, stacks, errors = found
    # The sampler is slower while a thread computes.
    counts = {method: sum(spent(stacks, method)) for method in WAITS}
    waited = sum(ns[method] for method in WAITS)
    for method in WAITS:
        shares = counts[method] / sum(counts.values()), ns[method] / waited
        tap.check(abs(shares[0] - shares[1]) < MAX_SHARE_DEVIATION,
                  f'{what}: runtime: {method}() has {shares[0]:.3f} of {sum(counts.values())} samples, and {shares[1]:.3f} of the time', errors)


def test_pid(tap, place, command, what):
    with live.child([*command, '5'], stdout=-1) as process:
        process.stdout.readline()
        code, _, errors = place.record('--off-cpu', '-d', 2, '-p', process.pid, '-o', 'a.folded')
        stacks = perftool.folded((place.directory / 'a.folded').read_text(encoding='utf-8')) if code == 0 else {}
        # It waits in one of the methods at a time.
        for method in WAITS:
            slept, taken = spent(stacks, method)
            tap.check(1e9 < slept + taken < 2.2e9, f'{what}: -p: {method}() waits {slept} + {taken} of 2 s', code, errors)


def test_usage(tap, place):
    for arguments, text in ((['--off-cpu=all'], '--off-cpu=all: not both'), (['--off-cpu', '--alloc'], '--off-cpu needs perf'),
                            (['--off-cpu', '--every', '1', '-o', 'x'], 'not both: a wait can be longer')):
        code, _, errors = place.record(*arguments, '--', 'true')
        tap.check(code == 2 and text in errors, f'usage: {" ".join(arguments)}', code, errors)
    code, _, errors = place.record('--off-cpu', '--', 'true', PATH=str(place.directory))
    tap.check(code == 1 and '--sampler runtime shows where .NET threads wait' in errors, 'without perf: what helps', code, errors)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version, command in runtimes.commands(tap, __file__, directory, 'waits', 'clrsym-waits'):
        place = test_record.Place(programs, directory, f'place-{version}')
        for check in test_waits, test_both, test_runtime, test_pid:
            check(tap, place, command, f'.NET {version}')
        tap.equal(place.left(), ([], []), 'nothing is left')
    test_usage(tap, test_record.Place(programs, directory, 'usage'))


if __name__ == '__main__':
    recorded.main(test)
