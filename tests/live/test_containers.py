# SPDX-License-Identifier: MIT
"""Programs of .NET for musl in their own containers, like Alpine's, observed from outside: with other pids, root
directory, user and C library.

test_containers.py CLRSYM CLRSYMD PLUGIN_DIR"""

import contextlib
import os
import pathlib
import re
import subprocess
import time

from tests.daemon import examine
from tests.live import live, musl, runtimes, test_eventpipe, test_plain, test_record
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent


# The library that each runtime's provider needs.
WANTS = {'8': 'liblttng-ust.so.0', '10': 'liblttng-ust.so.1', '11': 'liblttng-ust.so.1'}
# Percent of the managed frames.
LEAST_NAMED = 97
APP, PLAIN = '/app/clrsym-live', '/app/clrsym-plain'


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(('DOTNET_', 'COMPlus_', 'LTTNG_'))}
    kept.pop('TMPDIR', None)
    return {**kept, 'DOTNET_LTTng': '0', **variables}


class Contained(test_plain.Plain):
    """The program that compiles for each line that it gets, in a container. It is process 1 there."""

    def __init__(self, root):
        self.root, self.process, self.outside = root, None, 0

    @contextlib.contextmanager
    def running(self, **variables):
        with live.child(self.root.command(PLAIN), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        env=environment(DOTNET_PerfMapEnabled='3', **variables)) as self.process:
            self.line('READY')
            self.outside = musl.main_process(self.process)
            yield self
            self.process.stdin.close()
            self.process.wait(live.TIMEOUT)

    @property
    def pid(self):
        return self.outside

    def bodies(self):
        return self.bodies_of(self.root.path / 'tmp/perf-1.map')


def alone(root, *words):
    """A command with the environment of a container, instead of that of `clrsym record`."""
    return ['env', '-u', 'TMPDIR', *root.command(*words)]


@contextlib.contextmanager
def busy(root, **variables):
    """The live program, busy. Yields (its process, its pid)."""
    with live.child(root.command(APP, 'busy'), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    env=environment(**variables)) as process:
        live.wait_for('the program', lambda: musl.main_process(process) and
                      any((root.path / 'tmp').glob('dotnet-diagnostic-1-*')), process)
        yield process, musl.main_process(process)


def check_named(tap, code, errors, what, *details):
    counts = test_record.NAMED.search(errors)
    tap.check(code == 0 and counts and int(counts[1]) > 50 and float(counts[3]) > LEAST_NAMED,
              f'{what}: {counts[3] if counts else "nothing"} % named', code, errors, *details)


def folded(place):
    return (place.directory / 'a.folded').read_text(encoding='utf-8')


def test_names(tap, feed, root, what):
    """Each address of the perf map."""
    program = Contained(root)
    with program.running():
        feed.rows('attach', '--via=eventpipe', program.pid)
        test_plain.check(tap, feed, program, f'{what}, attached')
        feed.rows('detach', program.pid)


def test_doctor(tap, programs, root, runtime, directory):
    doctor = examine.Doctor(programs, directory)
    with busy(root, DOTNET_LTTng='1') as (_, pid):
        found = doctor.findings(str(pid))
        of_process = {name: row['status'] for name, row in found.items()}
        wants = WANTS[runtime]
        tap.equal({name: of_process.get(name) for name in ('process', 'runtime', 'library', 'provider', 'port')},
                  {'process': 'ok', 'runtime': 'ok', 'library': 'note', 'provider': 'note', 'port': 'note'},
                  f'.NET {runtime}: doctor finds nothing that prevents names')
        tap.check(f'needs {wants}, which is not installed' in found['library']['text'] and
                  found['library']['fix'].startswith('apk add lttng-ust' if wants.endswith('1') else f'clrsym attach {pid}'),
                  'the library, and what to do', found['library'])
        tap.equal(found['port']['fix'], f'clrsym attach {pid}', 'attach works')


def test_running(tap, place, root, what):
    with busy(root) as (process, pid):
        code, _, errors = place.record('-p', pid, '-d', 2, '--lines', '-o', 'a.folded')
        check_named(tap, code, errors, f'{what}: record -p')
        tap.check('Live.Program.Main(string[])' in folded(place), 'from the outermost managed frame on', folded(place)[:500])
        lines = set(test_record.calls(folded(place)))
        right = [call for call in lines if call[1] in call[0]]
        tap.check(len(right) > 3 and len(right) * 2 > len(lines),
                  f'{len(right)} of {len(lines)} calls are in lines that name the callee, by PDBs in the root directory',
                  *lines)
        tap.check('dotnet-symbol' not in errors or f'/proc/{pid}/root/app/libcoreclr.so gets them' in errors,
                  'a path of the container is printed as it is from here', errors)
        process.stdin.close()
        process.wait(live.TIMEOUT)


