# SPDX-License-Identifier: MIT
"""clrsym as a program: its input, its output, its exit codes, and its search for a daemon."""

import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import threading
import time

from tests.daemon import ingest
from tests.daemon.traceserver import wait_for
from tests.traces import recorded

NO_DAEMON = ('clrsym: no daemon at {}: systemctl start clrsymd.socket, or use --trace PATH\n')
NS = 10**9
# Runs a program in a mount namespace with an empty /run, because the system may have a daemon.
WITHOUT_RUN = ['unshare', '--mount', *([] if os.getuid() == 0 else ['--map-root-user']),
               'sh', '-c', 'mount -t tmpfs -o mode=755 tmpfs /run && exec "$@"', 'sh']


def history(daemon):
    """Feeds one process from its start: A, over which C is loaded, B since 20 s, names with
    control characters, and D and E, one after the other at one address, both unloaded."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(), ingest.runtime_start(9 * NS),
                ingest.load(10 * NS, 0x1000, 'A'),
                ingest.load(20 * NS, 0x2000, 'B'), ingest.load(21 * NS, 0x3000, 'Evil\x1b[31m\nX'),
                ingest.load(22 * NS, 0x4000, 'Maße日😀\u202e'),
                ingest.load(23 * NS, 0x1008, 'C'),  # over A
                ingest.body(24 * NS, 0x5000, 'D'), ingest.unload(25 * NS, 0x5000, 'D'),
                ingest.body(26 * NS, 0x5000, 'E'), ingest.unload(27 * NS, 0x5000, 'E'),
                ingest.progress(30 * NS), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


class Cli:
    def __init__(self, programs, daemon):
        self.programs, self.daemon = programs, daemon

    def run(self, *arguments, text=None, **options):
        return self.programs.run([self.programs.clrsym, *arguments, '--socket', self.daemon.query],
                                 text=text, **options)


TEXT_ROWS = [
    # input line, output
    ('100 0x2000', '0x2000 N.T.B()+0x0 [QuickJitted]'),
    ('100 2004', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 25.0', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 25.0:', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('0:100 0x2004 -', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('  100\t0x2004   25.5  ', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 99.0', '0x2004 N.T.B()+0x4 [QuickJitted] ~'),
    ('100 0x2004 19.9968', '0x2004 ?? not-yet 3.2 ms later: N.T.B()+0x4'),
    ('100 0x2004 19.9999968', '0x2004 ?? not-yet 3.2 us later: N.T.B()+0x4'),
    ('100 0x2004 19.999999999', '0x2004 ?? not-yet 1 ns later: N.T.B()+0x4'),
    ('100 0x1000 25.5', '0x1000 ?? unloaded 2.5 s before: N.T.A()+0x0'),
    ('100 0x5000', '0x5000 ?? ambiguous: 2 bodies, give a time (clrsym history -p 100 0x5000) ~'),
    ('0:100 5001', '0x5001 ?? ambiguous: 2 bodies, give a time (clrsym history -p 100 0x5001) ~'),
    ('100 0x5000 26.9', '0x5000 N.T.E()+0x0 [QuickJitted]'),
    ('100 0x5000 25.25', '0x5000 ?? unloaded 250.0 ms before: N.T.D()+0x0'),
    ('100 0x2004 25000000000', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 19999999999:', '0x2004 ?? not-yet 1 ns later: N.T.B()+0x4'),
    ('100 0x2004 19.9999999999', '0x2004 ?? not-yet 1 ns later: N.T.B()+0x4'),
    ('100 0x2004 @20', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 @19.5', '0x2004 ?? not-yet 500.0 ms later: N.T.B()+0x4'),
    ('100 0x2004 1970-01-01 00:00:21', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x2004 now', '0x2004 N.T.B()+0x4 [QuickJitted] ~'),
    ('100 0X2004', '0x2004 N.T.B()+0x4 [QuickJitted]'),
    ('100 0x9000', '0x9000 ?? pending: events up to that time have not arrived ~'),
    ('100 0x9000 99.0', '0x9000 ?? pending: events up to that time have not arrived ~'),
    ('7 0x2000', '0x2000 ?? no-process'),
    ('5:100 0x2000', '0x2000 ?? no-process'),
    ('100 0x3000', '0x3000 N.T.``Evil\\u{1b}[31m\\u{a}X``()+0x0 [QuickJitted]'),
    ('100 0x4000', '0x4000 N.T.Maße日😀\\u{202e}()+0x0 [QuickJitted]'),
    ('', '? ?? invalid: an empty line'),
    ('0x2000', '0x2000 ?? invalid: one field: without --pid a line is PID ADDR'),
    ('100 0x2000 25 26', '100 0x2000 25 26 ?? invalid: more fields than PID ADDR TIME'),
    ('0 0x2000', '0x2000 ?? invalid: not a PID or PIDNS:PID'),
    ('-1 0x2000', '0x2000 ?? invalid: not a PID or PIDNS:PID'),
    ('4294967396 0x2000', '0x2000 ?? invalid: not a PID or PIDNS:PID'),
    (':100 0x2000', '0x2000 ?? invalid: not a PID or PIDNS:PID'),
]
INVALID = ['100 xyz', '100 0x', '100 0x12345678123456789', '100 0x2000 yesterday', '100 "\\ 5',
           '100 0x2000 5.', '100 0x2000 99999999999999999999', '100 0x2000 5.5.5', '100 -0x2000',
           '100 \x07 5', 'x' * 5000, '100 ' + '1' * 3000]


def check_text(tap, cli):
    rows = TEXT_ROWS
    done = cli.run('resolve', text=''.join(line + '\n' for line, _ in rows))
    tap.check(done.returncode == 0 and not done.stderr, 'resolve reads lines', done.stderr)
    got = done.stdout.split('\n')
    tap.equal(len(got), len(rows) + 1, 'one answer a line')
    for (line, want), answer in zip(rows, got):
        tap.equal(answer, want, f'"{line}"')
    done = cli.run('resolve', text='\n'.join(INVALID))
    lines = done.stdout.split('\n')[:-1]
    tap.check(len(lines) == len(INVALID) and all(' ?? invalid: ' in line for line in lines) and
              all(line.isprintable() for line in lines), 'what makes no sense is invalid', *lines)
    done = cli.run('resolve', text='100 0x2000\n100 0x9000')
    tap.equal(done.stdout.split('\n')[1], '0x9000 ?? pending: events up to that time have not arrived ~', 'a last line without its end')
    done = cli.run('resolve', text='')
    tap.check(done.returncode == 0 and done.stdout == '', 'no line, no answer')
    raw = subprocess.run([cli.programs.clrsym, 'resolve', '--socket', cli.daemon.query],
                         input=b'100 \xff\xfe\n\0\0 1\n100 0x2000\n', capture_output=True,
                         check=False, timeout=60)
    lines = raw.stdout.decode().split('\n')
    tap.check(len(lines) == 4 and lines[2] == '0x2000 N.T.B()+0x0 [QuickJitted]' and
              all(' ?? invalid' in line for line in lines[:2]), 'bytes that are no text', raw)


def check_options(tap, cli):
    for arguments, want in (
            (['-p', '100', '0x2000', '2004'], ['0x2000 N.T.B()+0x0 [QuickJitted]',
                                               '0x2004 N.T.B()+0x4 [QuickJitted]']),
            (['--pid=0:100', '-t', '19.5', '0x2000'],
             ['0x2000 ?? not-yet 500.0 ms later: N.T.B()+0x0']),
            (['0x2000', '-p100', '--at', '25.0'], ['0x2000 N.T.B()+0x0 [QuickJitted]']),
            (['-p', '100', '-t', '99.0', '--wait=0.01', '0x2000'],
             ['0x2000 N.T.B()+0x0 [QuickJitted] ~']),
            (['-p', '100', '--', '0x2000'], ['0x2000 N.T.B()+0x0 [QuickJitted]'])):
        done = cli.run(*arguments[:0], 'resolve', *arguments) if '--' not in arguments else \
            cli.programs.run([cli.programs.clrsym, 'resolve', '--socket', cli.daemon.query,
                              *arguments])
        tap.equal(done.stdout.split('\n')[:-1], want, f'resolve {" ".join(arguments)}')
    done = cli.run('resolve', '-p', '100', '-t', '19.5', text='0x2000\n0x2000 25.0\n0x2000 -\n1 2 3\n')
    tap.equal([line.split()[1] for line in done.stdout.split('\n')[:-1]],
              ['??', 'N.T.B()+0x0', 'N.T.B()+0x0', '2'],
              'with --pid and --at: ADDR, ADDR TIME, and - for no time')
    tap.check(done.stdout.split('\n')[3].endswith('?? invalid: more fields than ADDR TIME'),
              'and no more than that', done.stdout)
    start = time.monotonic()
    done = cli.run('resolve', '-p', '100', '-t', '99.0', '--wait=1', '0x2000')
    tap.check(0.9 < time.monotonic() - start < 10, '--wait=1 waits for a second')
    # --wait takes no value here, so 0x2000 is an address.
    done = cli.run('resolve', '-p', '100', '--wait', '0x2000')
    tap.equal(done.stdout, '0x2000 N.T.B()+0x0 [QuickJitted]\n', '--wait takes no word of its own')


def check_json(tap, cli):
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(cli.daemon.query))
    client.sendall(b'{"method":"org.clrsym.Symbolizer.Resolve","parameters":{"queries":'
                   b'[{"pid":100,"addr":"0x2004","time":"19.5"}]}}\0')
    reply = b''
    while not reply.endswith(b'\0'):
        reply += client.recv(65536)
    client.close()
    want = reply.decode().removeprefix('{"parameters":{"answers":[').partition('],"processes":')[0]
    done = cli.run('resolve', '--json', text='100 0x2004 19.5\n7\n100 0x2004 19.5\n')
    lines = done.stdout.split('\n')
    tap.check(lines[0] == want and lines[2] == want, 'json: the very bytes of the daemon', want,
              lines[0])
    tap.equal(list(json.loads(lines[1]))[:5], ['pid', 'pid_ns', 'addr', 'time', 'status'],
              'json: what the program finds invalid has the same keys')
    tap.equal(json.loads(lines[1])['status'], 'invalid', 'json: and that status')
    for verb, keys in (('ps', {'pid', 'pid_ns', 'state', 'bodies'}),
                       ('methods', {'start', 'symbol'}), ('status', {'version', 'processes'})):
        done = cli.run(verb, '-j')
        rows = [json.loads(line) for line in done.stdout.split('\n')[:-1]]
        tap.check(done.returncode == 0 and rows and all(keys <= set(row) for row in rows),
                  f'{verb} --json', done.stdout, done.stderr)


def check_many(tap, cli):
    """Many more lines than fit into one call; the order stays, with invalid lines among them."""
    lines, want = [], []
    for i in range(20000):
        if i % 7 == 3:
            lines.append(f'nonsense{i}')
            want.append(f'nonsense{i} ??')
        else:
            lines.append(f'100 {0x2000 + i % 16:x}')
            want.append(f'{0x2000 + i % 16:#x} N.T.B()+{i % 16:#x}')
    done = cli.run('resolve', text='\n'.join(lines) + '\n')
    got = [' '.join(line.split()[:2]) for line in done.stdout.split('\n')[:-1]]
    tap.check(got == want, f'{len(lines)} lines in order', len(got))
    done = cli.run('resolve', '-p', '100', *['0x2000'] * 9000)
    tap.equal(done.stdout.count('0x2000 N.T.B()+0x0'), 9000, '9000 addresses as arguments')


def read_line(stream, seconds=120):
    """Returns a line, or the part of it that arrived within SECONDS. The stream is unbuffered."""
    line = b''
    while not line.endswith(b'\n') and select.select([stream], [], [], seconds)[0]:
        data = os.read(stream.fileno(), 1)
        if not data:
            break
        line += data
    return line.decode()


def check_interactive(tap, cli):
    """clrsym answers each line before the next line is written, and waits for the rest of half a
    line."""
    with subprocess.Popen([cli.programs.clrsym, 'resolve', '--socket', cli.daemon.query], bufsize=0,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        got = []
        for address in ('0x2000', '0x2001', 'bad line here 1', '0x2002'):
            program.stdin.write(f'100 {address}\n'.encode())
            got.append(read_line(program.stdout).split(' ')[0])
        tap.equal(got, ['0x2000', '0x2001', '100', '0x2002'], 'a pipe that waits for each answer')
        program.stdin.write(b'100 0x2003\n100 0x20')
        tap.equal(read_line(program.stdout).split(' ')[0], '0x2003', 'and half of a line after it')
        program.stdin.write(b'04\n')
        tap.equal(read_line(program.stdout).split(' ')[0], '0x2004', 'and the other half')
        program.stdin.close()
        tap.equal(program.wait(20), 0, 'exit 0 at the end of input')


def check_restart(tap, programs, directory):
    """When the daemon restarts in the middle of the input, clrsym reconnects."""
    daemon = recorded.Daemon(programs, directory)
    with daemon:
        history(daemon)
        program = subprocess.Popen([programs.clrsym, 'resolve', *daemon.source], bufsize=0,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        program.stdin.write(b'100 0x2000\n')
        tap.equal(read_line(program.stdout), '0x2000 N.T.B()+0x0 [QuickJitted]\n', 'an answer')
    with daemon:
        history(daemon)
        program.stdin.write(b'100 0x3001\n')
        tap.equal(read_line(program.stdout).split(' ')[:2],
                  ['0x3001', 'N.T.``Evil\\u{1b}[31m\\u{a}X``()+0x1'], 'and one of the next daemon')
        program.stdin.close()
        tap.equal(program.wait(20), 0, 'exit 0')
        program.stdout.close()


def check_output(tap, cli):
    """A closed reader is not an error; a full disk is an error."""
    with subprocess.Popen([cli.programs.clrsym, 'resolve', '-p', '100', '--socket',
                           cli.daemon.query], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as program:
        program.stdout.close()

        def write():
            try:
                program.stdin.write(b'0x2000\n' * 50000)
                program.stdin.close()
            except BrokenPipeError:
                pass
        writer = threading.Thread(target=write)
        writer.start()
        said = program.stderr.read()
        program.wait(60)
        writer.join()
        tap.check(said == b'' and program.returncode in (1, -signal.SIGPIPE),
                  'a closed pipe: quiet', program.returncode, said)
        try:
            program.stdin.close()
        except BrokenPipeError:
            pass
    with open('/dev/full', 'wb') as full:
        for arguments, text in ((['resolve', '-p', '100'], '0x2000\n'), (['ps'], ''),
                                (['methods', '--json'], ''), (['resolve', '-p', '100'],
                                                              '0x2000\n' * 20000)):
            done = subprocess.run([cli.programs.clrsym, *arguments, '--socket', cli.daemon.query],
                                  input=text.encode(), stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
            tap.check(done.returncode == 1 and b'No space left' in done.stderr and
                      done.stderr.count(b'\n') == 1, f'{arguments[0]} on a full disk',
                      done.returncode, done.stderr)


def check_usage(tap, programs):
    for arguments in ([], ['nonsense'], ['--nonsense'], ['ps', 'word'], ['ps', '--all'],
                      ['resolve', '0x1000'], ['resolve', '-p', 'x', '0x1000'],
                      ['resolve', '-p', '0', '0x1000'], ['resolve', '--pid'],
                      ['resolve', '-x'], ['resolve', '--wait=x'], ['resolve', '--wait=-1'],
                      ['ps', '--socket', '/x', '--trace', '/y'], ['status', '--json=1'],
                      ['methods', '--at', '5', '--all'], ['methods', 'A', 'B'],
                      ['methods', '--tier', 'Warp'], ['methods', '--sort', 'name'],
                      ['methods', '--older', 'old'], ['methods', '--min-versions', '-1'],
                      ['resolve', '--filter', '0x1000'], ['resolve', '--filter', '--json'],
                      ['history'], ['history', '0x1', 'zz'], ['versions'], ['versions', 'M', '--il-version', 'x'],
                      ['dump'], ['dump', 'a', 'b'], ['dump', 'a', '--all'], ['save'],
                      ['save', '--trace', 'x'], ['save', '-o', 'x'], ['perfmap', '--names=short'],
                      ['modules', '--at', '5', '--all'], ['--version', 'x'],
                      ['stack'], ['stack', '-p', '1', '1'], ['stack', '-p', '0'], ['stack', '0'],
                      ['stack', '99999999999'], ['stack', '--', '-1'], ['stack', '1', '--registers'],
                      ['stack', '1', '2']):
        done = programs.run([programs.clrsym, *arguments], text='')
        tap.check(done.returncode == 2 and not done.stdout and done.stderr and
                  (not arguments or done.stderr.startswith('clrsym: ') and
                   done.stderr.count('\n') == 1),
                  f'usage: clrsym {" ".join(arguments)}', done.returncode, done.stderr)
    for arguments in (['--help'], ['-h'], ['--version'], ['ps', '--help'], ['resolve', '-h'],
                      ['methods', '--help'], ['status', '--help']):
        done = programs.run([programs.clrsym, *arguments])
        tap.check(done.returncode == 0 and done.stdout and not done.stderr,
                  f'clrsym {" ".join(arguments)}', done.returncode, done.stderr)


def check_no_daemon(tap, programs, directory):
    missing = os.path.join(directory, 'missing')
    for verb in ('resolve', 'resolve --filter', 'ps', 'methods', 'history 0x1', 'versions x', 'modules',
                 'assemblies', 'perfmap', 'jit', 'status', 'metrics'):
        done = programs.run([programs.clrsym, *verb.split(), '--socket', missing], text='1 2\n')
        tap.check(done.returncode == 1 and done.stderr == NO_DAEMON.format(missing) and
                  not done.stdout, f'{verb}: no daemon', done.returncode, done.stderr)
    stale = os.path.join(directory, 'stale')
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(stale)
    done = programs.run([programs.clrsym, 'ps', '--socket', stale])
    tap.equal((done.returncode, done.stderr), (1, NO_DAEMON.format(stale)), 'a stale socket file')
    done = programs.run([programs.clrsym, 'ps', '--socket', 'x' * 200])
    tap.check(done.returncode == 1 and 'longer' in done.stderr, 'a path that is too long',
              done.stderr)


def answering(path, reply):
    """Starts a server that answers the first call with REPLY, disconnects, and exits."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)

    def serve():
        callers = [listener]
        # A connection for calls, and possibly one for batches.
        while (ready := select.select(callers, [], [])[0][0]) is listener:
            callers.append(listener.accept()[0])
        os.unlink(path)
        ready.recv(65536)
        ready.sendall(reply)
        for caller in callers:
            caller.close()
    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def check_odd_daemon(tap, programs, directory):
    """The program behind the socket is not clrsymd, or it stops within a reply."""
    for i, (name, reply) in enumerate((
            ('hangs up', b''), ('hangs up in the reply', b'{"parameters":{"answers":['),
            ('says something else', b'220 mail.example ESMTP\r\n\0'),
            ('refuses', b'{"error":"org.varlink.service.MethodNotFound","parameters":{}}\0'),
            ('gives too few answers', b'{"parameters":{"answers":[]}}\0'),
            ('gives no answers', b'{"parameters":{}}\0'),
            ('gives odd answers', b'{"parameters":{"answers":[}]"{\0'))):
        for form in ('--json', '--wait=0'):
            path = os.path.join(directory, f'odd{i}{form}')
            thread = answering(path, reply)
            done = programs.run([programs.clrsym, 'resolve', '-p', '1', '0x1', form, '--socket',
                                 path])
            tap.check(done.returncode == 1 and done.stderr.startswith('clrsym: ') and
                      done.stderr.count('\n') == 1 and not done.stdout,
                      f'a daemon that {name}, asked with {form}', done.returncode, done.stderr,
                      done.stdout)
            thread.join()


