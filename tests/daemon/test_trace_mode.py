# SPDX-License-Identifier: MIT
"""clrsymd --trace: reading a trace for one client, its progress, its errors, and its end."""

import contextlib
import gzip
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from tests.daemon import traceserver
from tests.daemon.traceserver import INTERFACE, READ_TRACE, TraceServer, wait_for
from tests.traces import recorded

NOBODY = 65534
TRACES = ('hello', 'perpid', 'pidns')
# Limit of progress replies in a second.
MAX_RATE = 10


def check_answers(tap, programs, directory, name, trace):
    """The answers cover the whole trace, and the last progress is its size. No other program
    reads the trace."""
    rows = recorded.Truth(name).rows('probes.tsv')
    total = traceserver.stream_bytes(trace)
    # One that ends all: it is not started.
    never = traceserver.fake_babeltrace(os.path.join(directory, f'never-{name}'), 'kill -KILL $PPID')
    with TraceServer(programs, trace, env={**programs.environment, 'PATH': never}) as server:
        reply = server.read()
        tap.equal(reply, {'parameters': {'read': total, 'total': total}}, f'{name}: it is read')
        replies = traceserver.answers(server, rows)
        got = [answer for reply in replies[:-3]
               for answer in json.loads(reply)['parameters']['answers']]
        right = sum(answer.get('start') == row['start'] for answer, row in zip(got, rows))
        wanted = sum(bool(row['start']) for row in rows)
        # tests/traces finds wrong answers; this test finds answers from another trace.
        tap.check(len(got) == len(rows) and wanted and right > 0.7 * wanted,
                  f'{name}: the answers are of that trace', right, wanted)
        status = json.loads(server.ask('Status'))['parameters']
        tap.check(status['bodies'] > 100, f'{name}: and so are the counters', status)
        tap.equal((server.end(), server.said), (0, ''), f'{name}: it ends with its client, quietly')


def check_unknown(tap, programs, directory, trace):
    """The reader names the events that it cannot read. The command in the message feeds them."""
    unknown = traceserver.make_unknown(shutil.copytree(trace, os.path.join(directory, 'unknown')))
    with TraceServer(programs, unknown) as server:
        message = server.error()
    tap.check('nested too deep' in message and str(unknown) in message and '\n' not in message,
              'metadata that it does not know: the reason', message)
    command = message.partition('this feeds it to a daemon: ')[2].split()
    rows = recorded.Truth('hello').rows('probes.tsv')
    answers = []
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.run([*command, '--params', f'socket="{daemon.ingest}"'])
        tap.check(done.returncode == 0 and command[0] == 'babeltrace2', 'the command in it works', command, done.stderr)
        for source in (daemon.source, ['--trace', trace]):
            text = ''.join(recorded.probe_line(row) + '\n' for row in rows)
            answers.append([{**json.loads(line), 'epoch': 0} for line in programs.ask(source, 'resolve', text=text)])
    tap.check(len(answers[0]) == len(rows) and answers[0] == answers[1], 'and the answers are the same',
              *[pair for pair in zip(*answers) if pair[0] != pair[1]][:3])


