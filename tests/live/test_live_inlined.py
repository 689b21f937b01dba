# SPDX-License-Identifier: MIT
"""Inlined methods of a running program, against the JIT's own reports of inlining.

MethodJitInliningSucceeded has the names of the inlined and of the compiled method as texts. The inline trees have
ids, from which our names are made by MethodDetails, BulkType and the metadata of the assemblies. The JIT compiles
and optimises the program and the framework from the first call on."""

import json
import os
import pathlib
import re
import subprocess

from tests.live import live, runtimes
from tests.traces import recorded

RUNTIME = 'Microsoft-Windows-DotNETRuntime'
# As for `clrsym attach`, with the JIT's reports.
CONFIG = f'{RUNTIME}:0x60000A3098:5,{RUNTIME}Private:0x40000:5'
ROUNDS = 1
# Maximum of addresses of one body that are asked about.
N_PLACES = 40


def without_arguments(name):
    """'A.B`1.M' of 'A.B`1[System.Int32].M(int32)'."""
    return re.sub(r'\[.*?\]+', '', re.sub(r'\(.*', '', name))


def run_program(directory, name, inlines, command):
    path = directory / name
    environment = {key: value for key, value in os.environ.items() if not key.startswith('DOTNET_')}
    subprocess.run([*map(str, command), str(ROUNDS)], check=True, timeout=240,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=directory,
                   env={**environment, 'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': CONFIG,
                        'DOTNET_EventPipeOutputPath': str(path), 'DOTNET_RichDebugInfo': str(inlines),
                        'DOTNET_EventPipeCircularMB': '256', 'DOTNET_LTTng': '0',
                        'DOTNET_TieredCompilation': '0', 'DOTNET_ReadyToRun': '0'})
    return path


def read_pairs(programs, path):
    """The pairs (inlined, compiled) that the JIT reports."""
    done = programs.run([programs.clrsym, 'dump', '--event', 'MethodJitInliningSucceeded', path])
    pairs = set()
    for line in done.stdout.splitlines():
        fields = json.loads(line)['fields']
        pairs.add(tuple(without_arguments(f'{fields[end + "Namespace"]}.{fields[end + "Name"]}')
                        for end in ('Inlinee', 'Inliner')))  # always the compiled method
    return pairs


def questions(bodies):
    for body in bodies:
        if body['size'] and body['loaded'] and body['version']['tier'].startswith('Optimized'):
            start, size = int(body['start'], 16), body['size']
            for offset in range(0, size, max(1, size // N_PLACES)):
                yield f'{body["pid"]} {start + offset:#x} {body["loaded"]}\n'


def read_edges(lines):
    """The pairs (inlined, compiled) in the answers; the number of unknown names; the longest chain."""
    edges, unknown, depth = set(), 0, 0
    for line in lines:
        own = re.match(r'\S+ (.*?)\+0x[0-9a-f]+ ', line)
        inlined = re.search(r', inlined ~(.*)$', line)
        if not own or not inlined:
            continue
        chain = inlined[1].removesuffix(' ~').split(' in ~')
        unknown += chain.count('?')
        depth = max(depth, len(chain))
        edges |= {(without_arguments(name), without_arguments(own[1])) for name in chain if name != '?'}
    return edges, unknown, depth


def ask(programs, path):
    bodies = programs.bodies(['--trace', str(path)])
    text = ''.join(questions(bodies))
    return programs.run([programs.clrsym, 'resolve', '--names', 'clr', '--trace', path],
                        text=text).stdout.splitlines()


def check_signatures(tap, programs, path):
    """Signatures from the assemblies' metadata, against those in the runtime's events."""
    program = pathlib.Path(programs.plugin_dir).parent / 'tests' / 'method-signatures'
    bodies = [body for body in programs.bodies(['--trace', str(path)]) if body['module'] and
              body['module']['path'] and (body['method']['token'] or '').startswith('0x06') and
              'dynamic' not in body['flag_names']]
    ours = {}
    for module in {body['module']['path'] for body in bodies}:
        for line in programs.run([program, module]).stdout.splitlines():
            token, _, signature = line.partition(' ')
            ours[module, int(token, 16)] = signature
    pairs = {(ours[body['module']['path'], int(body['method']['token'], 16)], body['method']['signature'])
             for body in bodies}
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    tap.check(len(pairs) > 400, f'{len(bodies)} methods have {len(pairs)} signatures')
    tap.equal(wrong[:5], [], 'all are written from the metadata as the runtime writes them')


def test_runtime(tap, programs, command, directory):
    path = run_program(directory, 'with.nettrace', 1, command)
    check_signatures(tap, programs, path)
    pairs = read_pairs(programs, path)
    lines = ask(programs, path)
    edges, unknown, depth = read_edges(lines)
    wrong = sorted(edges - pairs)
    tap.check(len(pairs) > 400, f'the JIT reports {len(pairs)} pairs of methods')
    tap.check(len(edges) > 100 and depth > 2, f'{len(lines)} addresses have {len(edges)} of them, {depth} deep',
              len(edges), depth)
    tap.equal(wrong[:5], [], 'none of them is another than those that the JIT reports')
    tap.equal(unknown, 0, 'all have names')
    without = ask(programs, run_program(directory, 'without.nettrace', 0, command))
    tap.equal([line for line in without if ', inlined' in line], [], 'without the setting nothing changes')


def test(tap, programs, directory, _):
    for runtime, command, place in runtimes.runs(tap, __file__, directory):
        tap.note(f'.NET {runtime}')
        test_runtime(tap, programs, command, place)


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