def check_search(tap, programs, daemon, directory):
    """Checks the search order: --socket, $CLRSYM_SOCKET, $XDG_RUNTIME_DIR, the system's socket."""
    runtime = pathlib.Path(directory) / 'runtime'
    (runtime / 'clrsym').mkdir(parents=True)
    os.symlink(daemon.query, runtime / 'clrsym' / 'query')
    nowhere = os.path.join(directory, 'nowhere')
    base = {name: value for name, value in programs.environment.items()
            if name not in ('XDG_RUNTIME_DIR', 'CLRSYM_SOCKET')}
    for name, environment, arguments, found in (
            ('$CLRSYM_SOCKET', {'CLRSYM_SOCKET': str(daemon.query)}, [], None),
            ('$XDG_RUNTIME_DIR', {'XDG_RUNTIME_DIR': str(runtime)}, [], None),
            ('--socket before $CLRSYM_SOCKET', {'CLRSYM_SOCKET': nowhere},
             ['--socket', str(daemon.query)], None),
            ('$CLRSYM_SOCKET before $XDG_RUNTIME_DIR',
             {'CLRSYM_SOCKET': nowhere, 'XDG_RUNTIME_DIR': str(runtime)}, [], nowhere)):
        done = programs.run([programs.clrsym, 'ps', *arguments], env={**base, **environment})
        want = (1, NO_DAEMON.format(found)) if found else (0, '')
        tap.equal((done.returncode, done.stderr), want, f'the socket by {name}')
    if os.path.exists('/run/clrsym/query') and programs.run([*WITHOUT_RUN, 'true']).returncode != 0:
        tap.skip("the system's socket otherwise", 'there is a daemon, and no private mounts')
        return
    hidden = WITHOUT_RUN if os.path.exists('/run/clrsym/query') else []
    done = programs.run([*hidden, programs.clrsym, 'ps'], env={**base, 'XDG_RUNTIME_DIR': directory})
    tap.equal((done.returncode, done.stderr), (1, NO_DAEMON.format('/run/clrsym/query')),
              "the system's socket otherwise")