@contextlib.contextmanager
def slowed_down(process):
    """Stops the process most of the time."""
    is_over = threading.Event()

    def stop_and_go():
        while not is_over.wait(0.01):
            process.send_signal(signal.SIGSTOP)
            is_over.wait(0.12)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def check_progress(tap, programs, directory, trace):
    """Progress never decreases, never exceeds the total, and is not reported too often."""
    rotated = traceserver.forge(os.path.join(directory, 'rotated'), 100, 12000)
    for source, name in (trace, 'a big trace'), (rotated, 'a stream of 100 files'):
        total = traceserver.stream_bytes(source)
        begin = time.monotonic()
        with TraceServer(programs, source) as server:
            # Without the stops, reading would soon be over.
            with slowed_down(server.process):
                reply = server.read()
            seconds = time.monotonic() - begin
        read = [progress['read'] for progress in server.progress]
        tap.note(f'{name}: {seconds:.2f} s, read: {[round(n / total, 2) for n in read]}')
        tap.check(read and read[0] == 0 and read == sorted(read) and read[-1] <= total and
                  all(progress['total'] == total for progress in server.progress),
                  f'{name}: the progress goes forward', read, total, reply)
        tap.check(sum(0 < n < total for n in read) >= 1 and
                  len(read) <= seconds * MAX_RATE + 2, f'{name}: in steps', read, seconds)
        # After the reader has begun, most of the progress is between begin and end; on a busy
        # machine the last part can be fast.
        begun = [n for n in read if n > 0]
        tap.check(len(begun) < 5 or 0.05 < begun[(len(begun) - 1) // 2] / total < 0.95, f'{name}: evenly', read, total)


def check_slow_reader(tap, programs, directory, trace):
    """A client that does not read the progress does not stop the reader, and misses only some
    replies."""
    saved = pathlib.Path(directory) / 'saved by a slow client'
    with TraceServer(programs, trace, '--save', saved, send_buffer=1) as server:
        with slowed_down(server.process):
            server.send(READ_TRACE)
            tap.check(wait_for(saved.exists), 'no reply is read: the trace is read to its end')
        reply = server.read(send=False)
        tap.check(reply and reply['parameters']['read'] == reply['parameters']['total'] and
                  0 < len(server.progress) <= 15, 'and the replies are there afterwards', reply,
                  server.progress)


def check_calls(tap, programs, trace):
    """The opening call, and its errors."""
    with TraceServer(programs, trace) as server:
        for call, error in ((b'', 'InvalidCall'), (b'{', 'InvalidCall'), (b'[]', 'InvalidCall'),
                            (b'{"method":7}', 'InvalidCall'), (b'\xff\xfe', 'InvalidCall'),
                            (b'[' * 100000, 'InvalidCall'),
                            (b'{"method":"org.clrsym.Symbolizer.Status"}', 'InvalidCall'),
                            (READ_TRACE[:-1].replace(b'true', b'false'), 'ExpectedMore'),
                            (READ_TRACE[:-1].replace(b', "more": true', b''), 'ExpectedMore')):
            server.send(call + b'\0')
            reply = server.reply()
            tap.equal(reply.get('error', '').rpartition('.')[2], error,
                      f'before the trace is read: {call[:50]!r}')
        for byte in READ_TRACE[:-1]:
            server.send(bytes([byte]))
            time.sleep(0.001)
        server.send(b'\0')
        reply = server.read(send=False)
        tap.check(reply and 'error' not in reply, 'then ReadTrace, byte by byte', reply)
        again = json.loads(server.ask('ReadTrace'))
        tap.check('error' in again, 'ReadTrace again is an error', again)
        tap.check('parameters' in json.loads(server.ask('Status')), 'and no more than that')
    with TraceServer(programs, trace) as server:
        try:
            server.send(b'x' * (3 << 20))
        except (BrokenPipeError, ConnectionResetError):
            pass
        reply = server.reply()
        tap.equal(reply and reply.get('error'), f'{INTERFACE}.LimitExceeded', 'a call of 3 MiB')
    with TraceServer(programs, trace) as server:
        status = json.dumps({'method': f'{INTERFACE}.Status'}).encode() + b'\0'
        processes = status.replace(b'Status', b'ListProcesses')
        server.send(READ_TRACE + status + processes + status)
        server.socket.shutdown(socket.SHUT_WR)
        reply = server.read(send=False)
        got = [next(iter(server.reply()['parameters'])) for _ in range(3)]
        tap.equal((got, server.reply(), server.process.wait(30)),
                  (['version', 'processes', 'version'], None, 0),
                  'calls after ReadTrace, and half a hang-up: answered in order')
    with TraceServer(programs, trace) as server:
        server.read()
        begin = time.monotonic()
        server.call('Resolve', wait_ms=3600000,
                    queries=[{'pid': 1, 'addr': '0x1000', 'time': 1 << 60}])
        server.call('Resolve', wait_ms=3600000,
                    queries=[{'pid': 1, 'addr': '0x1000', 'time': 1 << 60}])
        got = [len(server.reply()['parameters']['answers']) for _ in range(2)]
        tap.check(got == [1, 1] and time.monotonic() - begin < 10,
                  'there is nothing to wait for after the end of a trace')


def check_clear(tap, message, name, *words):
    missing = [word for word in words if word not in (message or '')]
    tap.check(message and not missing and '\n' not in message, name, missing, message)


def check_refused(tap, programs, path, name, *words, **options):
    with TraceServer(programs, path, **options) as server:
        check_clear(tap, server.error(), name, *words)
        tap.equal((server.reply(), server.process.wait(30)), (None, 1), f'{name}: and that is the end of it')


def check_bad(tap, programs, directory, trace):
    root = pathlib.Path(directory)
    (root / 'empty').mkdir()
    (root / 'plain').write_text('text\n', encoding='ascii')
    (root / 'nothing').touch()
    os.mkfifo(root / 'pipe')
    (root / 'odd\udcff\n"name').mkdir()
    check_refused(tap, programs, root / 'missing', 'a missing directory', str(root / 'missing'),
                  'o such file or directory')
    check_refused(tap, programs, root / 'empty', 'an empty directory', str(root / 'empty'),
                  '"metadata"')
    for name in ('plain', 'nothing', 'pipe'):
        check_refused(tap, programs, root / name, f'no directory and no snapshot: {name}',
                      str(root / name), 'neither a snapshot nor a directory')
    for begin in (gzip.compress(b'clrsym samples 1\n'), b'PERFILE2' + bytes(96)):
        (root / 'samples').write_bytes(begin)
        check_refused(tap, programs, root / 'samples', f'samples: {begin[:8]}', 'clrsym report -i')
    with TraceServer(programs, os.fsencode(root / 'odd\udcff\n"name').decode(
            'utf-8', 'surrogateescape')) as server:
        tap.check('no CTF trace' in (server.error() or ''), 'a directory with an odd name')
    cut = shutil.copytree(trace, root / 'cut')
    stream = max(cut.rglob('ch_*'), key=lambda path: path.stat().st_size)
    os.truncate(stream, stream.stat().st_size // 2)
    check_refused(tap, programs, cut, 'a stream file that was cut off', str(cut))
    broken = shutil.copytree(trace, root / 'broken')
    next(broken.rglob('metadata')).write_text('/* CTF 1.8 */ nonsense', encoding='ascii')
    check_refused(tap, programs, broken, 'metadata that makes no sense', str(broken))
    check_refused(tap, programs, traceserver.forge(root / 'foreign', 1, 3),
                  'a trace of something else', str(root / 'foreign'), 'clrsym session start')

    os.chmod(root / 'empty', 0o700)
    if os.getuid() != 0 or not shutil.which('setpriv'):
        tap.skip('a directory that may not be read', 'needs root and setpriv')
        return
    nobody = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    if programs.run([*nobody, programs.clrsymd, '--version']).returncode != 0:
        tap.skip('a directory that may not be read', 'the build is not for others to run')
        return
    check_refused(tap, programs, root / 'empty', 'a directory that may not be read',
                  str(root / 'empty'), 'ermission denied', wrap=nobody, cwd='/')
    parts = root / 'parts'
    shutil.copytree(root / 'foreign', parts / 'one')
    (parts / 'two').mkdir(mode=0o700)
    check_refused(tap, programs, parts, 'a directory of which a part may not be read',
                  str(parts), str(parts / 'two'), 'ermission denied', wrap=nobody, cwd='/')


def check_nothing_left(tap, name, temporary, pids):
    gone = wait_for(lambda: not any(traceserver.is_running(pid) for pid in pids))
    tap.check(pids and gone and not list(temporary.iterdir()), f'{name}: nothing is left', pids,
              list(temporary.iterdir()))


def check_ends(tap, programs, directory, trace):
    """After any end, no file and no partial snapshot is left."""
    temporary = pathlib.Path(directory) / 'temporary'
    saved = pathlib.Path(directory) / 'saved'
    temporary.mkdir()
    saved.mkdir()
    env = {**programs.environment, 'TMPDIR': str(temporary)}

    for kill in (None, *traceserver.SIGNALS, signal.SIGKILL):
        name = f'{kill.name if kill else "a hang-up"} while it reads'
        with TraceServer(programs, trace, '--save', saved / 'snapshot', env=env) as server:
            server.send(READ_TRACE)
            server.reply()
            status = server.end(kill)
            tap.equal(status, -kill if kill else 0, name)  # pylint: disable=invalid-unary-operand-type
        if kill == signal.SIGKILL:  # a killed process cannot clean up
            for left in (*temporary.iterdir(), *saved.iterdir()):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        check_nothing_left(tap, name, temporary, [server.process.pid])
        (saved / 'snapshot').unlink(missing_ok=True)  # the snapshot may have been complete already
        tap.equal(list(saved.iterdir()), [], f'{name}: and no half of a snapshot')

    # A client that disconnects within its queries, and a client without queries.
    with TraceServer(programs, trace) as server:
        tap.equal(server.end(), 0, 'a client that never asks')
    small = recorded.unpack(os.path.join(directory, 'small'), ['tiered'])['tiered']
    with TraceServer(programs, small) as server:
        server.read()
        for _ in range(50):
            server.call('ListMethods', all=True)
        tap.equal(server.end(), 0, 'a client that asks much and reads nothing')


def check_connections(tap, programs, trace):
    """The client's further connections are answered when the trace is read, until the first
    connection ends."""
    pairs = [socket.socketpair() for _ in range(2)]
    status = json.dumps({'method': f'{INTERFACE}.Status'}).encode() + b'\0'
    with TraceServer(programs, trace, also=[theirs for _, theirs in pairs]) as server:
        for ours, theirs in pairs:
            theirs.close()
            ours.settimeout(60)
        pairs[0][0].sendall(status)
        server.read()
        want = server.ask('Status')
        got = b''
        while not got.endswith(b'\0'):
            got += pairs[0][0].recv(65536)
        tap.equal(got[:-1], want, 'another connection is answered alike')
        pairs[0][0].close()
        tap.equal(server.ask('Status'), want, 'and may go before the first')
        pairs[1][0].sendall(status)
        tap.check(pairs[1][0].recv(1), 'a third one')
        tap.equal((server.end(), server.said), (0, ''), 'all is over with the first')
    pairs[1][0].close()


OWNER = '''
import os, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
server = subprocess.Popen([*sys.argv[1:], '--fd', str(theirs.fileno())],
                          pass_fds=[theirs.fileno()])
theirs.close()
ours.sendall({call!r})
holder = os.fork()
if holder == 0:  # has the client's end open, and nothing to do with it
    os.closerange(0, 3)
    time.sleep(60)
    os._exit(0)
print(server.pid, holder, flush=True)
time.sleep(60)
'''


def check_owner(tap, programs, trace):
    """The server exits with its client, even if another process holds the client's end of the
    socket."""
    with subprocess.Popen([sys.executable, '-c', OWNER.format(call=READ_TRACE), programs.clrsymd,
                           '--trace', trace], stdout=subprocess.PIPE, env=programs.environment) as owner:
        server, holder = (int(word) for word in owner.stdout.readline().split())
        try:
            tap.check(traceserver.is_running(server), 'it runs while its client does')
            owner.kill()
            tap.check(wait_for(lambda: not traceserver.is_running(server), 10) and traceserver.is_running(holder),
                      'it ends when its client dies, whoever still has the socket')
        finally:
            os.kill(holder, signal.SIGKILL)


def check_usage(tap, programs, trace):
    for options in ((), ('--fd', '77'), ('--fd', '1'), ('--fd', 'x'), ('--fd',),
                    ('--fd', '0', 'word'), ('--fd', '0') * 9, ('--nonsense',)):
        done = programs.run([programs.clrsymd, '--trace', trace, *options])
        tap.check(done.returncode == 2 and not done.stdout and done.stderr.count('\n') == 1 and
                  done.stderr.startswith('clrsymd: '), f'usage: --trace {options}',
                  done.returncode, done.stderr)
    done = programs.run([programs.clrsymd, '--trace', trace, '--help'])
    tap.check(done.returncode == 0 and '--save' in done.stdout, '--trace --help', done.stdout)


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, [*TRACES, 'perf'])
    for name in TRACES:
        check_answers(tap, programs, directory, name, traces[name])
    check_unknown(tap, programs, directory, traces['hello'])
    check_progress(tap, programs, directory, traces['perf'])
    check_slow_reader(tap, programs, directory, traces['perf'])
    check_calls(tap, programs, traces['hello'])
    check_bad(tap, programs, directory, traces['hello'])
    check_ends(tap, programs, directory, traces['perf'])
    check_owner(tap, programs, traces['hello'])
    check_connections(tap, programs, traces['hello'])
    check_usage(tap, programs, traces['hello'])


if __name__ == '__main__':
    recorded.main(run)
