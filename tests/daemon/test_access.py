# SPDX-License-Identifier: MIT
"""Access: the users who may ask, the number of connections, the visible processes, and the
meaning of a pid."""

import contextlib
import json
import os
import pathlib
import subprocess
import time

from tests.daemon import ingest
from tests.daemon.test_daemon import Client, NOBODY, wait_for
from tests.traces import recorded

OTHER, GROUP = 23456, 4242
# A pid above the kernel's maximum.
NO_PID = 1 << 23
BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()

# Connects N times, prints how many of the connections are served, and answers calls from stdin, one
# a line, over the first connection; "close" closes that connection.
ASKER = '''
import json, os, socket, sys
path, n = sys.argv[1], int(sys.argv[2])
def ask(s, call):
    s.sendall(json.dumps(call).encode() + b"\\0")
    data = b""
    while not data.endswith(b"\\0"):
        piece = s.recv(65536)
        if not piece:
            return None
        data += piece
    return json.loads(data[:-1])
sockets, served = [], 0
for i in range(n):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    try:
        s.connect(path)
        served += ask(s, {"method": "org.clrsym.Symbolizer.Status"}) is not None
    except OSError as error:
        pass
    sockets.append(s)
print(served, flush=True)
for line in sys.stdin:
    if line == "close\\n":
        sockets.pop(0).close()
        print(flush=True)
    else:
        print(json.dumps(ask(sockets[0], json.loads(line))), flush=True)
'''


def plain_environment():
    """Returns the environment without a sanitizer, whose helper would wait for ever for a
    process whose children get other pids."""
    return {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}


