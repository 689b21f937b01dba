# SPDX-License-Identifier: MIT
"""`clrsym perfmap --follow` of a program that compiles, frees and unloads all the time, with each runtime: whenever
the program is stopped, the file equals the output of `clrsym perfmap`, the answers of `clrsym resolve`, and the
runtime's own perf map."""

import contextlib
import os
import pathlib
import signal
import time

from tests.live import attached, live, runtimes
from tests.live.test_eventpipe import DirectFeed, attach, end_holder
from tests.traces import recorded

N_STOPS = 4
# The methods of clrsym-live's load contexts and dynamic methods.
OWN = 'Live.'


def entries(text):
    """start -> (size, symbol), and errors of the map."""
    found, wrong, end = {}, [], 0
    for line in text.splitlines(True):
        start, size, symbol = line[:-1].split(' ', 2)
        start, size = int(start, 16), int(size, 16)
        if not line.endswith('\n') or start < end:
            wrong.append(line)
        end = start + size
        found[start] = size, symbol
    return found, wrong


@contextlib.contextmanager
def following(feed, program, *options):
    errors = program.directory / 'follower'
    with open(errors, 'wb') as file, \
         live.child([feed.programs.clrsym, 'perfmap', *feed.daemon.source, '--follow', '-p', program.pid, *options],
                    signal.SIGINT, stderr=file, env=feed.programs.environment) as process:
        yield process, lambda: errors.read_text(encoding='utf-8')


def printed(feed, program):
    return feed.clrsym('perfmap', *feed.daemon.source, '-p', program.pid).stdout


def check_stops(tap, feed, program, path, what):
    """While the program is stopped, the file becomes equal to the output. Returns the numbers of all code seen."""
    seen, differences, wrong = set(), [], []
    for _ in range(N_STOPS):
        for _ in range(20):
            time.sleep(0.05)
            found, faults = entries(path.read_text(encoding='utf-8'))
            wrong += faults
            seen |= set(found.items())
        live.freeze(program.pid)
        try:
            live.wait_for('the file', lambda: path.read_text(encoding='utf-8') == printed(feed, program))
        except RuntimeError:
            differences += set(path.read_text(encoding='utf-8').splitlines()) ^ set(printed(feed, program).splitlines())
        os.kill(program.pid, signal.SIGCONT)
    tap.check(not differences, f'{what}: {N_STOPS} times stopped, the file is what is printed', len(differences), *differences[:5])
    tap.check(not wrong, f'{what}: no address has two entries', *wrong[:5])
    return seen


def check_runtime(tap, feed, program, path, what):
    """The program is idle: the file has exactly the code of the runtime's perf map."""
    bodies = program.perf_map()

    def differences():
        found, _ = entries(path.read_text(encoding='utf-8'))
        missing = [f'{name} is not there' for start, name in bodies.items() if start not in found]
        wrong = [f'{found[start]} is {name}' for start, name in bodies.items() if start in found
                 and not (found[start][0] == name.size and found[start][1].startswith(f'{name.type}.{name.method}'))]
        dead = [f'{start:x} {found[start]} is not alive' for start, (_, symbol) in found.items()
                if start not in bodies and symbol.startswith(OWN)]
        return missing + wrong + dead

    with contextlib.suppress(RuntimeError):
        live.wait_for('the file', lambda: not differences())
    tap.check(len(bodies) > 100 and not differences(),
              f'{what}: the {len(bodies)} methods of the perf map are there, and no code that is gone', len(differences()),
              *differences()[:5])
    found, _ = entries(path.read_text(encoding='utf-8'))
    answers = feed.resolve_now(program.pid, list(found))
    wrong = [(hex(start), entry, answer) for (start, entry), answer in zip(found.items(), answers)
             if answer['status'] != 'ok' or int(answer['start'], 16) != start or answer['symbol'] != entry[1] or
             (answer['size'] or 1) != entry[0]]
    tap.check(not wrong, f'{what}: each of {len(found)} entries is what resolve answers', *wrong[:3])
    return found


def test_runtime(tap, feed, command, directory, what):
    program = attached.Busy(command, directory, contexts=True)
    path = directory / 'map'
    with program.running(DOTNET_LTTng='0'):
        attach(feed, program)
        with following(feed, program, '-o', path) as (process, errors):
            live.wait_for('the file', path.exists, process)
            seen = check_stops(tap, feed, program, path, what)
            program.freeze()
            found = check_runtime(tap, feed, program, path, what)
            gone = seen - set(found.items())
            tap.check(len(gone) > 50, f'{what}: {len(gone)} entries have come and gone', len(seen))
            program.process.kill()
            program.process.wait()
            tap.equal(process.wait(60), 0, f'{what}: the program has ended, and so has clrsym')
            tap.check('has ended' in errors() and not entries(path.read_text(encoding='utf-8'))[1],
                      f'{what}: the file stays', errors())


def test_own_map(tap, feed, command, directory, what):
    """A runtime that writes a perf map itself."""
    program = attached.Busy(command, directory)
    with program.running(DOTNET_LTTng='0', DOTNET_PerfMapEnabled='3', DOTNET_PerfMapJitDumpPath='/tmp'):
        path = pathlib.Path(f'/tmp/perf-{program.vpid}.map')
        path = path if path.exists() else program.directory / path.name
        try:
            attach(feed, program)
            options = () if path.parent == pathlib.Path('/tmp') else ('-o', path)
            with following(feed, program, *options) as (process, errors):
                tap.check(process.wait(60) == 1 and 'its runtime writes its own perf map' in errors(),
                          f"{what}: the runtime's own perf map is left alone", errors())
        finally:
            path.unlink(missing_ok=True)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    feed = DirectFeed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for version, command in runtimes.commands(tap, __file__, directory):
            def attempt(number, version=version, command=command):
                test_runtime(tap, feed, command, directory / f'run-{version}-{number}', f'.NET {version}')

            attached.in_attempts(tap, attempt)
            test_own_map(tap, feed, command, directory / f'own-{version}', f'.NET {version}')
        end_holder()


if __name__ == '__main__':
    live.run_or_skip(live.no_dotnet(), lambda: recorded.main(test))
