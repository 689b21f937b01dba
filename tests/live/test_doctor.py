# SPDX-License-Identifier: MIT
"""`clrsym doctor` about real .NET processes: one without a problem, and ones of which something
stands in the way.

test_doctor.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import os
import pathlib
import subprocess

from tests.daemon.examine import Doctor, hidden, libraries
from tests.live import alone, live, runtimes
from tests.traces import recorded


class Program:
    """The live program, which waits when it has printed READY."""

    def __init__(self, command, directory):
        self.command, self.directory = command, pathlib.Path(directory)
        self.n = 0

    @contextlib.contextmanager
    def running(self, before=(), **environment):
        self.n += 1
        output = self.directory / f'output-{self.n}'
        names = [name for name in os.environ if name.startswith(('DOTNET_', 'COMPlus_'))]
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        with open(output, 'w', encoding='utf-8') as stream, \
             live.child([*before, *self.command, 'churn', '1', '500'], stdin=subprocess.PIPE,
                        stdout=stream, env={**inherited, **environment}) as process:
            live.wait_for('the program', lambda: 'READY' in output.read_text(encoding='utf-8'),
                          process)
            yield str(process.pid)


def problems(doctor, pid):
    return {name: row for name, row in doctor.findings(pid).items() if row['status'] == 'problem'}


def test_well(tap, doctor, program):
    with program.running(**live.ENVIRONMENT) as pid:
        live.wait_for('its methods', lambda: 'its methods' in
                      doctor.findings(pid)['events-on']['text'])
        found = doctor.findings(pid)
        tap.equal(problems(doctor, pid), {}, 'started with tracing: nothing stands in the way')
        tap.equal({name: found[name]['status'] for name in (
            'process', 'runtime', 'library', 'provider', 'sessiond', 'registered', 'port',
            'events-on', 'clock', 'session', 'events', 'contexts', 'losses', 'relayd', 'daemon')},
                  dict.fromkeys(('process', 'runtime', 'library', 'provider', 'sessiond',
                                 'registered', 'port', 'events-on', 'clock', 'session', 'events',
                                 'contexts', 'losses', 'relayd', 'daemon'), 'ok'),
                  'everything was looked at')
        done = doctor.call(pid)
        tap.check(done.returncode == 0 and len(done.stdout.splitlines()) <= 24 and
                  done.stdout.endswith('\nno problem found\n'),
                  'that is one screen, with a summary', done.stdout)


def test_processes(tap, doctor, program):
    with live.machine(is_shared=True), program.running() as pid:
        found = problems(doctor, pid)
        tap.check(set(found) == {'events-on'} and
                  found['events-on']['fix'] == f'clrsym attach {pid}',
                  'started with nothing: it is to be attached', found)
        doctor.run_mend(found['events-on'])
        live.wait_for('its methods', lambda: 'its methods' in
                      doctor.findings(pid)['events-on']['text'])
        tap.equal(problems(doctor, pid), {}, 'attached: nothing stands in the way')
    for value, status in (('0', 'note'), ('00', 'note'), ('off', 'ok')):
        with program.running(DOTNET_LTTng=value) as pid:
            doctor.expect(tap, 'provider', status, 'DOTNET_LTTng=0' if status == 'note' else
                          'has loaded', f'DOTNET_LTTng={value}', pid)
    with program.running(DOTNET_EnableDiagnostics='0') as pid:
        doctor.expect(tap, 'port', 'problem', 'is closed', 'DOTNET_EnableDiagnostics=0', pid)
    with program.running(DOTNET_EnableDiagnostics='0', **live.ENVIRONMENT) as pid:
        doctor.expect(tap, 'port', 'note', 'is closed', 'not needed with tracing from the start',
                      pid)
    gone = pathlib.Path('/run/gone')
    gone.mkdir(exist_ok=True)
    with program.running(TMPDIR=str(gone)) as pid:
        doctor.expect(tap, 'port', 'ok', 'is open', 'in its own TMPDIR', pid)
        for path in gone.glob('dotnet-diagnostic-*'):
            path.unlink()
        doctor.expect(tap, 'port', 'problem', f'does not listen at a diagnostic port in {gone}',
                      'removed', pid)


def test_library(tap, doctor, program):
    """The library is hidden: from the process only, in its mounts, or from everybody."""
    mounts = ' && '.join(f'mount --bind /dev/null {path}'
                         for path in libraries('liblttng-ust.so.0'))
    before = ['unshare', '--mount', 'sh', '-c', mounts + ' && exec "$@"', 'sh']
    with program.running(before) as pid:
        row = doctor.expect(tap, 'library', 'note', 'only liblttng-ust.so.1 is there',
                            'liblttng-ust.so.0 is missing', pid, mend='in its root directory')
        tap.check(row['text'].startswith("the runtime's provider needs liblttng-ust.so.0,"),
                  'library: the one that the real provider wants', row)
        doctor.expect(tap, 'provider', 'note', 'has not loaded', 'so it is not loaded', pid)
        doctor.expect(tap, 'library', 'ok', 'is there', 'here it is')
    with hidden(*libraries('liblttng-ust.so.0')):
        doctor.expect(tap, 'library', 'problem', 'only liblttng-ust.so.1 is there',
                      'missing here, too', mend='liblttng-ust0')


def test_home(tap, doctor, program):
    with program.running(LTTNG_HOME='/run/nowhere', HOME='/run/nowhere') as pid:
        doctor.expect(tap, 'registered', 'ok', 'knows it', "root's is found without a home", pid)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    doctor = Doctor(programs, directory)
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(recorded.Daemon(programs, directory))
        doctor.socket = daemon.query
        done = programs.run([programs.clrsym, 'session', 'start', '--relay-output',
                             directory / 'relay'], env=doctor.environment)
        tap.equal(done.returncode, 0, 'a session')
        stack.enter_context(live.child(
            [programs.clrsym, 'feed', '--socket', daemon.ingest], env=doctor.environment,
            stderr=subprocess.DEVNULL))
        for runtime, command in runtimes.commands(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
            tap.note(f'.NET {runtime}')
            place = directory / f'run-{runtime}'
            place.mkdir()
            program = Program(command, place)
            test_well(tap, doctor, program)
            test_processes(tap, doctor, program)
            test_library(tap, doctor, program)
            test_home(tap, doctor, program)
    programs.run([programs.clrsym, 'session', 'stop'], env=doctor.environment)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), live.missing)
