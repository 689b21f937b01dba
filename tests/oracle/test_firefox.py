# SPDX-License-Identifier: MIT
"""Files for Firefox Profiler, read by its own program for the command line: each function has the weight that the folded
stacks of the same recording give it."""

import collections
import contextlib
import json
import lzma
import os
import pathlib
import subprocess

from tests.live import live
from tests.oracle import npm
from tests.perf import perftool
from tests.traces import recorded

PACKAGE = '@firefox-devtools/profiler-cli', '0.10.0'
PROGRAM = 'dist/profiler-cli.js'
NETTRACE = pathlib.Path(__file__).resolve().parents[1] / 'nettrace' / 'data'


class Viewer:
    """Firefox Profiler without its pages. It loads a file into a process of its own, and answers questions."""

    def __init__(self, package, directory):
        self.command = ['node', package / PROGRAM]
        self.environment = {**os.environ, 'PROFILER_CLI_SESSION_DIR': str(directory)}

    def run(self, *words):
        return subprocess.run([*self.command, *words], capture_output=True, text=True, check=False, timeout=live.TIMEOUT,
                              env=self.environment)

    def ask(self, *words):
        return json.loads(self.run(*words, '--json').stdout)

    @contextlib.contextmanager
    def showing(self, path):
        """Its process can take longer to start than `load` waits."""
        loaded = self.run('load', path)
        try:
            live.wait_for(f'the viewer: {loaded.stdout}{loaded.stderr}', lambda: self.run('thread', 'list').returncode == 0)
            yield self
        finally:
            self.run('stop', '--all')

    def threads(self):
        """Their handles."""
        return [row['threadHandle'] for row in self.ask('thread', 'list', '--limit', '0')['threads']]

    def functions(self, handle):
        """name -> [weight as a leaf, weight in all stacks] in one thread."""
        found = collections.defaultdict(lambda: [0, 0])
        for row in self.ask('thread', 'functions', '--thread', handle, '--include-idle', '--limit', '1000000')['functions']:
            found[row['name']][0] += row['selfSamples']
            found[row['name']][1] += row['totalSamples']
        return found


def weights(stacks):
    """The same of folded stacks, whose first frame is the thread."""
    found = collections.defaultdict(lambda: [0, 0])
    for (_, *frames), n in stacks.items():
        for frame in set(frames):
            found[frame][1] += n
        if frames:
            found[frames[-1]][0] += n
    return found


def check(tap, programs, viewer, directory, what, *arguments):
    outputs = [directory / f'{what}.folded', directory / f'{what}.firefox.json.gz']
    done = programs.run([programs.clrsym, 'report', *arguments, *(word for path in outputs for word in ('-o', path))])
    if not tap.check(done.returncode == 0, f'{what}: written', done.stderr):
        return
    wanted = weights(perftool.folded(outputs[0].read_text(encoding='utf-8')))
    found = collections.defaultdict(lambda: [0, 0])
    with viewer.showing(outputs[1]):
        threads = viewer.threads()
        for handle in threads:
            for name, numbers in viewer.functions(handle).items():
                found[name] = [sum(pair) for pair in zip(found[name], numbers)]
    wrong = [(name, wanted.get(name), found.get(name)) for name in sorted(wanted | found) if wanted.get(name) != found.get(name)]
    tap.check(len(wanted) > 2 and not wrong,
              f'{what}: {len(wanted)} functions in {len(threads)} threads have the same weights in Firefox Profiler', len(wrong), *wrong[:5])


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    try:
        viewer = Viewer(npm.install(*PACKAGE, directory / 'npm'), directory / 'viewer')
    except npm.NotInstalled as error:
        tap.skip('Firefox Profiler', str(error))
        return
    for name, arguments in (('sampled', ()), ('events', ('--event', 'alloc'))):
        trace = directory / f'{name}.nettrace'
        trace.write_bytes(lzma.open(NETTRACE / name / 'trace.nettrace.xz').read())
        check(tap, programs, viewer, directory, name, trace, *arguments)
    trace = recorded.unpack(directory, ['perf'])['perf']
    check(tap, programs, viewer, directory, 'perf', perftool.unpack_recording(directory), '--trace', trace)


if __name__ == '__main__':
    live.run_or_skip(npm.missing(), lambda: recorded.main(test))
