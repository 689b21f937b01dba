# SPDX-License-Identifier: MIT
"""clrsymd --trace: reading a trace for one client, its progress, its errors, and its end. It reads by
itself; babeltrace2 reads what it does not know, or where the environment asks for it."""

import contextlib
import gzip
import itertools
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'traces'))

import recorded  # pylint: disable=wrong-import-position
import traceserver  # pylint: disable=wrong-import-position
from traceserver import INTERFACE, READ_TRACE, TraceServer, wait_for  # pylint: disable=wrong-import-position

NOBODY = 65534
TRACES = ('hello', 'perpid', 'pidns')
# Replies about the progress, in a second.
MAX_RATE = 10


def environments(programs):
    """(way, environment) for each way to read a trace."""
    return ('by itself', programs.environment), ('by babeltrace2', programs.by_babeltrace)


def check_answers(tap, programs, directory, name, trace):
    """The whole of a trace is there, and its last progress is its size. Both ways answer alike."""
    # One that ends all: it is not started.
    never = traceserver.fake_babeltrace(os.path.join(directory, 'never'), 'kill -KILL $PPID')
    alone = {**programs.environment, 'PATH': never}
    replies = [check_way(tap, programs, f'{name} {way}', name, trace, env)
               for way, env in (('by itself', alone), ('by babeltrace2', programs.by_babeltrace))]
    tap.check(replies[0] == replies[1], f'{name}: both ways give {len(replies[0])} equal replies')


def check_way(tap, programs, title, name, trace, env):
    rows = recorded.Truth(name).rows('probes.tsv')
    total = traceserver.stream_bytes(trace)
    with TraceServer(programs, trace, env=env) as server:
        reply = server.read()
        note = reply['parameters'].pop('note', None)
        tap.equal((note is not None), env is programs.by_babeltrace,
                  f'{title}: a note if it is babeltrace2')
        name = title
        tap.equal(reply, {'parameters': {'read': total, 'total': total}}, f'{name}: it is read')
        replies = traceserver.answers(server, rows)
        got = [answer for reply in replies[:-3]
               for answer in json.loads(reply)['parameters']['answers']]
        right = sum(answer.get('start') == row['start'] for answer, row in zip(got, rows))
        wanted = sum(bool(row['start']) for row in rows)
        # Wrong answers are found by tests/traces; here, answers from another trace.
        tap.check(len(got) == len(rows) and wanted and right > 0.7 * wanted,
                  f'{name}: the answers are of that trace', right, wanted)
        status = json.loads(server.ask('Status'))['parameters']
        tap.check(status['bodies'] > 100, f'{name}: and so are the counters', status)
        tap.equal((server.end(), server.said), (0, ''), f'{name}: it ends with its client, quietly')
    return replies


def check_unknown(tap, programs, directory, trace):
    """What the reader does not know it refuses by name before the first event: babeltrace2 reads it."""
    unknown = traceserver.make_unknown(shutil.copytree(trace, os.path.join(directory, 'unknown')))
    rows = recorded.Truth('hello').rows('probes.tsv')
    replies = []
    for path in (trace, unknown):
        with TraceServer(programs, path) as server:
            note = server.read()['parameters'].get('note', '')
            replies.append(traceserver.answers(server, rows))
    tap.check('babeltrace2' in note and 'nested too deep' in note and str(unknown) in note,
              'metadata that it does not know: babeltrace2 reads, and the note gives the reason', note)
    tap.check(replies[0] == replies[1], 'and the answers are the same')
    for verb in (['ps', '--trace', unknown], ['dump', unknown]):
        quiet, loud = (programs.run([programs.clrsym, *verb, *more]) for more in ([], ['-v']))
        tap.check(loud.returncode == 0 and loud.stdout == quiet.stdout and
                  loud.stderr == f'clrsym: {unknown}: {note}\n' + quiet.stderr,
                  f'clrsym {verb[0]} -v prints the note', loud.stderr[:300])
        plain = programs.run([programs.clrsym, verb[0], *verb[1:-1], trace, '-v'])
        tap.check(plain.stdout == quiet.stdout and plain.stderr == quiet.stderr,
                  f'clrsym {verb[0]} -v prints none of a trace that it knows', plain.stderr[:300])


