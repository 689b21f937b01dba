# SPDX-License-Identifier: MIT
"""`clrsym attach --via=eventpipe`: a program, a daemon, and no LTTng. The daemon's answers against the program's
own account of its code, and the runtime's perf map."""

import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from tests.live import attached, diagport, live, runtimes, test_attach, test_live
from tests.live.test_attach import complete, holder_of, in_gap, nothing, run_for
from tests.traces import recorded

VIA = '--via=eventpipe'
PARAMETER = re.compile(r'@?\b[TM]\d*\b')

# Traces the process of its argument and stops it, as a debugger does, until the process ends.
TRACER = '''
import ctypes, os, sys
PTRACE_ATTACH = 16
pid = int(sys.argv[1])
if ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_ATTACH, pid, None, None):
    sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(pid, 0)
print('READY', flush=True)
os.waitpid(pid, 0)
'''


class DirectFeed(attached.Feed):
    """A daemon that only a holder feeds."""

    def __init__(self, programs, directory):  # pylint: disable=super-init-not-called
        self.programs, self.directory = programs, pathlib.Path(directory)
        config = self.directory / 'clrsymd.conf'
        config.write_text(f'[Daemon]\nHolder={os.environ["CLRSYM_HOLDER"]}/control\n', encoding='utf-8')
        self.next_daemon = recorded.Daemon(programs, directory, '--config', str(config))
        self.daemon = None

    @contextlib.contextmanager
    def running(self):
        with self.next_daemon as self.daemon:
            yield self

    def settle(self, pid):
        """An idle runtime writes nothing until a session ends: so a session is started and ended."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        port = diagport.Port(live.own_pid(pid), self.port_directory(pid))
        diagport.Session(port, 0, 0, False).stop()

        def is_in():
            answer, = test_live.resolve(self.programs, self.daemon, pid, [(1, now)])
            return answer['horizon'] is not None and test_live.ns(answer['horizon']) >= now

        live.wait_for('the horizon', is_in)

    @staticmethod
    def port_directory(pid):
        environment = pathlib.Path(f'/proc/{pid}/environ').read_bytes().split(b'\0')
        variables = dict(entry.split(b'=', 1) for entry in environment if b'=' in entry)
        return f"/proc/{pid}/root{variables[b'TMPDIR'].decode()}"


def check_wait(tap, feed, program):
    """An idle program emits nothing: a waiting question makes its runtime emit an event."""
    horizons = []
    for options in ('--wait=0',), ('--wait=10',):
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        answer, = (json.loads(line) for line in feed.programs.ask(
            feed.daemon.source, 'resolve', '--pid', str(program.pid), *options,
            text=f'0x1 {test_live.seconds(now)}\n'))
        horizons.append((answer['status'], test_live.ns(answer['horizon']) >= now))
    tap.equal(horizons, [('pending', False), ('no-method', True)],
              'an idle program is asked for an event while somebody waits, and only then')


def attach(feed, program, *options):
    row, = feed.rows('attach', *options, VIA, program.pid)
    return row


def check_precompiled(tap, feed, program, directory, what):
    """A daemon that does not know the process: the files of its assemblies give the names that its events give."""
    bodies = feed.rows('methods', *feed.daemon.source, '--pid', program.pid)
    text = ''.join(f'{body["start"]}\n' for body in bodies if body['version']['tier'] == 'ReadyToRun')
    arguments = '--filter', '--wait=0', '-p', program.pid
    wanted = feed.clrsym('resolve', *feed.daemon.source, *arguments, text=text).stdout.splitlines()
    with recorded.Daemon(feed.programs, directory) as other:
        found = feed.clrsym('resolve', *other.source, *arguments, text=text).stdout.splitlines()
    # Of type parameters the events have numbers, the files names.
    wrong = [pair for pair in zip(wanted, found) if PARAMETER.sub('T', pair[0]) != PARAMETER.sub('T', pair[1])]
    tap.check(len(found) == len(wanted) > 100 and not wrong,
              f'{what}: {len(wrong)} of {len(wanted)} precompiled methods have another name by their files', *wrong[:5])


def check_native(tap, feed, program):
    """Code of a library, which has no methods, by its symbols as binutils list them."""
    maps = pathlib.Path(f'/proc/{program.pid}/maps').read_text(encoding='utf-8')
    begin, path = re.search(r'^(\w+)-\S+ \S+ 00000000 .*?(/\S+/libcoreclr\.so)$', maps, re.M).groups()
    names = collections.defaultdict(set)
    for line in live.run('nm', '-D', '--defined-only', path).splitlines():
        address, kind, name = line.split()
        if kind == 'T':
            names[int(begin, 16) + int(address, 16)].add(name.split('@')[0])
    arguments = 'resolve', *feed.daemon.source, '-p', program.pid
    text = ''.join(f'{address + 1:x}\n' for address in names)
    lines = feed.clrsym(*arguments, text=text).stdout.splitlines()
    found = [re.fullmatch(r'0x(\w+) (\w+)(?:@\S*)?\+0x1 \(libcoreclr\.so\) \[native\]', line) for line in lines]
    tap.check(len(lines) == len(names) > 3 and
              all(match and match[2] in names[int(match[1], 16) - 1] for match in found),
              f'{len(lines)} native functions have the names of their symbols', *lines[:5])
    rows = [json.loads(line) for line in feed.clrsym(*arguments, '--json', text=text).stdout.splitlines()]
    natives = [row['native'] for row in rows if row['status'] == 'no-method']
    tap.check(len(natives) == len(names) and all(
        native['symbol'].split('@')[0] in names[address] and native['file'] == path and
        (native['source'], native['offset']) == ('symbol', 1) for native, address in zip(natives, names)),
              'they have them in JSON, too', *rows[:3])
    line, = feed.clrsym(*arguments, begin).stdout.splitlines()
    tap.check(line == f'0x{begin} ?? no-method', 'an address outside of the code has no name', line)


def has_provider(pid):
    maps = pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8')
    return 'libcoreclrtraceptprovider.so' in maps or 'liblttng-ust.so' in maps


def test_one(tap, feed, command, directory):
    program = attached.Busy(command, directory / 'one')
    with program.running(DOTNET_LTTng='0'):
        tap.check(not has_provider(program.pid), "the program has no LTTng provider")
        row = attach(feed, program)
        tap.check(row['state'] == 'attached' and row['via'] == 'eventpipe' and row['methods'] > 100,
                  'attached, and complete', row)
        listed, = feed.rows('attach', '--list')
        tap.equal((listed['pid'], listed['via']), (program.pid, 'eventpipe'), 'listed with its source')
        run_for(1)
        check_native(tap, feed, program)
        process, = (json.loads(line) for line in
                    feed.programs.ask(feed.daemon.source, 'ps', '--pid', str(program.pid)))
        tap.equal((process['pid'], process['pid_ns'], process['gap_since']),
                  (program.vpid, row['pid_ns'], None), 'its process is that of the kernel')
        # .NET 8 does not report them.
        tap.check(int(process['runtime'].split('.')[0]) < 9 or 'quick-jit' in (process['tiering'] or ()),
                  'the settings of tiered compilation are known', process)
        program.freeze()
        run_for(0.5)
        check_wait(tap, feed, program)
        attached.check_now(tap, feed, program, 'attached')
        attached.check_printed(tap, feed, program, complete(row), 'attached')
        check_precompiled(tap, feed, program, directory, 'attached')
        again = attach(feed, program, '--again')
        tap.check(complete(again) > complete(row) and again['methods'] >= row['methods']
                  and not again['new'], 'listed again', row, again)
        _, workers = holder_of(program.pid)
        live.freeze(workers[0])
        live.wait_for('another worker', lambda: is_back(feed, program, 1), program.process)
        tap.check(not pathlib.Path(f'/proc/{workers[0]}').exists(),
                  'its worker stopped: it is killed, and there is another')
        feed.rows('detach', program.pid)
        live.wait_for('the daemon to know', lambda: in_gap(feed, program), program.process)
        tap.check(program.process.poll() is None, 'detached: the daemon knows since when')


def is_back(feed, program, n_restarts):
    rows = [row for row in feed.rows('attach', '--list') if row['pid'] == program.pid]
    return rows and (rows[0]['restarts'], rows[0]['state']) == (n_restarts, 'attached')


def test_deaths(tap, feed, command, directory):
    """Kills the worker, then the holder, then the target."""
    program = attached.Busy(command, directory / 'deaths')
    with program.running(DOTNET_LTTng='0'):
        attach(feed, program)
        feed.settle(program.pid)
        tap.equal(nothing(feed, program), 'exact', 'that nothing is somewhere is certain')
        holder, workers = holder_of(program.pid)
        os.kill(workers[0], signal.SIGKILL)
        killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        live.wait_for('another worker', lambda: is_back(feed, program, 1), program.process)
        row, = feed.rows('attach', '--list')
        since = test_live.ns(row['rundown']['end'])
        feed.settle(program.pid)
        tap.equal([nothing(feed, program, killed), nothing(feed, program, since), in_gap(feed, program)],
                  ['gap', 'exact', None], 'its worker killed: a gap until there is another')
        run_for(0.5)
        os.kill(holder, signal.SIGKILL)
        live.wait_for('the end of the holder', lambda: not pathlib.Path(f'/proc/{holder}').exists())
        run_for(0.5)
        row, = feed.rows('attach', program.pid)
        tap.check(row['via'] == 'eventpipe' and complete(row) > since,
                  'its holder killed: the next one goes on in the same way', row)
        run_for(0.5)
        program.freeze()
        attached.check_now(tap, feed, program, 'killed')
        # Code loaded between two holders is named, but may have a mark.
        attached.check_printed(tap, feed, program, complete(row), 'killed')
        feed.settle(program.pid)
        tap.equal(nothing(feed, program), 'exact', 'killed: certain again')
        _, workers = holder_of(program.pid)
        program.process.kill()
        program.process.wait()
        # While its events may still come, a question waits; then the answer is final.
        tap.equal(nothing(feed, program, time.clock_gettime_ns(time.CLOCK_MONOTONIC)), 'gap',
                  'target killed: its last events are lost, and a waiting question gets to know it')
        live.wait_for('the end of its worker', lambda: not any(
            pathlib.Path(f'/proc/{worker}').exists() for worker in workers))
        tap.check(not feed.rows('attach', '--list'), 'target killed: its worker has ended')


def test_stays(tap, feed, command, directory):
    """The daemon is away for a while: no event of that time is lost, and the program is not delayed."""
    program = attached.Busy(command, directory / 'stays')
    with program.running(DOTNET_LTTng='0'):
        row = attach(feed, program)
        live.freeze(feed.daemon.process.pid)
        n_before = len(program.codes())
        run_for(1)
        os.kill(feed.daemon.process.pid, signal.SIGCONT)
        tap.check(len(program.codes()) > n_before + 50, 'the daemon stopped: the program goes on')
        program.freeze()
        attached.check_now(tap, feed, program, 'the daemon stopped')
        attached.check_printed(tap, feed, program, complete(row), 'the daemon stopped')
        tap.equal(feed.clrsym('attach', program.pid, '--via=lttng').returncode, 1,
                  'one process has one source')
        check_end(tap, program, 'the program ends by itself')
    for how in 'stopped', 'traced':
        test_unread(tap, feed, attached.Busy(command, directory / how), how)


def spilled(worker):
    """Bytes in the worker's unnamed file."""
    n = 0
    for path in pathlib.Path(f'/proc/{worker}/fd').iterdir():
        with contextlib.suppress(FileNotFoundError):  # the worker closes others meanwhile
            target = os.readlink(path)
            if target.endswith(' (deleted)') and not target.startswith('/memfd:'):
                n += path.stat().st_size
    return n


