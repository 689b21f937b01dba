# SPDX-License-Identifier: MIT
"""A runtime without the table of its tracepoints emits nothing to LTTng: clrsym reports that, and the preloaded
library restores its events. For a runtime with the table, the library changes nothing.

test_tracepoints.py CLRSYM CLRSYMD PLUGIN_DIR"""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess

from tests.live import live, runtimes
from tests.traces import recorded

REASON = 'has lost the table that connects its tracepoints'


class Runs:
    """A program, traced by LTTng from its start, with or without the library."""

    def __init__(self, programs, directory, assembly):
        self.programs, self.directory, self.assembly = programs, directory, assembly
        self.n = 0

    def variables(self, dotnet):
        """The output of `clrsym env` with that runtime installed, and its notes."""
        done = self.programs.run([self.programs.clrsym, 'env', '--format=env'],
                                 env={**self.programs.environment, 'DOTNET_ROOT': str(dotnet.parent)})
        return dict(line.split('=', 1) for line in done.stdout.splitlines()), done.stderr

    def run(self, dotnet, environment, while_it_runs=None):
        """(the trace's bodies, the perf map's bodies, the pid)."""
        self.n += 1
        place = self.directory / f'run-{self.n}'
        place.mkdir()
        program = live.Program(self.assembly, place, 20)
        program.command[0] = str(dotnet)
        before = dict(os.environ)
        os.environ.update(environment)
        os.environ.update({'DOTNET_ROOT': str(dotnet.parent), 'DOTNET_ROLL_FORWARD': 'LatestMajor'})
        try:
            with live.session(f'tracepoints-{self.n}', f'--output={place}/trace'), program.ready():
                if while_it_runs:
                    while_it_runs(program)
        finally:
            os.environ.clear()
            os.environ.update(before)
        return place / 'trace', program.perf_map()[0], program.pid

    def loads(self, trace):
        """Bodies by address and method -> number of their load events."""
        lines = self.programs.run([self.programs.clrsym, 'dump', trace]).stdout.splitlines()
        rows = [row['fields'] for row in map(json.loads, lines) if row['event'].startswith('MethodLoadVerbose')]
        return collections.Counter((row['MethodStartAddress'], row['MethodID'], row['MethodFlags']) for row in rows)


def unnamed(programs, trace, bodies, pid):
    """Lines of the perf map with another name in the trace, and the number of lines. If several bodies were at an
    address, a question without a time has all of them as candidates."""
    asked = [(start, names[0].method) for start, names in bodies.items() if len(names) == 1]
    done = programs.run([programs.clrsym, 'resolve', '--trace', trace, '--json'],
                        text=''.join(f'{pid} {start:#x}\n' for start, _ in asked))
    wrong, n = [], 0
    for (start, name), answer in zip(asked, map(json.loads, done.stdout.splitlines())):
        candidates = answer.get('candidates') or [answer]
        if answer.get('n_candidates', 0) <= len(candidates):
            n += 1
            if name not in {(candidate.get('method') or {}).get('name') for candidate in candidates}:
                wrong.append((hex(start), name, answer['status'], len(candidates)))
    return wrong, n


def check_lost(tap, runs, dotnet):
    programs = runs.programs
    variables, notes = runs.variables(dotnet)
    library = variables.pop('LD_PRELOAD', '')
    tap.check(library.endswith('libclrsym-tracepoints.so'), 'env has the library for it', variables, notes)

    def look(program):
        done = programs.run([programs.clrsym, 'doctor', str(program.pid)])
        tap.check(re.search(rf'^NO   provider .*{REASON}', done.stdout, re.M), 'doctor: what is missing', done.stdout)
        done = programs.run([programs.clrsym, 'attach', '--via=lttng', str(program.pid)])
        tap.check(done.returncode == 1 and REASON in done.stderr, 'attach by LTTng: refused, with the reason', done.stderr)
        done = programs.run([programs.clrsym, 'attach', '--wait=0', '--json', str(program.pid)])
        row = json.loads(done.stdout or '{}')
        tap.equal(row.get('via'), 'eventpipe', 'attach takes EventPipe, although a session is live')
        programs.run([programs.clrsym, 'detach', str(program.pid)])

    trace, _, _ = runs.run(dotnet, variables, look)
    tap.equal(sum(runs.loads(trace).values()), 0, 'without the library nothing comes')

    def look_again(program):
        done = programs.run([programs.clrsym, 'doctor', str(program.pid)])
        tap.check(REASON not in done.stdout and re.search('^ok   provider', done.stdout, re.M),
                  'doctor: with the library nothing is missing', done.stdout)

    trace, bodies, pid = runs.run(dotnet, {**variables, 'LD_PRELOAD': library}, look_again)
    loads = runs.loads(trace)
    tap.check(len(loads) > 1000, f'with the library, {sum(loads.values())} loads come', len(loads))
    wrong, n = unnamed(programs, trace, bodies, pid)
    tap.check(n > 200 and not wrong, f'{n} lines of the perf map have their names', *wrong[:5])
    return library


def check_connected(tap, runs, library):
    """A runtime with a table does not need the library, which registers nothing again."""
    dotnet = runtimes.own_host()
    variables, notes = runs.variables(dotnet)
    tap.check('LD_PRELOAD' not in variables and REASON not in notes, 'a runtime with a table: env has no library', notes)
    trace, bodies, pid = runs.run(dotnet, {**variables, 'LD_PRELOAD': library})
    loads = runs.loads(trace)
    wrong, n = unnamed(runs.programs, trace, bodies, pid)
    tap.check(n > 200 and not wrong, f'with it all the same: {n} lines of the perf map have their names', *wrong[:5])
    # A few bodies are loaded again at a freed address.
    tap.check(len(loads) > 1000 and sum(loads.values()) < 1.05 * len(loads), 'each event comes once',
              len(loads), sum(loads.values()))


def check_others(tap, library):
    """Unrelated programs."""
    done = subprocess.run(['true'], env={**os.environ, 'LD_PRELOAD': library}, capture_output=True, check=False)
    tap.equal([done.returncode, done.stderr], [0, b''], 'another program runs as before')
    symbols = live.run('nm', '-D', '--defined-only', library).split()[2::3]
    tap.equal(sorted(symbols), ['lttng_probe_register', 'lttng_ust_probe_register'], 'no function but two is replaced')


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    assembly = live.build(directory / 'app')
    runs = Runs(programs, directory, assembly)
    library = runtimes.tracepoints(programs.plugin_dir)
    check_others(tap, str(library))
    try:
        dotnet = runtimes.host(directory, runtimes.NEWEST)
    except RuntimeError as error:
        tap.skip(f'.NET {runtimes.NEWEST}', f'it is not to be had: {str(error).splitlines()[-1]}')
    else:
        check_lost(tap, runs, dotnet)
    check_connected(tap, runs, str(library))
    live.wait_for('the end of the holder', lambda: not (directory / 'holder' / 'control').exists())


if __name__ == '__main__':
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    live.in_sandbox(lambda: recorded.main(test))
