# SPDX-License-Identifier: MIT
"""clrsymd as a service: its sockets, its start and end, and hostile peers."""

import collections
import errno
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import time

from tests.daemon import ingest
from tests.daemon.traceserver import wait_for
from tests.traces import recorded

INTERFACE = 'org.clrsym.Symbolizer'
NOBODY = 65534
# Limits that the manual documents.
CALL_LIMIT = 1 << 20
TIMEOUT = 5
CLIENTS, CLIENTS_A_USER, FEEDERS = 64, 16, 1280


class Client:
    """A connection to the query socket."""

    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        # Complete replies that no test has taken yet, and the incomplete rest.
        self.replies, self.input = collections.deque(), b''

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, method, **parameters):
        self.send(json.dumps({'method': f'{INTERFACE}.{method}',
                              'parameters': parameters}).encode() + b'\0')

    def reply(self):
        """Returns the next reply, None at the end."""
        if self.replies:
            return json.loads(self.replies.popleft())
        parts = [self.input]
        while b'\0' not in parts[-1]:
            data = self.socket.recv(1 << 20)
            if not data:
                self.input = b''.join(parts)
                return None
            parts.append(data)
        *replies, self.input = b''.join(parts).split(b'\0')
        self.replies.extend(replies)
        return json.loads(self.replies.popleft())

    def resolve(self, address, pid=100, **more):
        self.ask('Resolve', queries=[{'pid': pid, 'addr': address, **more}])
        return self.reply()['parameters']['answers'][0]

    def is_open(self):
        self.ask('Status')
        try:
            return self.reply() is not None
        except (ConnectionError, BrokenPipeError):
            return False

    def close(self):
        self.socket.close()


def answers(daemon, *addresses):
    client = Client(daemon.query)
    got = [client.resolve(address) for address in addresses]
    client.close()
    return got


def statuses(daemon, *addresses):
    return [answer['status'] for answer in answers(daemon, *addresses)]