def test_spilled(tap, feed, command, directory):
    """The daemon is away for so long that the queue exceeds the worker's memory."""
    program = attached.Busy(command, directory / 'spilled')
    program.command = [*map(str, command), 'churn', '8', '40000']
    with program.running(DOTNET_LTTng='0'):
        row = attach(feed, program)
        _, (worker, *_) = holder_of(program.pid)
        live.freeze(feed.daemon.process.pid)
        try:
            live.wait_for('the file', lambda: spilled(worker) > 1 << 20, program.process)
        finally:
            os.kill(feed.daemon.process.pid, signal.SIGCONT)
        live.wait_for('the program', lambda: 'READY' in program.text(), program.process)
        feed.settle(program.pid)
        attached.check_printed(tap, feed, program, complete(row), 'more than fits into memory waited')
        tap.equal(spilled(worker), 0, 'more than fits into memory waited: the file is empty again')


def test_namespaces(tap, feed, command, directory):
    """Programs of another user, without LTTng."""
    test_attach.test_namespaces(tap, feed, command, directory, [VIA],
                                ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
                                DOTNET_LTTng='0')


def test_unread(tap, feed, program, how):
    """While its worker does not read, the program does not exit, because its runtime waits until its buffers are
    read."""
    with program.running(DOTNET_LTTng='0'), contextlib.ExitStack() as stack:
        attach(feed, program)
        _, (worker, *_) = holder_of(program.pid)
        if how == 'stopped':
            live.freeze(worker)
        else:
            tracer = stack.enter_context(live.child([sys.executable, '-c', TRACER, str(worker)],
                                                    stdout=subprocess.PIPE))
            tap.equal(tracer.stdout.readline(), b'READY\n', 'its worker is traced')
        run_for(1)
        check_end(tap, program, f'the program ends by itself, though its worker is {how}')