class Asker:
    """A client process of some user and groups, or in other namespaces."""

    def __init__(self, daemon, n=1, prefix=(), uid=0, groups=()):
        self.process = subprocess.Popen(
            [*prefix, '/usr/bin/python3', '-c', ASKER, str(daemon.query), str(n)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=uid, group=uid,
            extra_groups=list(groups), env=plain_environment())
        self.n_served = int(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def ask(self, method, **parameters):
        """Returns the reply, with its error."""
        return json.loads(self.say(json.dumps({'method': f'org.clrsym.Symbolizer.{method}',
                                               'parameters': parameters})))

    def pids(self):
        return [process['pid'] for process in
                self.ask('ListProcesses')['parameters']['processes']]

    def name(self, pid, **query):
        """Returns the name of the method that lives at 0x1000 in the process, or the status."""
        answer, = self.ask('Resolve', queries=[{'pid': pid, 'addr': '0x1000', **query}])[
            'parameters']['answers']
        return answer.get('method', {}).get('name', answer['status'])

    def names(self, pid):
        """Returns the names of all listed methods of the process."""
        return [body['method']['name'] for body in
                self.ask('ListMethods', pid=pid)['parameters']['methods']]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


@contextlib.contextmanager
def daemon_with_group(programs, directory, *options):
    """Starts a daemon for which the group clrsym is GROUP, in a mount namespace of its own."""
    wrapped = recorded.Programs.__new__(recorded.Programs)
    wrapped.__dict__.update(programs.__dict__)
    wrapped.clrsymd = str(pathlib.Path(directory) / 'grouped-clrsymd')
    group = pathlib.Path(directory) / 'group'
    group.write_text(f'root:x:0:\nclrsym:x:{GROUP}:\n', encoding='ascii')
    pathlib.Path(wrapped.clrsymd).write_text(
        '#!/bin/sh\nset -e\n[ -n "$inside" ] || inside=1 exec unshare -m "$0" "$@"\n'
        f'mount --bind {group} /etc/group\nexec "{programs.clrsymd}" "$@"\n', encoding='utf-8')
    os.chmod(wrapped.clrsymd, 0o755)
    with recorded.Daemon(wrapped, directory, *options) as daemon:
        os.chmod(daemon.directory, 0o755)
        yield daemon


def feed(daemon, *frames):
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), *frames, ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    return feeder


def pid_ns(pid='self'):
    return os.stat(f'/proc/{pid}/ns/pid').st_ino


@contextlib.contextmanager
def sleeper(uid=0, prefix=()):
    """Starts a process that only sleeps."""
    process = subprocess.Popen([*prefix, 'sleep', '1000'], user=uid, group=uid, extra_groups=[],
                               env=plain_environment())
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def check_users(tap, programs, directory):
    """The owner of a process comes from per-UID buffers, else from /proc; root and the group see
    all processes."""
    own = pid_ns()
    with daemon_with_group(programs, directory) as daemon, \
         sleeper(NOBODY) as theirs, sleeper(OTHER) as others:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        feeder = feed(daemon,
                      ingest.stream_open(0, 0, b'a' * 16, uid=NOBODY),
                      ingest.stream_open(1, 0, b'b' * 16, uid=OTHER),
                      # Per-PID buffers do not give the owner.
                      ingest.stream_open(2, 0, b'c' * 16, scheme=2, pid=theirs, boot=BOOT),
                      ingest.stream_open(3, 0, b'd' * 16, scheme=2, pid=others, boot=BOOT),
                      # A trace of another machine: its pids are not pids of this machine.
                      ingest.stream_open(4, 0, b'e' * 16, scheme=2, pid=theirs),
                      ingest.body(10, 0x1000, pid=100, stream=0),
                      ingest.body(10, 0x1000, pid=200, stream=1),
                      ingest.body(now, 0x1000, pid=theirs, pid_ns=own, stream=2),
                      ingest.body(now, 0x1000, pid=others, pid_ns=own, stream=3),
                      ingest.body(now, 0x1000, pid=theirs, pid_ns=7, stream=4))
        everything = [100, 200, theirs, others, theirs]
        for who, uid, groups, want in (
                ('root', 0, [], everything), ('a user', NOBODY, [], [100, theirs]),
                ('another', OTHER, [], [200, others]), ('nobody in particular', 34567, [], []),
                ('a member of the group', NOBODY, [GROUP], everything),
                ('a member among groups', 34567, [7, GROUP, 9], everything),
                ('one of other groups', 34567, [7, 9], [])):
            with Asker(daemon, uid=uid, groups=groups) as asker:
                tap.equal(asker.pids(), want, f'processes that {who} sees')
                seen = [pid for pid, ns in ((100, 0), (200, 0), (theirs, own), (others, own),
                                            (theirs, 7))
                        if asker.name(pid, pid_ns=ns) == 'Main']
                tap.equal(seen, want, f'and is sent events of, as {who}')
                status = asker.ask('Status')['parameters']
                tap.check((status['processes'], status['live_bodies']) == (len(want), len(want))
                          and ('bytes' in status) == (want == everything), f'Status for {who}',
                          status)
                denied = asker.ask('Metrics').get('error')
                tap.equal(denied, None if want == everything else
                          'org.clrsym.Symbolizer.PermissionDenied', f'Metrics for {who}')
                tap.equal(asker.name(others, pid_ns=own) == 'Main', others in want,
                          f'a process of another by its pid, for {who}')
        with Asker(daemon, prefix=['setpriv', f'--regid={GROUP}', '--clear-groups',
                                   f'--reuid={NOBODY}']) as asker:
            tap.equal(asker.pids(), everything, 'one whose own group it is sees all')
        feeder.close()


def check_forged(tap, programs, directory):
    """A traced program can write any pid, namespace and time into its events: such events change
    nothing about another user's process, and reveal nothing about it."""
    own = pid_ns()
    with daemon_with_group(programs, directory) as daemon, \
         sleeper(NOBODY) as theirs, sleeper(OTHER) as others:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        victim = {'pid': others, 'pid_ns': own}
        feeder = feed(daemon,
                      ingest.stream_open(0, 0, b'a' * 16, uid=NOBODY, boot=BOOT),
                      ingest.stream_open(1, 0, b'b' * 16, uid=OTHER, boot=BOOT),
                      ingest.stream_open(2, 0, b'c' * 16, scheme=2, pid=theirs, boot=BOOT),
                      # Before and after the daemon knows the named process.
                      ingest.body(now, 0x1000, stream=0, name='Forged', **victim),
                      ingest.body(now, 0x1000, stream=1, name='Main', **victim),
                      ingest.body(now + 1, 0x1000, stream=0, name='Forged', **victim),
                      # With times before the start of the program.
                      ingest.body(now + 2, 0x1000, stream=2, name='Forged', **victim))
        late = feed(daemon,
                    ingest.stream_open(0, 0, b'd' * 16, scheme=2, pid=others, boot=BOOT),
                    ingest.stream_open(1, 0, b'e' * 16, uid=NOBODY, boot=BOOT),
                    ingest.body(now - 100 * 10**9, 0x1000, stream=0, name='Old', **victim),
                    ingest.body(now - 100 * 10**9, 0x1000, stream=1, name='Old', **victim))
        with Asker(daemon, uid=OTHER) as asker:
            tap.equal(asker.pids(), [others], 'one process for its owner')
            tap.equal(asker.name(others, pid_ns=own), 'Main', 'with the name that it has')
            answer, = asker.ask('Resolve', queries=[
                {**victim, 'addr': '0x1000', 'time': now}])['parameters']['answers']
            tap.equal((answer['status'], answer['confidence']), ('ok', 'exact'),
                      'and the confidence that it had')
        with Asker(daemon, uid=NOBODY) as asker:
            tap.equal(asker.name(others, pid_ns=own), 'Old',
                      'whoever forges is shown what was forged')
            tap.equal(asker.names(others), ['Old'], 'and no more')
        with Asker(daemon) as asker:
            tap.equal(asker.name(others, pid_ns=own), 'Main', 'root is shown the running process')
            tap.equal(asker.ask('Status')['parameters']['forged'], 2, 'forged events are counted')
        feeder.close()
        late.close()


def check_limits(tap, programs, directory):
    """Checks MaxClients and MaxClientsPerUser of the configuration."""
    config = pathlib.Path(directory) / 'limits.conf'
    config.write_text('[Daemon]\nMaxClients=6\nMaxClientsPerUser=3\n', encoding='ascii')
    with recorded.Daemon(programs, directory, '--config', config) as daemon:
        os.chmod(daemon.directory, 0o755)
        with Asker(daemon, n=5, uid=NOBODY) as asker:
            tap.equal(asker.n_served, 3, 'three clients of one user, not five')
            with Asker(daemon, uid=OTHER) as other:
                tap.equal(other.n_served, 1, 'another user is served')
            asker.say('close')

            def is_served():
                with Asker(daemon, uid=NOBODY) as again:
                    return again.n_served == 1
            tap.check(wait_for(is_served), 'when one has gone, there is a place again')
        roots = [Client(daemon.query) for _ in range(6)]
        tap.check(all(client.is_open() for client in roots), 'root has more than three')
        extra = Client(daemon.query, timeout=0.5)
        try:
            extra.resolve('0x1')
            waited = False
        except TimeoutError:
            waited = True
        tap.check(waited, 'the seventh of all waits')
        roots.pop().close()
        extra.socket.settimeout(20)
        tap.check(extra.reply() is not None, 'until one has gone')
        for client in (*roots, extra):
            client.close()


def check_many(tap, programs, directory):
    """With more clients than the default limit, all clients are served."""
    config = pathlib.Path(directory) / 'many.conf'
    config.write_text('[Daemon]\nMaxClients=300\nMaxClientsPerUser=100\n', encoding='ascii')
    with recorded.Daemon(programs, directory, '--config', config) as daemon:
        os.chmod(daemon.directory, 0o755)
        feed(daemon, ingest.stream_open(), ingest.body(10, 0x1000)).close()
        clients = [Client(daemon.query) for _ in range(200)]
        with Asker(daemon, n=110, uid=NOBODY) as asker:
            tap.equal(asker.n_served, 100, 'a hundred clients of a user')
            for _ in range(5):
                for client in clients:
                    client.ask('Resolve', queries=[{'pid': 100, 'addr': '0x1000'}] * 50)
            n = sum(len(client.reply()['parameters']['answers'])
                    for _ in range(5) for client in clients)
            tap.equal(n, 5 * 200 * 50, 'and two hundred of root, at the same time')
        for client in clients:
            client.close()


def check_idle(tap, programs, directory):
    """When all places are taken, idle clients are disconnected for new ones, and root gets a
    place."""
    config = pathlib.Path(directory) / 'idle.conf'
    config.write_text('[Daemon]\nMaxClients=6\nMaxClientsPerUser=3\n', encoding='ascii')
    with recorded.Daemon(programs, directory, '--config', config) as daemon:
        os.chmod(daemon.directory, 0o755)
        with Asker(daemon, n=3, uid=NOBODY) as first, Asker(daemon, n=3, uid=OTHER) as second:
            tap.equal([first.n_served, second.n_served], [3, 3], 'two users take all places')
            client = Client(daemon.query, timeout=20)
            client.ask('Status')
            tap.check(client.reply() is not None, 'root gets in')
            with Asker(daemon, uid=OTHER + 1) as third:
                tap.equal(third.n_served, 1, 'a third user gets in')
            log = daemon.log()
            tap.equal([log.count(f'MaxClients= is reached, disconnected: pid={asker.process.pid} ')
                       for asker in (first, second)], [2, 0], 'the longest idle gave way')
            client.close()


# Forks N idle children, prints their pids, and waits until its input ends.
CROWD = '''
import os, signal, sys
pids = []
for _ in range(int(sys.argv[1])):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    pids.append(pid)
print(*pids, flush=True)
sys.stdin.read()
for pid in pids:
    os.kill(pid, signal.SIGKILL)
'''

# Connects N times, sends the contents of the file on each connection, and does not read the
# replies.
WAITER = '''
import socket, sys
data = open(sys.argv[3], 'rb').read()
sockets = [socket.socket(socket.AF_UNIX) for _ in range(int(sys.argv[2]))]
for s in sockets:
    s.connect(sys.argv[1])
for s in sockets:
    s.sendall(data)
print(flush=True)
sys.stdin.read()
'''


def check_waiting(tap, programs, directory):
    """Calls that wait for a future time of unknown processes do not delay other clients."""
    n, seconds = 300, 8
    with recorded.Daemon(programs, directory) as daemon, subprocess.Popen(
            ['/usr/bin/python3', '-c', CROWD, str(n)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=plain_environment()) as crowd:
        os.chmod(daemon.directory, 0o755)
        pids = [int(pid) for pid in crowd.stdout.readline().split()]
        call = {'method': 'org.clrsym.Symbolizer.Resolve', 'parameters': {
            'wait_ms': 2 ** 31 - 1,
            'queries': [{'pid': pids[i % n], 'addr': '0x1000', 'time': '9000000000.000000000'}
                        for i in range(4096)]}}
        question = pathlib.Path(daemon.directory) / 'question'
        question.write_bytes(json.dumps(call).encode() + b'\0')
        with subprocess.Popen(
                ['/usr/bin/python3', '-c', WAITER, daemon.query, '16', question],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=NOBODY,
                group=NOBODY, extra_groups=[], env=plain_environment()) as waiter:
            waiter.stdout.readline()
            feeder, client = ingest.Feeder(daemon.ingest, timeout=60), Client(daemon.query, 60)
            feeder.send(ingest.hello(), ingest.stream_open())
            n_commits, slowest, end = 0, 0, time.monotonic() + seconds
            while time.monotonic() < end:
                feeder.send(ingest.load(10 + n_commits, 0x1000 * (n_commits + 1)),
                            ingest.commit())
                feeder.receive_until(ingest.COMMITTED)
                n_commits += 1
                begin = time.monotonic()
                client.ask('Status')
                client.reply()
                slowest = max(slowest, time.monotonic() - begin)
                time.sleep(0.1)
            # If each commit woke all waiting calls, there were 8 commits in 63 s, and one took 14
            # s.
            tap.check(n_commits >= 20 and slowest < 1, 'calls that wait keep nobody else up',
                      n_commits, slowest)
            print(f'# {n_commits} commits in {seconds} s, slowest Status {slowest * 1000:.0f} ms')
            feeder.close()
            client.close()
            waiter.stdin.close()
        crowd.stdin.close()


def check_log_limit(tap, programs, directory):
    """Clients of one user that all exceed a time limit do not fill the log."""
    with recorded.Daemon(programs, directory) as daemon:
        os.chmod(daemon.directory, 0o755)
        descriptors = pathlib.Path(f'/proc/{daemon.process.pid}/fd')

        def n_descriptors():
            """Returns the number of descriptors: two for each client, its socket and its pidfd."""
            return len(list(descriptors.iterdir()))
        client = Client(daemon.query)
        client.ask('Status')
        client.reply()  # all descriptors are open now
        n_before = n_descriptors()
        partial = pathlib.Path(daemon.directory) / 'partial'
        partial.write_bytes(b'{')
        with subprocess.Popen(
                ['/usr/bin/python3', '-c', WAITER, daemon.query, '12', partial],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=NOBODY,
                group=NOBODY, extra_groups=[], env=plain_environment()) as waiter:
            waiter.stdout.readline()
            tap.check(wait_for(lambda: n_descriptors() >= n_before + 24, 60)
                      and wait_for(lambda: n_descriptors() == n_before, 60),
                      'they are all hung up on')
            tap.equal(daemon.log().count('took too long'), 5, 'and five messages are logged')
            client.close()
            waiter.stdin.close()


def check_gone(tap, programs, directory):
    """The daemon notices that a process was killed, without an event that says so; also after a
    restart, and in another pid namespace. A process that never existed is unknown; a running
    process has a command."""
    state = pathlib.Path(directory) / 'gone-state'
    inside = subprocess.Popen(['unshare', '-p', '-f', '--kill-child', 'sleep', '601'])
    outside = subprocess.Popen(['sleep', '602'])
    children = pathlib.Path(f'/proc/{inside.pid}/task/{inside.pid}/children')
    wait_for(lambda: children.read_text(encoding='ascii').strip())
    child = int(children.read_text(encoding='ascii'))
    wait_for(lambda: b'601' in pathlib.Path(f'/proc/{child}/cmdline').read_bytes())
    own_ns = pid_ns('self')
    keys = [(own_ns, outside.pid), (pid_ns(child), 1), (own_ns, NO_PID), (own_ns, os.getpid())]

    def rows(client):
        client.ask('ListProcesses')
        listed = {(row['pid_ns'], row['pid']): row
                  for row in client.reply()['parameters']['processes']}
        return [listed.get(key, {}) for key in keys]

    def running(client):
        return [row.get('exited', '') is None for row in rows(client)]
    for n, victims in enumerate(((outside, ), (inside, ))):
        with recorded.Daemon(programs, directory, '--state', state) as daemon:
            client = Client(daemon.query)
            if n == 0:
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                feeder = ingest.Feeder(daemon.ingest)
                feeder.send(ingest.hello(), ingest.stream_open(boot=BOOT),
                            *[ingest.body(now + i, 0x1000, pid=pid, pid_ns=ns)
                              for i, (ns, pid) in enumerate(keys)], ingest.commit())
                feeder.receive_until(ingest.COMMITTED)
                feeder.close()
                tap.check(wait_for(lambda: running(client) == [True, True, False, True]),
                          'a process that does not run is not running', rows(client))
                tap.equal([rows(client)[i].get('command') for i in range(2)],
                          ['sleep 602', 'sleep 601'], 'those that run have a command')
            begin = time.monotonic()
            for victim in victims:
                victim.kill()
                victim.wait()
            want = [False, n == 0, False, True]
            tap.check(wait_for(lambda: running(client) == want),
                      f'one that is killed is noticed, {n}', rows(client))
            print(f'# after {time.monotonic() - begin:.1f} s')
            client.close()
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        client = Client(daemon.query)
        tap.equal(running(client), [False, False, False, True], 'a restart knows it at once')
        tap.equal(rows(client)[0].get('command'), 'sleep 602', 'and the commands')
        client.close()


def inner_pid(host_pid):
    """Returns (namespace, pid) of the innermost level."""
    status = pathlib.Path(f'/proc/{host_pid}/status').read_text(encoding='ascii')
    return pid_ns(host_pid), int(status.split('NSpid:')[1].split('\n')[0].split()[-1])


def child_of(pid):
    """Waits for the only child of a process, and returns its pid."""
    path = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    wait_for(lambda: path.read_text(encoding='ascii').split())
    return int(path.read_text(encoding='ascii').split()[0])


def check_namespaces(tap, programs, directory):
    """The same pid in two namespaces; the namespace of the client decides which process is
    meant."""
    own = pid_ns()
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    enter = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    with recorded.Daemon(programs, directory) as daemon, sleeper(prefix=enter) as unshared:
        host = child_of(unshared)
        namespace, inner = inner_pid(host)
        tap.check(namespace != own and inner == 1, 'a process in a pid namespace of its own',
                  namespace, inner)
        feeder = feed(daemon, ingest.stream_open(boot=BOOT),
                      ingest.body(now, 0x1000, 'Inner', pid=inner, pid_ns=namespace),
                      ingest.body(now + 1, 0x1000, 'Outer', pid=inner, pid_ns=own),
                      ingest.body(now + 2, 0x1000, 'Elsewhere', pid=inner, pid_ns=7),
                      ingest.body(now + 3, 0x1000, 'Twice', pid=NO_PID, pid_ns=7),
                      ingest.body(now + 4, 0x1000, 'Twice', pid=NO_PID, pid_ns=8))
        # The client's shell runs beside the sleeper, and sees the sleeper under its inner pid.
        inside = ['nsenter', f'--target={host}', '--pid', '--mount']
        with Asker(daemon) as outer, Asker(daemon, prefix=inside) as neighbour:
            for name, asker, pid, want in (
                    ('the pid outside', outer, inner, 'Outer'),
                    ('the same inside', neighbour, inner, 'Inner'),
                    ('the host\'s pid of the inner one', outer, host, 'Inner')):
                tap.equal(asker.name(pid), want, f'{name}: Resolve')
                tap.equal(asker.names(pid), [want], f'{name}: ListMethods')
                history = asker.ask('History', addr='0x1000', pid=pid)['parameters']['bodies']
                tap.equal([row['method']['name'] for row in history], [want], f'{name}: History')
                rows = asker.ask('ListProcesses', pid=pid)['parameters']['processes']
                tap.equal([row['pid_ns'] for row in rows],
                          [own if want == 'Outer' else namespace], f'{name}: ListProcesses')
            for asker in (outer, neighbour):
                tap.equal([asker.name(inner, pid_ns=ns) for ns in (namespace, own, 7)],
                          ['Inner', 'Outer', 'Elsewhere'], 'with the namespace it is plain')
            tap.equal(outer.name(NO_PID), 'ambiguous', 'a pid of two others is ambiguous')
            tap.equal(len(outer.names(NO_PID)), 2, 'and a list has both')
            tap.check(neighbour.name(host) != 'Inner' or host == inner,
                      'the host\'s pid means nothing inside')
        watcher = Client(daemon.query)
        watcher.send(json.dumps({'method': 'org.clrsym.Symbolizer.Watch', 'more': True,
                                 'parameters': {'pid': host}}).encode() + b'\0')
        events = watcher.reply()['parameters']['events']
        tap.equal([(event['pid_ns'], event['pid']) for event in events], [(namespace, inner)],
                  'the host\'s pid of the inner one: Watch')
        watcher.close()
        feeder.close()


def check_retention(tap, programs, directory):
    """Exited processes are evicted after a while; running processes stay."""
    config = pathlib.Path(directory) / 'retention.conf'
    config.write_text('[Daemon]\nRetention=1s\n', encoding='ascii')
    own = pid_ns()
    with recorded.Daemon(programs, directory, '--config', config) as daemon, \
         sleeper() as alive:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        feeder = feed(daemon, ingest.stream_open(boot=BOOT),
                      ingest.body(now, 0x1000, 'Over', pid=100), ingest.domain_unload(now + 1),
                      ingest.body(now + 2, 0x1000, 'Alive', pid=alive, pid_ns=own))
        client = Client(daemon.query)

        def names():
            client.ask('ListMethods', all=True)
            return [row['method']['name'] for row in client.reply()['parameters']['methods']]
        tap.equal(names(), ['Over', 'Alive'], 'all are there')
        tap.check(wait_for(lambda: names() == ['Alive'], 25),
                  'one that has exited goes', names())
        tap.equal(client.resolve('0x1000', pid=100)['status'], 'evicted', 'and is answered as evicted')
        feeder.close()
        client.close()


def run(tap, programs, directory, names):
    if os.getuid() != 0:
        tap.skip('who sees what', 'needs root')
        return
    check_users(tap, programs, directory)
    check_forged(tap, programs, directory)
    check_limits(tap, programs, directory)
    check_idle(tap, programs, directory)
    check_waiting(tap, programs, directory)
    check_log_limit(tap, programs, directory)
    check_gone(tap, programs, directory)
    check_many(tap, programs, directory)
    check_namespaces(tap, programs, directory)
    check_retention(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