def feed(daemon, *frames):
    """Sends a whole conversation, and waits for the acknowledgement."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(), *frames, ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='ascii').rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def rss_mib(pid):
    text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    return int(text.split('VmRSS:')[1].split()[0]) / 1024


def n_descriptors(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def settled_descriptors(pid):
    """Returns the number of descriptors once it has not changed for a while, because connections
    close later."""
    seen = []
    while len(seen) < 10 or len(set(seen[-10:])) > 1:
        seen.append(n_descriptors(pid))
        time.sleep(0.02)
    return seen[-1]


def check_modes(tap, daemon):
    for path, want in ((daemon.query, 0o666), (daemon.ingest, 0o660)):
        mode = os.lstat(path).st_mode
        tap.check(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == want,
                  f'{path.name} socket has mode {want:o}', oct(mode))


def check_garbage(tap, daemon):
    """Garbage on both sockets: the daemon answers each client with an error, and other clients
    notice nothing."""
    good = Client(daemon.query)
    for name, data in (('zeros', bytes(64)), ('text', b'GET / HTTP/1.1\r\n\r\n\0'),
                       ('noise', bytes(range(256)) * 20 + b'\0'),
                       ('deep nesting', b'[' * 100000 + b'\0'),
                       ('a number', b'1e999\0'),
                       ('wrong types', b'{"method":1,"parameters":[]}\0')):
        client = Client(daemon.query)
        client.send(data)
        reply = client.reply()
        tap.check(reply is not None and 'error' in reply, f'query garbage: {name}', reply)
        client.close()
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(data)
        feeder.socket.shutdown(socket.SHUT_WR)
        got = feeder.receive()
        # If the garbage is shorter than a message, only the timeout ends the connection.
        tap.check(got is None and len(data) < 8 or got and got[0] == ingest.ERROR and
                  feeder.receive() is None, f'ingest garbage: {name}', got)
        feeder.close()
    tap.check(good.is_open(), 'a client beside them is served')
    good.close()


def check_oversize(tap, daemon):
    before = settled_descriptors(daemon.process.pid)
    for end in (b'', b'\0'):
        client = Client(daemon.query)
        try:
            client.send(b' ' * (CALL_LIMIT + 1) + end)
        except (BrokenPipeError, ConnectionResetError):
            pass
        reply = client.reply()
        tap.equal(reply and reply.get('error'), f'{INTERFACE}.LimitExceeded',
                  f'a call over the limit, {"with" if end else "without"} its end')
        try:
            closed = client.reply() is None
        except ConnectionResetError:
            closed = True
        tap.check(closed, 'and hung up')
        # The client keeps its end open, but the daemon must close its own.
        tap.check(wait_for(lambda: n_descriptors(daemon.process.pid) == before),
                  'its place is free again', before, n_descriptors(daemon.process.pid))
        client.close()
    client = Client(daemon.query)
    client.ask('Resolve', queries=[{'pid': 1, 'addr': '0'}] * 4097)
    tap.equal(client.reply().get('error'), 'org.varlink.service.InvalidParameter',
              'more queries than a call takes')
    tap.check(client.is_open(), 'which does not end the connection')
    client.close()
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), b'\xff\xff\xff\x7f\x03\0\0\0')
    tap.equal(feeder.receive_until(ingest.ERROR), [ingest.HELLO, ingest.GO, ingest.ERROR],
              'an ingest message over the limit')
    feeder.close()


def check_partial(tap, daemon):
    """A partial call has five seconds, however slowly its bytes arrive. A client that only waits
    has no limit."""
    idle = Client(daemon.query)
    tap.check(idle.is_open(), 'a client that will be idle is served')
    half, drip = Client(daemon.query), Client(daemon.query)
    half.send(b'{"method":')
    start = time.monotonic()
    dripped = 0
    half_end = drip_end = None
    while time.monotonic() - start < TIMEOUT + 20 and not (half_end and drip_end):
        for client in (half, drip):
            client.socket.settimeout(0.05)
            try:
                if client is drip and not drip_end:
                    client.send(b' ')
                    dripped += 1
                over = client.socket.recv(1) == b''
            except (socket.timeout, BlockingIOError):
                over = False
            except (ConnectionError, BrokenPipeError):
                over = True
            if over and client is half:
                half_end = half_end or time.monotonic() - start
            if over and client is drip:
                drip_end = drip_end or time.monotonic() - start
        time.sleep(0.2)
    for name, end in (('half a call', half_end), (f'a call that drips ({dripped} bytes)', drip_end)):
        tap.check(end is not None and TIMEOUT - 1 < end < TIMEOUT + 20,
                  f'{name} is ended after {TIMEOUT} s', end)
    tap.check(idle.is_open(), f'an idle client is still there after {TIMEOUT} s')
    for client in (idle, half, drip):
        client.close()


def check_slow_reader(tap, daemon):
    """A client that calls without reading replies: the daemon stops reading, then disconnects;
    memory is bounded."""
    pid, before = daemon.process.pid, rss_mib(daemon.process.pid)
    client = Client(daemon.query, timeout=0.5)
    call = json.dumps({'method': f'{INTERFACE}.Resolve', 'parameters':
                       {'queries': [{'pid': 100, 'addr': '0x1000'}] * 1000}}).encode() + b'\0'
    n_sent, ended = 0, False
    deadline = time.monotonic() + TIMEOUT + 15
    while not ended and time.monotonic() < deadline:
        try:
            n_sent += client.socket.send(call)
        except socket.timeout:
            pass
        except (ConnectionError, BrokenPipeError):
            ended = True
    tap.check(ended, 'a client that does not read is ended', f'{n_sent} bytes sent')
    tap.check(n_sent < 16 << 20, 'and is not read from meanwhile', f'{n_sent} bytes sent')
    tap.check(rss_mib(pid) - before < 64, 'the daemon does not grow',
              f'{before} -> {rss_mib(pid)} MiB')
    tap.equal(statuses(daemon, '0x1000'), ['ok'], 'others are served')
    client.close()


def check_half_close(tap, daemon):
    """The client sends all calls and shuts down its sending side, as `nc -N` does: all replies
    arrive."""
    client = Client(daemon.query)
    for _ in range(50):
        client.ask('Resolve', queries=[{'pid': 100, 'addr': '0x1000'}] * 100)
    client.socket.shutdown(socket.SHUT_WR)
    n = 0
    while client.reply() is not None:
        n += 1
    tap.equal(n, 50, 'replies after the client has closed its side')
    client.close()


def check_gone_while_waiting(tap, daemon):
    """A client that disconnects during a wait of one day leaves no descriptor behind."""
    before = settled_descriptors(daemon.process.pid)
    for _ in range(5):
        client = Client(daemon.query)
        client.ask('Resolve', queries=[{'pid': 100, 'addr': '0x1000', 'time': '99999999'}],
                   wait_ms=86_400_000)
        client.close()
    tap.check(wait_for(lambda: n_descriptors(daemon.process.pid) == before),
              'clients that went away while they waited', before,
              n_descriptors(daemon.process.pid))


def check_wait(tap, daemon):
    """The daemon holds an answer until its time has arrived, or its wait is over."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(stream_id=5, uuid=b'fedcba9876543210'),
                ingest.load(10**9, 0x5000, pid=500), ingest.progress(2 * 10**9), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    client = Client(daemon.query)
    query = [{'pid': 500, 'addr': '0x5000', 'time': '3.0'}]
    client.ask('Resolve', queries=query, wait_ms=30_000)
    client.ask('Resolve', queries=query)
    client.socket.settimeout(0.5)
    try:
        early = client.reply()
    except socket.timeout:
        early = None
    tap.equal(early, None, 'no reply before its time is in; the next call waits too')
    client.socket.settimeout(20)
    start = time.monotonic()
    feeder.send(ingest.progress(4 * 10**9), ingest.commit())
    confidences = [client.reply()['parameters']['answers'][0]['confidence'] for _ in range(2)]
    tap.check(confidences == ['exact', 'exact'] and time.monotonic() - start < 20,
              'both come with the progress', confidences)
    start = time.monotonic()
    client.ask('Resolve', queries=[{'pid': 500, 'addr': '0x5000', 'time': '9.0'}], wait_ms=300)
    answer = client.reply()['parameters']['answers'][0]
    tap.check(answer['confidence'] == 'provisional' and 0.25 < time.monotonic() - start < 20,
              'a wait that is over is answered provisionally', answer)
    client.close()
    feeder.close()