@contextlib.contextmanager
def slowed_down(process):
    """The process is stopped most of the time."""
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
    """Never back, never more than there is, and not more often than is of use."""
    rotated = traceserver.forge(os.path.join(directory, 'rotated'), 100, 12000)
    for (source, title), (way, env) in itertools.product(
            ((trace, 'a big trace'), (rotated, 'a stream of 100 files')), environments(programs)):
        name = f'{title} {way}'
        total = traceserver.stream_bytes(source)
        begin = time.monotonic()
        with TraceServer(programs, source, env=env) as server:
            # By itself it has soon read them, but for this.
            with contextlib.nullcontext() if 'babeltrace2' in way else \
                    slowed_down(server.process):
                reply = server.read()
            seconds = time.monotonic() - begin
        read = [progress['read'] for progress in server.progress]
        tap.note(f'{name}: {seconds:.2f} s, read: {[round(n / total, 2) for n in read]}')
        tap.check(read and read[0] == 0 and read == sorted(read) and read[-1] <= total and
                  all(progress['total'] == total for progress in server.progress),
                  f'{name}: the progress goes forward', read, total, reply)
        least = min(3, int(MAX_RATE * seconds / 2)) if 'babeltrace2' in way else 1
        tap.check(sum(0 < n < total for n in read) >= least and
                  len(read) <= seconds * MAX_RATE + 2, f'{name}: in steps', read, seconds)
        # Where the time has gone is where the bytes have gone, once the reader has started.
        begun = [n for n in read if n > 0]
        tap.check(len(begun) < 5 or 0.2 < begun[(len(begun) - 1) // 2] / total < 0.8, f'{name}: evenly', read, total)


def check_slow_reader(tap, programs, directory, trace):
    """Who does not read about the progress does not stop it, and misses only some of it."""
    slow = traceserver.fake_babeltrace(os.path.join(directory, 'slow'),
                                       'sleep 3; exec babeltrace2 "$@"')
    env = {**programs.by_babeltrace, 'PATH': slow}
    with TraceServer(programs, trace, send_buffer=1, env=env) as server:
        server.send(READ_TRACE)
        tap.check(wait_for(lambda: traceserver.children(server.process.pid)) and
                  wait_for(lambda: not traceserver.children(server.process.pid)),
                  'no reply is read: the trace is read to its end')
        reply = server.read(send=False)
        tap.check(reply and reply['parameters']['read'] == reply['parameters']['total'] and
                  0 < len(server.progress) <= 15, 'and the replies are there afterwards', reply,
                  server.progress)


def check_calls(tap, programs, trace):
    """The opening call, and what can be wrong with it."""
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
    """Both ways, or the one of the options' environment."""
    ways = (('', options.pop('env')),) if 'env' in options else environments(programs)
    for way, env in ways:
        title = f'{name} {way}'.rstrip()
        with TraceServer(programs, path, env=env, **options) as server:
            check_clear(tap, server.error(), title, *words)
            tap.equal((server.reply(), server.process.wait(30)), (None, 1),
                      f'{title}: and that is the end of it')


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
        check_refused(tap, programs, root / 'samples', f'samples: {begin[:8]}', 'clrsym perf -i')
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
                  'a trace of something else', str(root / 'foreign'), 'clrsym doctor')

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


def check_babeltrace(tap, programs, directory, trace):
    """babeltrace2 itself can be missing, or at fault."""
    temporary = pathlib.Path(directory) / 'a "temporary\\ place'
    temporary.mkdir()
    tools = pathlib.Path(directory) / 'tools'
    environment = {**programs.by_babeltrace, 'TMPDIR': str(temporary)}

    with TraceServer(programs, trace, env=environment) as server:
        reply = server.read()
        tap.check(reply and 'error' not in reply and not list(temporary.iterdir()),
                  'a directory for temporary files with an odd name', reply)
    check_refused(tap, programs, trace, 'one that is not there', 'none',
                  env={**environment, 'TMPDIR': os.path.join(directory, 'none')})
    tools.mkdir()
    with TraceServer(programs, trace, env={**environment, 'PATH': str(tools)}) as server:
        tap.equal(server.error(), 'no babeltrace2, which reads traces: apt install babeltrace2',
                  'no babeltrace2')
    for name, script, words in (
            ('dies', 'kill -KILL $$', ('signal 9',)),
            ('fails without a word', 'exit 1', ('babeltrace2',)),
            ('talks for ever before it fails', 'yes | head -c 3000000 >&2; exit 1',
             ('babeltrace2',)),
            ('does nothing', 'exit 0', ('clrsym doctor',)),
            ('leaves a child running', 'sleep 5 & exit 1', ('babeltrace2',))):
        traceserver.fake_babeltrace(tools, script)
        check_refused(tap, programs, trace, f'a babeltrace2 that {name}', str(trace), *words,
                      env={**environment, 'PATH': str(tools)})
    tap.equal(list(temporary.iterdir()), [], 'no socket is left')

    for options, jit in (((), False), (('--jit-events',), True)):
        traceserver.fake_babeltrace(tools, f'printf "%s\\n" "$@" >"{tools}/arguments"')
        with TraceServer(programs, trace, *options,
                         env={**environment, 'PATH': str(tools)}) as server:
            server.read()
        words = (tools / 'arguments').read_text(encoding='utf-8').splitlines()
        tap.check(str(trace) in words and words[-1].startswith('socket="') and
                  words[-1].endswith('",jit=yes') == jit and ('jit' in words[-1]) == jit,
                  f'the arguments of babeltrace2 with {options}', words)

    bare = {**environment, 'BABELTRACE_PLUGIN_PATH': ''}
    with TraceServer(programs, trace, env=bare) as server:
        reply = server.read()
        tap.check(reply and 'error' not in reply, 'the plugin of the build tree is found', reply)


def check_nothing_left(tap, name, temporary, pids):
    gone = wait_for(lambda: not any(traceserver.is_running(pid) for pid in pids))
    tap.check(pids and gone and not list(temporary.iterdir()), f'{name}: nothing is left', pids,
              list(temporary.iterdir()))


def check_ends(tap, programs, directory, trace):
    """However it ends, babeltrace2 and the socket go with it; so does a snapshot half written."""
    temporary = pathlib.Path(directory) / 'temporary'
    saved = pathlib.Path(directory) / 'saved'
    temporary.mkdir()
    saved.mkdir()
    sleeps = traceserver.fake_babeltrace(os.path.join(directory, 'sleeps'), 'exec sleep 1000')
    environment = {**programs.by_babeltrace, 'TMPDIR': str(temporary)}

    for kind, env, has_child, is_reading in (
            ('before babeltrace2 connects', {**environment, 'PATH': sleeps}, True, False),
            ('while babeltrace2 reads', environment, True, True),
            ('while it reads', {**programs.environment, 'TMPDIR': str(temporary)}, False, True)):
        for kill in (None, *traceserver.SIGNALS, signal.SIGKILL):
            name = f'{kill.name if kill else "a hang-up"} {kind}'
            with TraceServer(programs, trace, '--save', saved / 'snapshot', env=env) as server:
                server.send(READ_TRACE)
                pids = wait_for(lambda: traceserver.children(server.process.pid)) \
                    if has_child else []
                if not has_child:
                    server.reply()
                elif is_reading:
                    wait_for(lambda: (reply := server.reply()) and reply['parameters']['read'])
                status = server.end(kill)
                tap.equal(status, -kill if kill else 0, name)
            if kill == signal.SIGKILL:  # it cannot clean up, but babeltrace2 does not outlive it
                for left in (*temporary.iterdir(), *saved.iterdir()):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            check_nothing_left(tap, name, temporary, [server.process.pid, *pids])
            if not has_child:  # it may have been done already
                (saved / 'snapshot').unlink(missing_ok=True)
            tap.equal(list(saved.iterdir()), [], f'{name}: and no half of a snapshot')

    # A client that is gone in the middle of its questions, and one that asks nothing.
    with TraceServer(programs, trace) as server:
        tap.equal(server.end(), 0, 'a client that never asks')
    small = recorded.unpack(os.path.join(directory, 'small'), ['tiered'])['tiered']
    with TraceServer(programs, small) as server:
        server.read()
        for _ in range(50):
            server.call('ListMethods', all=True)
        tap.equal(server.end(), 0, 'a client that asks much and reads nothing')


def check_connections(tap, programs, trace):
    """Further connections of the client are answered when the trace is read, until the first ends."""
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


def check_owner(tap, programs, directory, trace):
    """It goes with its client also where another process has the client's end of the socket."""
    env = {**programs.by_babeltrace,
           'PATH': traceserver.fake_babeltrace(os.path.join(directory, 'sleeps'),
                                               'exec sleep 1000')}
    with subprocess.Popen([sys.executable, '-c', OWNER.format(call=READ_TRACE), programs.clrsymd,
                           '--trace', trace], stdout=subprocess.PIPE, env=env) as owner:
        server, holder = (int(word) for word in owner.stdout.readline().split())
        try:
            reader = wait_for(lambda: traceserver.children(server))
            tap.check(reader and traceserver.is_running(server), 'it runs while its client does')
            owner.kill()
            gone = wait_for(lambda: not traceserver.is_running(server) and
                            not traceserver.is_running(reader[0]), 10)
            tap.check(gone and traceserver.is_running(holder),
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
    check_slow_reader(tap, programs, directory, traces['hello'])
    check_calls(tap, programs, traces['hello'])
    check_bad(tap, programs, directory, traces['hello'])
    check_babeltrace(tap, programs, directory, traces['hello'])
    check_ends(tap, programs, directory, traces['perf'])
    check_owner(tap, programs, directory, traces['hello'])
    check_connections(tap, programs, traces['hello'])
    check_usage(tap, programs, traces['hello'])


if __name__ == '__main__':
    recorded.main(run)
