# SPDX-License-Identifier: MIT
"""`clrsym record --alloc`, and --sampler contention and exception, of a program that counts the same itself, with each
runtime."""

import pathlib
import re

from tests.live import runtimes, test_record
from tests.perf import perftool
from tests.traces import recorded

METHODS = {'Large': 'new System.Byte[]', 'Small': 'new System.Int32[]', 'Text': 'new System.String',
           'Objects': 'new Events.Node', 'Boxes': 'new System.Int64', 'Doubles': 'new System.Double[]',
           'Matrix': 'new System.Int16[,]', 'Texts': 'new System.String[]', 'Guids': 'new System.Guid[]',
           'Characters': 'new System.Char[]'}
TYPES = 'throw System.InvalidOperationException', 'throw System.ArgumentException'
# Allocations are sampled: each method has some 2,000 events, whose number has a deviation of 2 %.
MAX_METHOD, MAX_TOTAL = 0.1, 0.05
# The program's clock is read before and after the runtime's.
MAX_WAIT = 0.05


def record(tap, place, command, what, *options):
    """(what the program counted: bytes, ns, exceptions, bytes of each method; stacks; messages) or None"""
    code, output, errors = place.record(*options, '-o', 'a.folded', '--', *command)
    if not tap.check(code == 0 and re.search(r'% named \((\d+) of \1 jitted', errors), f'{what}: {options[-1]}, named',
                     code, output, errors):
        return None
    return list(map(int, output.split())), perftool.folded((place.directory / 'a.folded').read_text(encoding='utf-8')), errors


def total(stacks, *frames):
    """Of the stacks that have these frames, each by its begin."""
    return sum(n for stack, n in stacks.items() if all(any(own.startswith(frame) for own in stack) for frame in frames))


def is_near(ours, theirs, deviation):
    return abs(ours - theirs) <= deviation * theirs


def test_alloc(tap, place, command, what):
    found = record(tap, place, command, what, '--alloc')
    if not found:
        return
    (n_all, _, _, *n_each), stacks, errors = found
    for (method, leaf), n_bytes in zip(METHODS.items(), n_each, strict=True):
        ours = total(stacks, f'Events.Program.{method}(', leaf)
        tap.check(is_near(ours, n_bytes, MAX_METHOD), f'{what}: {method}() allocates {ours} of {n_bytes} bytes, of its type')
    ours = sum(stacks.values())
    tap.check(is_near(ours, n_all, MAX_TOTAL) and f'{ours:,} bytes of alloc in ' in errors,
              f'{what}: {ours} of {n_all} bytes', errors)


def test_contention(tap, place, command, what):
    found = record(tap, place, command, what, '--sampler', 'contention')
    if found:
        counted, stacks, errors = found
        ours = total(stacks, 'Events.Program.Hold(')
        tap.check(is_near(ours, counted[1], MAX_WAIT), f'{what}: {ours} of {counted[1]} ns of waiting in Hold()', errors)


def test_exceptions(tap, place, command, what):
    found = record(tap, place, command, what, '--sampler', 'exception')
    if found:
        counted, stacks, _ = found
        tap.equal([total(stacks, 'Events.Program.Throw(', leaf) for leaf in TYPES], [counted[2] // 2] * 2,
                  f'{what}: its exceptions by type')
    code, _, errors = place.record('--sampler', 'exception', '--', *command, 'quiet')
    tap.check(code == 1 and errors.endswith('clrsym: nothing was sampled: no exception was thrown\n'),
              f'{what}: a program without exceptions', code, errors)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version, command in runtimes.commands(tap, __file__, directory, 'events', 'clrsym-events'):
        place = test_record.Place(programs, directory, f'place-{version}')
        for check in test_alloc, test_contention, test_exceptions:
            check(tap, place, command, f'.NET {version}')
        tap.equal(place.left(), ([], []), 'nothing is left')


if __name__ == '__main__':
    recorded.main(test)