def check_end(tap, program, name):
    program.process.stdin.close()
    begin = time.monotonic()
    program.process.wait(60)
    tap.note(f'ended {time.monotonic() - begin:.2f} s after it was ordered to')
    tap.equal(program.process.returncode, 0, name)


def port_variable(feed):
    """(name, path): the line that `clrsym env --port` prints."""
    done = feed.clrsym('env', '--port', '--format=env')
    name, value = done.stdout.strip().split('=', 1)
    path, how = value.rsplit(',', 1)
    return name, path, how


def end_holder():
    """A holder that was asked for its port stays, for future programs."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(os.path.join(os.environ['CLRSYM_HOLDER'], 'control'))
        pid, _, _ = struct.unpack('3i', control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    os.kill(pid, signal.SIGTERM)
    live.wait_for('the end of the holder', lambda: not pathlib.Path(f'/proc/{pid}').exists())


def test_port(tap, feed, command, directory):
    """Programs that connect to the holder are known from their first instruction, without a listing."""
    name, path, how = port_variable(feed)
    tap.equal((name, how), ('DOTNET_DiagnosticPorts', 'suspend'), 'the line for the environment')
    program = attached.Busy(command, directory / 'suspended')
    with program.running(DOTNET_LTTng='0', **{name: f'{path},suspend'}):
        row, = [row for row in feed.rows('attach', '--list') if row['pid'] == program.pid]
        tap.equal((row['state'], row['via']), ('attached', 'eventpipe'), 'it is attached by itself')
        program.freeze()
        attached.check_now(tap, feed, program, 'from its start')
        attached.check_printed(tap, feed, program, 0, 'from its start')
        holder, _ = holder_of(program.pid)
        os.kill(holder, signal.SIGKILL)
        live.wait_for('the end of the holder', lambda: not pathlib.Path(f'/proc/{holder}').exists())
        late = attached.Busy(command, directory / 'late')
        waits = late.running(is_ready=lambda: True, DOTNET_LTTng='0', **{name: f'{path},suspend'})
        at_once = attached.Busy(command, directory / 'at-once')
        with waits, at_once.running(DOTNET_LTTng='0', **{name: f'{path},nosuspend'}):
            tap.check('CODE ' in at_once.text() and 'CODE ' not in late.text(),
                      'without a holder: nosuspend begins, suspend waits for one')
            port_variable(feed)
            live.wait_for('the program', lambda: 'CODE ' in late.text(), late.process)
            live.wait_for('all three', lambda: [row['state'] for row in feed.rows(
                'attach', '--list')] == ['attached'] * 3)
            late.freeze()
            attached.check_now(tap, feed, late, 'before the holder')
            attached.check_printed(tap, feed, late, 0, 'before the holder')
    end_holder()


def test_contexts(tap, feed, command, directory):
    """A program with load contexts that can unload is listed only on request."""
    program = attached.Busy(command, directory / 'contexts', contexts=True)
    with program.running(DOTNET_LTTng='0'):
        # Its contexts of one second show that; on a busy machine it may not create one in that time.
        for _ in range(20):
            row = attach(feed, program, '--list=auto')
            if row['unlisted']:
                break
            feed.rows('detach', program.pid)
        tap.equal((row['state'], row['unlisted'], row['rundown']['end'], row['methods']),
                  ('attached', 'collectible', None, None), 'load contexts that unload: not listed')
        feed.settle(program.pid)
        tap.check(nothing(feed, program) != 'exact', 'not listed: that nothing is somewhere is not certain')
        row = attach(feed, program)
        tap.check(row['unlisted'] is None and row['methods'] > 100, 'listed, because that was ordered', row)


def test_starting(tap, feed, command, directory):
    test_attach.test_starting(tap, feed, command, directory, 'EventPipe', DOTNET_LTTng='0')


def test_other(tap, feed, command, directory, what):
    """Older runtimes do not know the newer commands."""
    program = attached.Busy(command, directory)
    with program.running(DOTNET_LTTng='0'):
        row = attach(feed, program)
        tap.check(what == f'.NET {row["runtime"].split(".")[0]}' and row['methods'] > 100, f'{what}: attached, and complete', row)
        run_for(1)
        program.freeze()
        run_for(0.5)
        check_wait(tap, feed, program)
        attached.check_now(tap, feed, program, what)
        attached.check_printed(tap, feed, program, complete(row), what)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    commands = dict(runtimes.commands(tap, __file__, directory))
    command = commands.pop(runtimes.OWN)
    feed = DirectFeed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for part in (test_one, test_starting, test_deaths, test_stays, test_spilled, test_namespaces, test_port, test_contexts):
            def attempt(number, part=part):
                place = directory / f'{part.__name__}-{number}'
                place.mkdir()
                part(tap, feed, command, place)

            attached.in_attempts(tap, attempt)
        for runtime, other in commands.items():
            test_other(tap, feed, other, directory / f'run-{runtime}', f'.NET {runtime}')
        status = json.loads(programs.ask(feed.daemon.source, 'status')[0])
        lost = {name: status[name] for name in ('discarded_events', 'discarded_packets', 'forged',
                                                'impossible')}
        tap.check(not any(lost.values()), 'nothing was lost, and all was believed', lost)


if __name__ == '__main__':
    live.run_or_skip(live.no_dotnet(), lambda: recorded.main(test))
