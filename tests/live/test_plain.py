# SPDX-License-Identifier: MIT
"""Plain questions, without a time, about a program that has compiled something and is idle since: each
address of the runtime's perf map is answered right, or the answer does not claim to be exact. For each source
of events, and each runtime."""

import collections
import contextlib
import json
import os
import pathlib
import subprocess
import time

from tests.live import attached, live, runtimes, test_live
from tests.live.test_eventpipe import end_holder, port_variable
from tests.traces import recorded


# s: events that have reached a worker are visible so soon.
SOON = 0.5
N_ROUNDS = 3


class Plain:
    """The program, which compiles for each line that it gets."""

    def __init__(self, command, directory):
        self.command, self.directory = command, pathlib.Path(directory)
        self.directory.mkdir()
        self.process = None

    @contextlib.contextmanager
    def running(self, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(('DOTNET_', 'COMPlus_', 'LTTNG_'))}
        environment |= {'TMPDIR': str(self.directory), 'DOTNET_PerfMapEnabled': '3',
                        'DOTNET_PerfMapJitDumpPath': str(self.directory), **variables}
        with live.child(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        env=environment) as self.process:
            self.line('READY')
            yield self
            self.process.stdin.close()
            self.process.wait(live.TIMEOUT)

    @property
    def pid(self):
        return self.process.pid

    def line(self, wanted):
        if not (line := self.process.stdout.readline()).startswith(wanted):
            raise RuntimeError(f'the program printed {line!r}, not {wanted}')

    def burst(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        self.line('DONE')

    def bodies(self):
        """start -> what the perf map has there."""
        # Older runtimes take the directory from TMPDIR, or have a fixed one.
        return self.bodies_of(next(path for path in (self.directory / f'perf-{self.pid}.map',
                                                     pathlib.Path(f'/tmp/perf-{self.pid}.map')) if path.exists()))

    @staticmethod
    def bodies_of(path):
        found = collections.defaultdict(list)
        for line in path.read_text(encoding='utf-8', errors='replace').splitlines():
            if line and (parts := live.PERF_MAP_LINE.fullmatch(line)):
                start, size, text = parts.groups()
                if method := live.PERF_MAP_METHOD.fullmatch(text):
                    found[int(start, 16)].append(
                        live.Name(method['type'], method['method'], method['tier'], int(size, 16)))
        return found


def ask(feed, program, bodies, *options):
    text = ''.join(f'{start:#x}\n' for start in bodies)
    lines = feed.programs.ask(feed.daemon.source, 'resolve', '--pid', str(program.pid), *options, text=text)
    return list(map(json.loads, lines))


def is_right(names, answer):
    return answer['status'] == 'ok' and test_live.name_of(answer) in names


def check(tap, feed, program, what):
    sure, missing, n = [], [], 0
    for _ in range(N_ROUNDS):
        program.burst()
        for pause in 0, SOON:
            time.sleep(pause)
            bodies = program.bodies()
            for options in ('--wait=0',), ():
                n += len(bodies)
                for (_, names), answer in zip(bodies.items(), ask(feed, program, bodies, *options)):
                    if is_right(names, answer):
                        continue
                    if answer['confidence'] == 'exact':
                        sure.append((names, answer))
                    elif not options:
                        missing.append((names, answer))
    tap.check(n > 200 and not sure, f'{what}: of {n} plain answers none is wrong and exact', len(sure), *sure[:3])
    tap.check(not missing, f'{what}: after the default wait all are named', len(missing), *missing[:3])
    nothing, = ask(feed, program, [0x1000])
    tap.equal((nothing['status'], nothing['confidence']), ('no-method', 'exact'),
              f'{what}: that nothing is there is certain after the wait')


def test_runtime(tap, feed, directory, version, command):
    program = Plain(command, directory / f'attached-{version}')
    with program.running(DOTNET_LTTng='0'):
        feed.rows('attach', '--via=eventpipe', program.pid)
        check(tap, feed, program, f'.NET {version}, attached')
        feed.rows('detach', program.pid)
    name, path, _ = port_variable(feed)
    program = Plain(command, directory / f'start-{version}')
    with program.running(DOTNET_LTTng='0', **{name: f'{path},suspend'}):
        check(tap, feed, program, f'.NET {version}, from its start')
    program = Plain(command, directory / f'lttng-{version}')
    with program.running(**live.ENVIRONMENT):
        # LTTng's daemons deliver the first packet of a new process in their own time.
        ask(feed, program, [0x1000], f'--wait={live.TIMEOUT}')
        check(tap, feed, program, f'.NET {version}, LTTng')


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    config = directory / 'clrsymd.conf'
    config.write_text(f'[Daemon]\nHolder={directory}/holder/control\n', encoding='utf-8')
    feed = attached.Feed(programs, directory, daemon=recorded.Daemon(programs, directory, '--config', str(config)))
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for version, command in runtimes.commands(tap, __file__, directory, 'plain', 'clrsym-plain',
                                                   library=runtimes.tracepoints(programs.plugin_dir)):
            test_runtime(tap, feed, directory, version, command)
        end_holder()


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
