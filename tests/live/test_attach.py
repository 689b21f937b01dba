# SPDX-License-Identifier: MIT
"""`clrsym attach`: programs that start without tracing and compile all the time are attached while they run. The
daemon's later answers are compared with the programs' own account of their code, and with the runtime's perf map."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from tests.live import attached, diagport, live, runtimes, test_live
from tests.live.test_perf_live import MIN_SHARE, figures
from tests.perf import perftool
from tests.traces import recorded

N_AT_ONCE = 10
N_STARTING = 3
START_PAUSE = 0.3  # s, for the sessions of stopped programs to be requested


def run_for(seconds):
    time.sleep(seconds)


def complete(row):
    return test_live.ns(row['complete'])


def test_one(tap, feed, command, directory):
    program = attached.Busy(command, directory / 'one', contexts=True)
    with program.running():
        run_for(3)
        begin = time.monotonic()
        done = feed.clrsym('attach', program.pid)
        took = time.monotonic() - begin
        tap.check(done.returncode == 0 and
                  done.stdout.startswith(f'{program.pid}: attached, .NET 10.') and
                  ' methods, complete at ' in done.stdout,
                  f'attached and complete after {took:.2f} s: {done.stdout.strip()}', done.stderr)
        since = test_live.ns(done.stdout.split()[-1])
        again = feed.clrsym('attach', program.pid)
        tap.check(again.returncode == 0 and 'is attached already' in again.stdout,
                  'attached twice: that is reported', again.stdout, again.stderr)
        row, = feed.rows('attach', program.pid)
        tap.check(row['new'] is False and complete(row) == since, 'and nothing was done', row)
        row, = feed.rows('attach', '--again', program.pid)
        tap.check(complete(row) > since, 'attach --again: another rundown', row)
        rows = [row for row in feed.rows('attach', '--list') if row['pid'] == program.pid]
        tap.check(len(rows) == 1 and rows[0]['state'] == 'attached', 'attach --list has it',
                  rows)
        data = directory / 'perf.data'
        live.run('perf', 'record', '-q', '-F', '499', '-e', 'cpu-clock', '-k', 'mono', '-g', '-p',
                 str(program.pid), '-o', data, '--', 'sleep', '3')
        program.freeze()
        bodies = attached.check_now(tap, feed, program, 'one')
        check_samples(tap, feed, data, bodies)
        attached.check_printed(tap, feed, program, since, 'one')
        done = feed.clrsym('detach', program.pid)
        tap.equal((done.returncode, done.stdout), (0, f'{program.pid}: detached\n'), 'detached')
        done = feed.clrsym('detach', program.pid)
        tap.check(done.returncode == 1 and 'is not attached' in done.stderr,
                  'detached twice: that is an error', done.stderr)


def check_samples(tap, feed, data, bodies):
    """perf's samples of the busy program; its own types' code of that time still exists."""
    done = perftool.clrsym_perf(feed.programs, '-i', data, *feed.daemon.source)
    share = figures(done)
    tap.check(done.returncode == 0 and share and share['jitted'] > 300 and
              share['named'] >= MIN_SHARE * share['jitted'],
              f'samples: {share.get("named")} of {share.get("jitted")} frames in jitted memory are '
              'named', done.stderr)
    wrong, n = [], 0
    for sample in perftool.samples(done.stdout):
        for frame in filter(perftool.is_managed, sample.frames):
            name, _, offset = frame.symbol.rpartition('+')
            body = bodies.get(frame.address - int(offset, 16)) if name else None
            if body and re.fullmatch(r'Live\.\w+', body.type):
                n += 1
                if not name.startswith(f'{body.type}.{body.method}'):
                    wrong.append(f'{frame}: {body}')
    tap.check(n > 100 and not wrong, f'samples: {n} frames have the names of the perf map',
              *wrong[:5])


def in_gap(feed, program):
    """The begin of the open process gap in the daemon, or None."""
    row, = feed.programs.ask(feed.daemon.source, 'ps', '--pid', str(program.pid))
    return json.loads(row)['gap_since']


def nothing(feed, program, when=None):
    """The confidence of an answer about an address that never has code."""
    answer, = feed.resolve_now(program.pid, [16]) if when is None else \
        test_live.resolve(feed.programs, feed.daemon, program.pid, [(16, when)])
    if answer['status'] != 'no-method':
        raise RuntimeError(f'something is where nothing is: {answer}')
    return answer['confidence']


def test_detached(tap, feed, command, directory):
    """Code is loaded and unloaded without events between detach and attach."""
    program = attached.Busy(command, directory / 'detached', contexts=True)
    with program.running():
        feed.rows('attach', program.pid)
        run_for(1)
        tap.equal([in_gap(feed, program), nothing(feed, program)], [None, 'exact'],
                  'attached: that nothing is somewhere is certain')
        feed.rows('detach', program.pid)
        live.wait_for('the daemon to know', lambda: in_gap(feed, program), program.process)
        feed.settle(program.pid)
        tap.equal(nothing(feed, program), 'gap', 'detached: that is not certain any more')
        n_before = len(program.codes())
        run_for(2)
        between = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        row, = feed.rows('attach', program.pid)
        tap.check(row['new'] is True and len(program.codes()) > n_before + 100,
                  'detached, and attached again later', row)
        run_for(1)
        program.freeze()
        attached.check_now(tap, feed, program, 'attached again')
        attached.check_printed(tap, feed, program, complete(row), 'attached again')
        tap.equal([in_gap(feed, program), nothing(feed, program),
                   nothing(feed, program, complete(row)), nothing(feed, program, between)],
                  [None, 'exact', 'exact', 'gap'], 'attached again: certain, but for the time between')
        feed.rows('detach', program.pid)


def test_suspended(tap, feed, command, directory):
    """A program that waits for its resumption is attached before it starts, so no event is missing."""
    program = attached.Busy(command, directory / 'suspended', contexts=True)
    with program.running(is_ready=lambda: list(program.directory.glob('dotnet-diagnostic-*')),
                         DOTNET_DefaultDiagnosticPortSuspend='1'):
        row, = feed.rows('attach', program.pid)
        tap.equal(row['state'], 'waiting', 'attached before its start')
        diagport.Port(program.pid, program.directory).resume()
        live.wait_for('the program', lambda: 'CODE ' in program.text(), program.process)
        run_for(1)
        row, = feed.rows('attach', program.pid)
        tap.check(row['state'] == 'attached' and not row['new'], 'and attached now that it runs', row)
        program.freeze()
        attached.check_now(tap, feed, program, 'from its start')
        attached.check_printed(tap, feed, program, 0, 'from its start')
        feed.rows('detach', program.pid)


def stop_at_port(program):
    """Stops a program that has just opened its port: its runtime has not started yet."""
    while not list(program.directory.glob('dotnet-diagnostic-*')):
        if program.process.poll() is not None:
            raise RuntimeError(f'the program ended with {program.process.returncode}')
    os.kill(program.process.pid, signal.SIGSTOP)
    return True


def test_starting(tap, feed, command, directory, via='LTTng', **variables):
    """Programs whose runtimes are in different moments of their start."""
    programs = [attached.Busy(command, directory / f'starting-{i}') for i in range(N_STARTING)]
    with contextlib.ExitStack() as stack:
        for program in programs:
            stack.enter_context(program.running(is_ready=lambda program=program: stop_at_port(program), **variables))
        pids = {program.pid for program in programs}
        command = [feed.programs.clrsym, 'attach', *feed.daemon.source, '--wait=60', *pids]
        attaching = stack.enter_context(live.child(command, stdout=subprocess.PIPE, text=True,
                                                   env=feed.programs.environment))
        run_for(START_PAUSE)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        said = attaching.communicate(timeout=live.TIMEOUT)[0]
        tap.check(attaching.returncode == 0 and said.count(': attached') == N_STARTING,
                  f'{via}: attached while they start', said)
        # On a busy machine, `clrsym attach` can end before a runtime has started.
        live.wait_for('the runtimes', lambda: all(
            row['state'] == 'attached' for row in feed.rows('attach', '--list') if row['pid'] in pids))
        run_for(1)
        for i, program in enumerate(programs):
            program.freeze()
            frozen = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            what = f'{via}: starting program {i}'
            attached.check_now(tap, feed, program, what)
            tap.equal(nothing(feed, program, frozen), 'exact', f'{what}: no part of its code is missing')
        feed.rows('detach', *pids)


def holder_of(pid):
    """(pid of the holder, pid of its worker) for the process PID."""
    directory = pathlib.Path(os.environ['CLRSYM_HOLDER'])
    tap_file = [entry.name for entry in directory.iterdir() if entry.name.startswith(f'{pid}-')]
    if len(tap_file) != 1:
        raise RuntimeError(f'no file of {pid} in {list(directory.iterdir())}')
    for entry in pathlib.Path('/proc').iterdir():
        try:
            if (entry / 'comm').read_text() == 'clrsym-holder\n' and \
               str(directory) in (entry / 'cmdline').read_text():
                children = (entry / 'task' / entry.name / 'children').read_text().split()
                return int(entry.name), list(map(int, children))
        except OSError:
            continue
    raise RuntimeError('no holder')


def test_deaths(tap, feed, command, directory):
    """Kills the worker, then the holder, then the target."""
    program = attached.Busy(command, directory / 'deaths', contexts=True)
    with program.running():
        row, = feed.rows('attach', program.pid)
        since = complete(row)
        run_for(1)
        _, workers = holder_of(program.pid)
        os.kill(workers[0], signal.SIGKILL)

        def is_back(n_restarts):
            rows = [row for row in feed.rows('attach', '--list') if row['pid'] == program.pid]
            return rows and rows[0]['restarts'] == n_restarts and rows[0]['state'] == 'attached'

        live.wait_for('another worker', lambda: is_back(1), program.process)
        tap.check(program.process.poll() is None, 'its worker killed: the target goes on, and so '
                  'does another worker')
        run_for(1)
        holder, workers = holder_of(program.pid)
        os.kill(holder, signal.SIGKILL)
        live.wait_for('the end of its workers',
                      lambda: not pathlib.Path(f'/proc/{workers[0]}').exists())
        n_before = len(program.codes())
        run_for(1)
        tap.check(program.process.poll() is None and len(program.codes()) > n_before + 100,
                  'its holder killed: the target goes on')
        row, = feed.rows('attach', program.pid)
        tap.check(row['state'] == 'attached' and complete(row) > since,
                  'asked again, there is another holder, which has attached it', row)
        last = complete(row)
        run_for(1)
        program.freeze()
        attached.check_now(tap, feed, program, 'killed')
        attached.check_printed(tap, feed, program, last, 'killed')
        holder, workers = holder_of(program.pid)
        program.process.kill()
        program.process.wait()
        live.wait_for('the end of the attachment', lambda: not [
            row for row in feed.rows('attach', '--list') if row['pid'] == program.pid])
        tap.check(not pathlib.Path(f'/proc/{workers[0]}').exists() and
                  pathlib.Path(f'/proc/{holder}').exists(), 'target killed: its worker has ended')


def test_many(tap, feed, command, directory):
    programs = [attached.Busy(command, directory / f'many-{i}') for i in range(N_AT_ONCE)]
    with contextlib.ExitStack() as stack:
        for program in programs:
            stack.enter_context(program.running())
        run_for(3)
        begin = time.monotonic()
        rows = feed.rows('attach', '--wait=60', *[program.pid for program in programs])
        took = time.monotonic() - begin
        tap.equal([row['pid'] for row in rows], [program.pid for program in programs],
                  f'{len(rows)} processes attached and complete after {took:.2f} s')
        by_pid = {row['pid']: row for row in rows}
        run_for(2)
        for program in programs:
            program.stop()
        for i, program in enumerate(programs):
            program.freeze()
            attached.check_now(tap, feed, program, f'many {i}')
            attached.check_printed(tap, feed, program, complete(by_pid[program.pid]), f'many {i}')
        done = feed.clrsym('detach', '--all')
        tap.check(done.returncode == 0 and done.stdout.count(': detached\n') == N_AT_ONCE,
                  'detach --all: all that were attached', done.stdout, done.stderr)


def test_namespaces(tap, feed, command, directory, options=(), run_as=(), **variables):
    """Two programs with pid 1, each with its own socket at the same path."""
    programs = [attached.Busy(command, directory / f'ns-{i}') for i in range(2)]
    with contextlib.ExitStack() as stack:
        for program in programs:
            # The path is another directory in each mount namespace.
            script = f'mount -t tmpfs -o mode=1777 tmpfs {programs[0].directory} && exec "$@"'
            program.directory = programs[0].directory
            stack.enter_context(program.running(
                ['unshare', '-p', '-m', '-f', '--mount-proc', 'sh', '-c', script, 'sh', *run_as],
                **variables))
        tap.equal([program.vpid for program in programs], [1, 1], 'two processes 1')
        run_for(2)
        rows = feed.rows('attach', *options, *[program.pid for program in programs])
        tap.check([row['vpid'] for row in rows] == [1, 1] and
                  rows[0]['pid_ns'] != rows[1]['pid_ns'], 'attached, each in its namespace', rows)
        done = feed.clrsym('attach', *options, programs[0].pid)
        tap.check(f'{programs[0].pid} (1 in pid namespace {rows[0]["pid_ns"]}): ' in done.stdout,
                  'the namespace is printed', done.stdout, done.stderr)
        run_for(1)
        for program, row in zip(programs, rows):
            program.freeze()
            attached.check_now(tap, feed, program, f'namespace {row["pid_ns"]}')
            attached.check_printed(tap, feed, program, complete(row), f'namespace {row["pid_ns"]}')
        feed.rows('detach', *[program.pid for program in programs])


def test_other(tap, feed, command, directory, what):
    program = attached.Busy(command, directory / 'other')
    with program.running():
        run_for(1)
        row, = feed.rows('attach', program.pid)
        tap.check(what.startswith(f'.NET {row["runtime"].split(".")[0]}') and row['via'] == 'lttng', f'{what} is attached', row)
        run_for(1)
        program.freeze()
        attached.check_now(tap, feed, program, what)
        attached.check_printed(tap, feed, program, complete(row), what)
        feed.rows('detach', program.pid)


def test_oldest(tap, feed, command, directory):
    """A runtime that knows only the oldest command, which writes a stream that is discarded."""
    program = attached.Busy(command, directory / 'oldest')
    with program.running():
        run_for(2)
        row, = feed.rows('attach', program.pid)
        tap.check(row['runtime'].startswith('8.0.'), '.NET 8 is attached', row)
        run_for(2)
        worker = holder_of(program.pid)[1][0]
        ticks = pathlib.Path(f'/proc/{worker}/stat').read_text().rpartition(')')[2].split()
        tap.note(f'the worker has read what the runtime wrote for 2 s in '
                 f'{(int(ticks[11]) + int(ticks[12])) * 10} ms of CPU')
        holder, _ = holder_of(program.pid)
        os.kill(holder, signal.SIGKILL)
        run_for(1)
        again, = feed.rows('attach', program.pid)
        live.wait_for('the end of the worker before',
                      lambda: not pathlib.Path(f'/proc/{worker}').exists())
        tap.check(again['state'] == 'attached' and complete(again) > complete(row),
                  '.NET 8: its holder killed, the worker has held on until there was another', again)
        run_for(1)
        program.freeze()
        attached.check_now(tap, feed, program, '.NET 8')
        attached.check_printed(tap, feed, program, complete(row), '.NET 8')
        holder, workers = holder_of(program.pid)
        for pid in (holder, *workers):
            os.kill(pid, signal.SIGKILL)
        run_for(0.2)
        between = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        again, = feed.rows('attach', program.pid)
        feed.settle(program.pid)
        tap.equal([nothing(feed, program, between), nothing(feed, program, complete(again)),
                   nothing(feed, program)], ['gap', 'exact', 'exact'],
                  '.NET 8: holder and worker killed, nothing is certain until it is attached again')
        feed.rows('detach', program.pid)


PARTS = (test_one, test_detached, test_suspended, test_starting, test_deaths, test_many, test_namespaces)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    commands = dict(runtimes.commands(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)))
    command = commands.pop(runtimes.OWN)
    feed = attached.Feed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for part in PARTS:
            def attempt(number, part=part):
                place = directory / f'{part.__name__}-{number}'
                place.mkdir()
                # No recording of the whole machine attaches a program: its session would give events to LTTng, and its
                # end would stop them, which no daemon sees.
                with live.machine(is_shared=True):
                    part(tap, feed, command, place)

            attached.in_attempts(tap, attempt)
        for runtime, other in commands.items():
            place = directory / f'run-{runtime}'
            place.mkdir()
            test_other(tap, feed, other, place, f'.NET {runtime}')
            if runtime == '8':
                test_oldest(tap, feed, other, place)
        status = json.loads(programs.ask(feed.daemon.source, 'status')[0])
        lost = {name: status[name] for name in ('discarded_events', 'discarded_packets')}
        tap.check(not any(lost.values()), 'the tracer lost nothing', lost)
    live.wait_for('the end of the holder, which has nothing to hold', lambda: not list(
        pathlib.Path(os.environ['CLRSYM_HOLDER']).glob('control')))


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