def test_machine(tap, place, root, what):
    with live.machine(is_shared=False), busy(root):
        # On a busy machine, it takes seconds until the program is attached.
        code, _, errors = place.record('-a', '-d', 5, '-o', 'a.folded')
        # The recording has other programs of the machine, too.
        own = [line for line in folded(place).splitlines() if 'Live.Program.Main(string[])' in line] if code == 0 else []
        counts = [int(line.rpartition(' ')[2]) for line in own]
        nameless = sum(count for line, count in zip(own, counts) if '[memfd:doublemapper]' in line)
        tap.check(sum(counts) > 20 and nameless * 20 < sum(counts),
                  f'{what}: record -a: {nameless} of {sum(counts)} samples have a managed frame without a name', code, errors)


def test_command(tap, place, root, what):
    """A command that has ended, with its root directory removed."""
    # What it compiles and unloads before it is attached has no names: a fast machine does 20 rounds in 50 ms.
    code, output, errors = place.record('-F', 1999, '-o', 'a.folded', '--', *alone(root, APP, 100), DOTNET_LTTng='0')
    check_named(tap, code, errors, f'{what}: record -- of a command that ends', output[-300:])
    counts = re.search(r'(\d+) of (\d+) precompiled', errors)
    tap.check(counts and int(counts[2]) > 10 and int(counts[1]) > 0.95 * int(counts[2]),
              f'{what}: its precompiled code has names', counts and counts[0], errors)


def test_copied_stacks(tap, place, root, what):
    """Stacks that perf copies need the libraries of a process, which may have ended."""
    code, _, errors = place.record('-g', 'dwarf', '-o', 'a.folded', '--', *alone(root, APP, 10), DOTNET_LTTng='0')
    deep = [line for line in folded(place).splitlines() if 'Live.Program.Main(string[]);' in line] if code == 0 else []
    tap.check(code == 0 and deep and 'callers are missing' not in errors, f'{what}: copied stacks have callers', code, errors)


def test_temporary(tap, place, root, what):
    """The runtime cannot create its port, because the root lacks the directory."""
    with live.child(root.command(APP, 'busy'), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    env=environment(TMPDIR='/nowhere')) as process:
        process.stdout.readline()
        pid = musl.main_process(process)
        _, _, errors = place.record('-p', pid, '-d', 1, '-o', 'a.folded')
        tap.check('its root directory has no directory /nowhere, which is its $TMPDIR' in errors,
                  f'{what}: the reason of a missing port', errors)


def test_inside(tap, place, root, what):
    """A recording of the whole machine from a pid namespace, in which outer processes have no pid."""
    prefix = ['unshare', '--pid', '--fork', '--mount', '--mount-proc', '--kill-child']
    with live.machine(is_shared=False), busy(root) as (_, pid):
        code, _, errors = place.record('-a', '-d', 2, '-o', 'a.folded', prefix=prefix)
        tap.check(code == 0 and 'samples are of processes outside of the pid namespace' in errors and
                  ' 0 managed frames' in errors, f'{what}: record -a in another pid namespace does not count {pid}',
                  code, errors)


def test_single(tap, place, root, directory):
    """A single-file program for musl that has ended."""
    try:
        live.run(HERE / 'build-app', directory / 'single', 'app', 'net10.0', 'single', musl.RID)
    except RuntimeError as error:
        tap.skip('a single-file program for musl', str(error).splitlines()[-1])
        return
    target = root.path / 'app/single'
    target.write_bytes((directory / 'single/bin/clrsym-live').read_bytes())
    target.chmod(0o755)
    with place.recording('-F', 1999, '-o', 'a.folded', '--', *alone(root, '/app/single', 'busy'), DOTNET_LTTng='0',
                         DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1') as process:
        time.sleep(2)
        _, errors = process.communicate('', timeout=120)
    check_named(tap, process.returncode, errors, 'a single-file program')
    tap.check('Live.DynamicMethods.Make' in folded(place), 'its methods', folded(place)[:500])


def test_runtime(tap, programs, feed, directory, runtime):
    what = f'.NET {runtime}'
    root = musl.Root(directory, runtime)

    def place(name):
        return test_record.Place(programs, directory, f'{name}-{runtime}')

    test_names(tap, feed, root, what)
    test_doctor(tap, programs, root, runtime, directory)
    test_running(tap, place('running'), root, what)
    test_command(tap, place('command'), root, what)
    if runtime == runtimes.OWN:
        test_machine(tap, place('machine'), root, what)
        test_copied_stacks(tap, place('copied'), root, what)
        test_temporary(tap, place('temporary'), root, what)
        test_inside(tap, place('inside'), root, what)
        test_single(tap, place('single'), root, directory)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    # The container's user needs access to its root directory.
    directory.chmod(0o755)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    feed = test_eventpipe.DirectFeed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for runtime in runtimes.of_test(__file__):
            begin = time.monotonic()
            try:
                test_runtime(tap, programs, feed, directory, runtime)
            except runtimes.nuget.NotRestored as error:
                tap.skip(f'.NET {runtime} for musl', str(error).splitlines()[-1])
            tap.note(f'.NET {runtime}: {time.monotonic() - begin:.0f} s')


if __name__ == '__main__':
    live.run_or_skip(test_record.missing() or musl.missing(), lambda: recorded.main(test))