def check_flood(tap, programs, directory):
    """One user opens as many connections as possible; another user still gets a place."""
    with recorded.Daemon(programs, directory) as daemon:
        os.chmod(daemon.directory, 0o755)
        code = ('import socket, sys, time\n'
                'sockets = []\n'
                'for i in range(200):\n'
                '    s = socket.socket(socket.AF_UNIX)\n'
                '    try: s.connect(sys.argv[1])\n'
                '    except OSError: continue\n'
                '    sockets.append(s)\n'
                'print(len(sockets), flush=True)\n'
                'sys.stdin.read()\n')
        user = {'user': NOBODY, 'group': NOBODY, 'extra_groups': []} if os.getuid() == 0 else {}
        with subprocess.Popen(['/usr/bin/python3', '-c', code, daemon.query], **user,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as flood:
            tap.check(int(flood.stdout.readline()) > 0, '200 connections of one user')
            if not user:
                tap.skip('another user is served beside them', 'needs root')
            else:
                client = Client(daemon.query)
                tap.check(client.is_open(), 'another user is served beside them')
                client.close()
            tap.check(wait_for(lambda: n_descriptors(daemon.process.pid) <=
                               CLIENTS + 12), 'the daemon keeps a bounded number of them',
                      n_descriptors(daemon.process.pid))
            before = cpu_seconds(daemon.process.pid)
            time.sleep(1)
            used = cpu_seconds(daemon.process.pid) - before
            tap.check(used < 0.3, 'and does not spin', f'{used} s of CPU time in 1 s')
            flood.stdin.close()
        client = Client(daemon.query)
        tap.check(client.is_open(), 'when they are gone, callers are served')
        client.close()
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        feeders = [ingest.Feeder(daemon.ingest) for _ in range(FEEDERS + 4)]
        for feeder in feeders:
            feeder.send(ingest.hello())
        for feeder in feeders[:FEEDERS]:
            feeder.receive_until(ingest.GO)
        feeders[-1].socket.settimeout(0.3)
        try:
            extra = feeders[-1].receive()
        except socket.timeout:
            extra = 'waits'
        tap.equal(extra, 'waits', f'{FEEDERS} feeders at a time; the next one waits')
        for feeder in feeders[:FEEDERS]:
            feeder.close()
        feeders[-1].socket.settimeout(60)
        tap.equal(feeders[-1].receive_until(ingest.GO), [ingest.HELLO, ingest.GO],
                  'until there is room')
        for feeder in feeders[FEEDERS:]:
            feeder.close()


def check_descriptors(tap, programs, directory):
    """Without free descriptors the daemon does not spin, and it serves again once there are
    some."""
    limited = recorded.Programs.__new__(recorded.Programs)
    limited.__dict__.update(programs.__dict__)
    limited.clrsymd = str(pathlib.Path(directory) / 'limited-clrsymd')
    pathlib.Path(limited.clrsymd).write_text(
        f'#!/bin/sh\nulimit -n 24\nexec "{programs.clrsymd}" "$@"\n', encoding='utf-8')
    os.chmod(limited.clrsymd, 0o755)
    with recorded.Daemon(limited, directory) as daemon:
        clients = [Client(daemon.query) for _ in range(30)]
        time.sleep(0.5)
        before = cpu_seconds(daemon.process.pid)
        time.sleep(1)
        used = cpu_seconds(daemon.process.pid) - before
        tap.check(used < 0.3, 'without descriptors left the daemon does not spin',
                  f'{used} s of CPU time in 1 s')
        tap.check('accept' in daemon.log(), 'and says so', daemon.log())
        tap.check(daemon.log().count('\n') < 30, 'not in every loop', daemon.log().count('\n'))
        tap.check(clients[0].is_open(), 'those that are connected are served')
        for client in clients:
            client.close()
        client = Client(daemon.query)
        tap.check(client.is_open(), 'and others, once they have closed')
        client.close()


def check_users(tap, programs, directory):
    """A user sees the processes of the user's own buffers; root sees all."""
    if os.getuid() != 0:
        tap.skip('who sees what', 'needs root')
        return
    with recorded.Daemon(programs, directory) as daemon:
        os.chmod(daemon.directory, 0o755)
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(),
                    ingest.stream_open(0, 0, b'a' * 16, uid=NOBODY),
                    ingest.stream_open(1, 0, b'b' * 16, uid=12345),
                    ingest.load(10, 0x1000, pid=100, stream=0),
                    ingest.load(10, 0x2000, pid=200, stream=1), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        code = ('import json, socket, sys\n'
                's = socket.socket(socket.AF_UNIX)\n'
                's.connect(sys.argv[1])\n'
                's.sendall(b\'{"method":"org.clrsym.Symbolizer.ListProcesses"}\\0\')\n'
                'data = b""\n'
                'while not data.endswith(b"\\0"): data += s.recv(65536)\n'
                'print([p["pid"] for p in json.loads(data[:-1])["parameters"]["processes"]])\n')
        for name, user, want in (('root', 0, '[100, 200]'), ('the owner', NOBODY, '[100]'),
                                 ('another user', 23456, '[]')):
            done = subprocess.run(['/usr/bin/python3', '-c', code, daemon.query], check=False,
                                  user=user, group=user, extra_groups=[], capture_output=True,
                                  text=True, timeout=20)
            tap.equal(done.stdout.strip(), want, f'processes that {name} sees')
        denied = subprocess.run(
            ['/usr/bin/python3', '-c', 'import socket, sys\n'
             'try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])\n'
             'except PermissionError: print("denied")', daemon.ingest], check=False, user=NOBODY,
            group=NOBODY, extra_groups=[], capture_output=True, text=True, timeout=20)
        tap.equal(denied.stdout.strip(), 'denied', 'others may not feed')
        feeder.close()


def check_killed_feeder(tap, daemon):
    """A feeder vanishes within a batch: the daemon drops this batch, and keeps all earlier ones."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(stream_id=9), ingest.load(100, 0x9000),
                ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.send(ingest.load(110, 0xa000), ingest.load(120, 0xb000), ingest.load(130, 0xc000)[:-3])
    before = settled_descriptors(daemon.process.pid)
    feeder.close()
    tap.check(wait_for(lambda: n_descriptors(daemon.process.pid) < before), 'a feeder vanishes')
    tap.equal(statuses(daemon, '0x9000', '0xa000', '0xb000', '0xc000'),
              ['ok', 'pending', 'pending', 'pending'], 'nothing of its open batch is known')
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(stream_id=9))
    kind, payload = None, b''
    while kind != ingest.ACK:
        kind, payload = feeder.receive()
    tap.equal(int.from_bytes(payload[4:], 'little'), 100, 'it is asked to go on after the commit')
    feeder.send(ingest.load(100, 0x9000), ingest.load(110, 0xa000), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()
    tap.equal(statuses(daemon, '0x9000', '0xa000'), ['ok', 'ok'], 'it goes on')


def check_deaf_feeder(tap, daemon):
    """A feeder commits repeatedly but never reads the replies."""
    feeder = ingest.Feeder(daemon.ingest, timeout=2)
    feeder.send(ingest.hello())
    data, n_sent, held = ingest.commit() * 8192, 0, False
    while not held and n_sent < 64 << 20:
        try:
            n_sent += feeder.socket.send(data)
        except socket.timeout:
            held = True
    tap.check(held and n_sent < 16 << 20, 'a feeder that does not read is not read from',
              f'{n_sent} bytes sent')
    tap.equal(statuses(daemon, '0x1000'), ['ok'], 'clients are served meanwhile')
    feeder.close()


def run_daemon(programs, *arguments, **options):
    """Runs a daemon that is expected to fail."""
    return programs.run([programs.clrsymd, *arguments], **{'timeout': 20, **options})


def check_second(tap, programs, daemon):
    """A second daemon on the same path fails, and the first one stays."""
    for ingest_path, query_path, path in (
            (daemon.ingest, daemon.directory / 'other', daemon.ingest),
            (daemon.directory / 'other', daemon.query, daemon.query)):
        done = run_daemon(programs, '--ingest', ingest_path, '--query', query_path)
        tap.check(done.returncode == 1 and str(path) in done.stderr and
                  done.stderr.count('\n') == 1, f'a second daemon on the same {path.name} path',
                  done.returncode, done.stderr)
    tap.check(not (daemon.directory / 'other').exists(), 'what it made it removes')
    tap.equal(statuses(daemon, '0x1000'), ['ok'], 'the first one is still asked')


def check_paths(tap, programs, directory):
    root = pathlib.Path(directory) / 'paths'
    root.mkdir()
    plain = root / 'plain'
    plain.write_text('precious', encoding='ascii')
    done = run_daemon(programs, '--ingest', plain, '--query', root / 'query')
    tap.check(done.returncode == 1 and str(plain) in done.stderr and
              plain.read_text(encoding='ascii') == 'precious', 'a file in the way is left alone',
              done.stderr)
    done = run_daemon(programs, '--ingest', root / ('x' * 200), '--query', root / 'query')
    tap.check(done.returncode == 1 and 'too long' in done.stderr, 'a path that is too long',
              done.stderr)
    done = run_daemon(programs, '--ingest', plain / 'sub' / 'ingest', '--query', root / 'query')
    tap.check(done.returncode == 1 and str(plain) in done.stderr, 'a directory that cannot be made',
              done.stderr)
    for arguments in (['--nowhere', '/tmp'], ['--nonsense'], ['word']):
        done = run_daemon(programs, *arguments)
        tap.check(done.returncode == 2 and done.stderr.count('\n') == 1,
                  f'clrsymd {" ".join(arguments)}: usage', done.returncode, done.stderr)
    done = run_daemon(programs, '--version')
    tap.check(done.returncode == 0 and done.stdout.startswith('clrsymd '), 'clrsymd --version',
              done.stdout)


def check_stale(tap, programs, directory):
    """A daemon replaces the socket file of a killed daemon."""
    with recorded.Daemon(programs, directory) as daemon:
        daemon.process.kill()
        daemon.process.wait()
        tap.check(daemon.query.exists() and daemon.ingest.exists(), 'killed, it leaves its sockets')
        again = subprocess.Popen([programs.clrsymd, '--ingest', daemon.ingest, '--query',
                                  daemon.query], stderr=subprocess.DEVNULL)

        def is_there():
            try:
                return Client(daemon.query).is_open()
            except OSError:
                return False
        tap.check(wait_for(is_there), 'the next one takes their place')
        again.terminate()
        tap.equal(again.wait(20), 0, 'SIGTERM ends it')
        tap.check(not daemon.query.exists() and not daemon.ingest.exists(),
                  'with its sockets removed')
        tap.check(not again.poll(), 'exit 0')


def check_start(tap, programs, directory):
    """As soon as the socket file exists, a client can call."""
    root, seen = pathlib.Path(directory) / 'start', set()
    for number in range(40):
        paths = root / f'ingest-{number}', root / f'query-{number}'
        daemon = subprocess.Popen([programs.clrsymd, '--ingest', paths[0], '--query', paths[1]],
                                  stderr=subprocess.DEVNULL)
        for path in paths:
            while daemon.poll() is None:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
                    error = caller.connect_ex(str(path))
                    if not error:
                        break
                    seen.add(errno.errorcode[error])
        daemon.terminate()
        daemon.wait(20)
    tap.equal(seen, {'ENOENT'}, 'a socket file is there when somebody listens, and not before')
    tap.equal(list(root.iterdir()), [], 'and at the end there is none')


def check_end(tap, programs, directory):
    """SIGTERM and SIGINT: the daemon answers the pending calls, and exits with status 0."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with recorded.Daemon(programs, directory) as daemon:
            feed(daemon, ingest.load(10, 0x1000))
            client = Client(daemon.query)
            for _ in range(3):
                client.ask('Resolve', queries=[{'pid': 100, 'addr': '0x1000'}] * 4000)
            client.socket.recv(1, socket.MSG_PEEK)
            feeder = ingest.Feeder(daemon.ingest)
            feeder.send(ingest.hello())
            feeder.receive_until(ingest.GO)
            daemon.process.send_signal(number)
            n, whole = 0, True
            try:
                while (reply := client.reply()) is not None:
                    n += 1
                    whole = whole and len(reply['parameters']['answers']) == 4000
            except ConnectionResetError:
                pass
            whole = whole and not client.input
            status = daemon.process.wait(20)
            tap.check(n >= 1 and whole, f'{number.name}: {n} replies, none cut')
            tap.equal(status, 0, f'{number.name}: exit 0')
            tap.check(not daemon.query.exists() and not daemon.ingest.exists(),
                      f'{number.name}: the sockets are gone')
            client.close()
            feeder.close()


def listening(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(8)
    return listener


def activated(programs, descriptors, environment):
    """Starts clrsymd with the descriptors from 3 on, as systemd does. LISTEN_PID is its own pid."""
    code = ('import os, sys\n'
            'fds = [int(fd) for fd in sys.argv[2].split(",")]\n'
            'high = [os.dup2(fd, 100 + i, inheritable=False) for i, fd in enumerate(fds)]\n'
            'for i, fd in enumerate(high): os.dup2(fd, 3 + i, inheritable=True)\n'
            'os.environ["LISTEN_PID"] = str(os.getpid() + int(os.environ.get("OFF", "0")))\n'
            'os.environ["LISTEN_FDS"] = str(len(fds))\n'
            'os.execv(sys.argv[1], [sys.argv[1], *sys.argv[3:]])\n')
    return subprocess.Popen(
        ['/usr/bin/python3', '-c', code, programs.clrsymd, ','.join(map(str, descriptors)),
         '--ingest', environment['INGEST'], '--query', environment['QUERY']],
        pass_fds=descriptors, env={**programs.environment, **environment},
        stderr=subprocess.PIPE, text=True)


def check_handed_over(tap, programs, directory):
    """Sockets from the service manager: the daemon uses them by their names, and leaves the
    files there."""
    root = pathlib.Path(directory) / 'handed-over'
    root.mkdir()
    query, feeding = listening(root / 'q'), listening(root / 'i')
    early = Client(root / 'q')
    early.ask('Status')  # before the daemon starts
    environment = {'LISTEN_FDNAMES': 'query:ingest', 'INGEST': str(root / 'own-ingest'),
                   'QUERY': str(root / 'own-query')}
    daemon = activated(programs, [query.fileno(), feeding.fileno()], environment)
    tap.check(early.reply() is not None, 'who called before the start is answered')
    feeder = ingest.Feeder(root / 'i')
    feeder.send(ingest.hello(), ingest.stream_open(), ingest.load(10, 0x1000), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    tap.equal(early.resolve('0x1000')['status'], 'ok', 'ingest and query are distinguished by name')
    tap.check(not (root / 'own-ingest').exists() and not (root / 'own-query').exists(),
              'no sockets of its own beside them')
    daemon.terminate()
    tap.equal(daemon.wait(20), 0, 'SIGTERM ends it')
    tap.check((root / 'q').exists() and (root / 'i').exists(), 'they are not its to remove')
    daemon.stderr.close()
    early.close()
    feeder.close()

    daemon = activated(programs, [query.fileno(), feeding.fileno()], {**environment, 'OFF': '1'})
    tap.check(wait_for((root / 'own-query').exists), 'what is for another process is not taken')
    daemon.terminate()
    daemon.wait(20)
    daemon.stderr.close()

    with open('/dev/null', 'rb') as null:
        pair = socket.socketpair()
        for name, fd in (('a file', null.fileno()), ('a connected socket', pair[0].fileno())):
            daemon = activated(programs, [fd], {**environment, 'LISTEN_FDNAMES': 'query'})
            _, said = daemon.communicate(timeout=20)
            tap.check(daemon.returncode == 1 and 'listening' in said,
                      f'{name} handed over instead is refused', daemon.returncode, said)
        for end in pair:
            end.close()
    query.close()
    feeding.close()


def check_notify(tap, programs, directory):
    """READY=1 when the sockets exist, STOPPING=1 at the end, in this order."""
    for name in (str(pathlib.Path(directory) / 'notify'), f'\0clrsym-test-{os.getpid()}'):
        kind = 'abstract' if name[0] == '\0' else 'file'
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.settimeout(20)
        manager.bind(name)
        notified = recorded.Programs.__new__(recorded.Programs)
        notified.__dict__.update(programs.__dict__)
        notified.environment = {**programs.environment,
                                'NOTIFY_SOCKET': name.replace('\0', '@')}
        with recorded.Daemon(notified, directory) as daemon:
            ready = manager.recv(4096).decode()
            tap.check('READY=1' in ready.split('\n'), f'{kind} notify socket: READY=1 first', ready)
            tap.check(Client(daemon.query).is_open(), 'it serves by then')
        rest = [manager.recv(4096).decode()]
        tap.check('STOPPING=1' in rest[0].split('\n'), f'{kind} notify socket: STOPPING=1', rest)
        manager.close()


def run(tap, programs, directory, names):
    with recorded.Daemon(programs, directory) as daemon:
        check_modes(tap, daemon)
        feed(daemon, ingest.load(10, 0x1000))
        check_garbage(tap, daemon)
        check_oversize(tap, daemon)
        check_half_close(tap, daemon)
        check_gone_while_waiting(tap, daemon)
        check_wait(tap, daemon)
        check_partial(tap, daemon)
        check_slow_reader(tap, daemon)
        check_killed_feeder(tap, daemon)
        check_deaf_feeder(tap, daemon)
        check_second(tap, programs, daemon)
        tap.equal(daemon.process.poll(), None, 'the daemon has lived through it all')
        lines = daemon.log().splitlines()
        tap.check(all(line.startswith('clrsymd: ') for line in lines) and len(lines) < 200,
                  f'its log has {len(lines)} lines, each marked', *lines[:5])
    tap.equal(daemon.status, 0, 'and ends with exit 0')
    check_flood(tap, programs, directory)
    check_descriptors(tap, programs, directory)
    check_users(tap, programs, directory)
    check_paths(tap, programs, directory)
    check_start(tap, programs, directory)
    check_stale(tap, programs, directory)
    check_end(tap, programs, directory)
    check_handed_over(tap, programs, directory)
    check_notify(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