def check_ordinary_user(tap, programs, directory):
    """A daemon without options and privileges listens at the path that clients of its user try."""
    user = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.getuid() == 0 else {}
    base = {name: value for name, value in programs.environment.items()
            if name not in ('XDG_RUNTIME_DIR', 'CLRSYM_SOCKET', 'STATE_DIRECTORY')}
    runtime = pathlib.Path(directory) / 'ordinary'
    runtime.mkdir(mode=0o700)
    os.chown(runtime, user.get('user', -1), -1)
    os.chmod(directory, 0o711)
    environment = {**base, 'XDG_RUNTIME_DIR': str(runtime)}
    with subprocess.Popen([programs.clrsymd], env=environment, stderr=subprocess.PIPE, text=True,
                          **user) as daemon:
        wait_for(lambda: (runtime / 'clrsym' / 'ingest').exists() and
                 (runtime / 'clrsym' / 'query').exists() or daemon.poll() is not None)
        done = subprocess.run([programs.clrsym, 'ps'], env=environment, check=False,
                              capture_output=True, text=True, timeout=60, **user)
        tap.equal((done.returncode, done.stderr), (0, ''), "an ordinary user's daemon is found")
        daemon.terminate()
        tap.equal((daemon.wait(60), daemon.stderr.read()), (0, ''), 'and ends without a word')
    tap.equal(list((runtime / 'clrsym').iterdir()), [], 'and leaves no socket')
    if not user:
        tap.skip('without a place to listen', 'not run as root')
        return
    done = programs.run([*WITHOUT_RUN, 'setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups',
                         programs.clrsymd], env=base)
    tap.check(done.returncode == 1 and 'set XDG_RUNTIME_DIR' in done.stderr,
              'without a place to listen', done.returncode, done.stderr)


def check_trace(tap, programs, directory):
    """Checks the requirements of --trace, and that it leaves no files. (tests/traces checks the
    answers.)"""
    trace = recorded.unpack(directory, ['hello'])['hello']
    temporary = pathlib.Path(directory) / 'a "temporary\\ place'
    temporary.mkdir()
    environment = {**programs.environment, 'TMPDIR': str(temporary)}
    command = [programs.clrsym, 'ps', '--trace', trace]
    done = programs.run(command, env=environment)
    tap.check(done.returncode == 0 and done.stdout.count('\n') == 2 and not list(temporary.iterdir()),
              'a directory for temporary files with an odd name', done.stderr)
    done = programs.run(command, env={**environment, 'TMPDIR': os.path.join(directory, 'none'), 'PATH': '/nowhere'})
    tap.equal((done.returncode, done.stderr), (0, ''), 'without one, and without any other program')
    bare = {**environment, 'BABELTRACE_PLUGIN_PATH': ''}
    elsewhere = shutil.copy(programs.clrsym, directory)
    done = programs.run([elsewhere, *command[1:]], env=bare)
    tap.check(done.returncode in (0, 1) and (done.returncode == 0 or
              'CLRSYM_DAEMON' in done.stderr and done.stderr.count('\n') == 1),
              'without clrsymd (or with an installed one)', done.stderr)
    done = programs.run([elsewhere, *command[1:]],
                        env={**environment, 'CLRSYM_DAEMON': programs.clrsymd})
    tap.equal(done.returncode, 0, 'clrsymd by $CLRSYM_DAEMON')
    nowhere = os.path.join(directory, 'nowhere')
    done = programs.run(command, env={**environment, 'CLRSYM_DAEMON': nowhere})
    tap.equal((done.returncode, done.stderr),
              (1, f'clrsym: no {nowhere}, which reads traces: install clrsymd, or set '
               'CLRSYM_DAEMON\n'), 'no program that reads traces')
    killed = pathlib.Path(directory) / 'killed'
    killed.write_text('#!/bin/sh\nkill -KILL $$\n', encoding='ascii')
    killed.chmod(0o755)
    done = programs.run(command, env={**environment, 'CLRSYM_DAEMON': str(killed)})
    tap.equal((done.returncode, done.stderr),
              (1, f'clrsym: {trace}: clrsymd died of signal 9 (Killed)\n'), 'one that dies')

    # If clrsym is killed while it reads the trace, the reading process ends, too.
    slow, pid_file = pathlib.Path(directory) / 'slow', pathlib.Path(directory) / 'pid'
    slow.write_text(f'#!/bin/sh\necho $$ >"{pid_file}"\n(sleep 1; kill -CONT $$) >/dev/null 2>&1 &\n'
                    f'kill -STOP $$\nexec "{programs.clrsymd}" "$@"\n', encoding='ascii')
    slow.chmod(0o755)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        pid_file.unlink(missing_ok=True)
        with subprocess.Popen(command, env={**environment, 'CLRSYM_DAEMON': str(slow)},
                              stderr=subprocess.PIPE) as program:
            pid = wait_text(pid_file)
            program.send_signal(number)
            said = program.stderr.read()
            program.wait(20)
        tap.check(program.returncode == -number and
                  wait_for(lambda: not list(temporary.iterdir()) and
                           not os.path.exists(f'/proc/{pid}')),
                  f'{number.name} while it reads: nothing is left', program.returncode, said,
                  list(temporary.iterdir()), pid)


def check_stubs(tap, programs, directory):
    """IL stubs are shown with their targets, in all styles."""
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), ingest.runtime_start(9 * NS),
                    ingest.stub_generated(10 * NS, 1, 'Evil\x1b[31m'),
                    ingest.stub(11 * NS, 0x1000, 1),
                    ingest.stub_generated(12 * NS, 2, 'Invoke', 'N.T+Called', flags=9),
                    ingest.stub(13 * NS, 0x2000, 2, 'ReversePInvoke'),
                    ingest.stub(14 * NS, 0x3000, 3),
                    ingest.progress(30 * NS), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        feeder.close()
        cli = Cli(programs, daemon)
        for style, names in (
                ('csharp', ('[P/Invoke stub made for N.T.``Evil\\u{1b}[31m``](string)',
                            '[reverse P/Invoke stub made for N.T.Called.Invoke](string)',
                            '[P/Invoke stub](string)')),
                ('short', ('[P/Invoke stub made for T.``Evil\\u{1b}[31m``]',
                           '[reverse P/Invoke stub made for T.Called.Invoke]', '[P/Invoke stub]')),
                ('clr', ('dynamicClass.IL_STUB_PInvoke(class System.String)',
                         'dynamicClass.IL_STUB_ReversePInvoke(class System.String)',
                         'dynamicClass.IL_STUB_PInvoke(class System.String)'))):
            said = cli.run('resolve', '-p', '100', '--style', style, '0x1000', '0x2000', '0x3000')
            tap.equal(said.stdout, ''.join(f'{place} {name}+0x0 [Optimized]\n' for place, name in
                                           zip(('0x1000', '0x2000', '0x3000'), names)),
                      f'stubs in style {style}')
            said = cli.run('methods', '-p', '100', '--style', style)
            tap.check(all(name in said.stdout for name in names), f'and in a list: {style}',
                      said.stdout, said.stderr)
        said = cli.run('resolve', '-p', '100', '--json', '0x2000', '0x3000')
        tap.equal([json.loads(line)['method']['stub_for'] for line in said.stdout.splitlines()],
                  [{'namespace': 'N.T+Called', 'name': 'Invoke', 'signature': 'int32(string)'},
                   None], 'and in JSON')


def sleep():
    return next(path for path in ('/bin/sleep', '/usr/bin/sleep') if os.path.exists(path))


def wait_text(path, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text(encoding='ascii')).endswith('\n'):
            return text.strip()
        time.sleep(0.01)
    raise RuntimeError(f'{path}: never written')


def run(tap, programs, directory, names):
    with recorded.Daemon(programs, directory) as daemon:
        history(daemon)
        cli = Cli(programs, daemon)
        check_text(tap, cli)
        check_options(tap, cli)
        check_json(tap, cli)
        check_many(tap, cli)
        check_interactive(tap, cli)
        check_output(tap, cli)
        check_search(tap, programs, daemon, directory)
        check_ordinary_user(tap, programs, directory)
    tap.equal(daemon.status, 0, 'the daemon ends with exit 0')
    check_usage(tap, programs)
    check_no_daemon(tap, programs, directory)
    check_odd_daemon(tap, programs, directory)
    check_stubs(tap, programs, directory)
    check_restart(tap, programs, directory)
    check_trace(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
