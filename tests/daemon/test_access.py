# SPDX-License-Identifier: MIT
"""Who may ask, how many at a time, who sees what, and which process a pid means."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'traces'))

import ingest  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
from test_daemon import NOBODY, Client, wait_for  # pylint: disable=wrong-import-position

OTHER, GROUP = 23456, 4242
# Beyond what the kernel gives.
NO_PID = 1 << 23
BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()

# Connects, says how many of N connections are served, and answers calls from stdin, a line each,
# with the first one; "close" closes it.
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
    """Without a sanitizer: its helper does not find a process whose children get other pids, and
    waits for ever."""
    return {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}


class Asker:
    """A process of some user and groups, or in other namespaces, that asks."""

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
        """The reply, with its error."""
        return json.loads(self.say(json.dumps({'method': f'org.clrsym.Symbolizer.{method}',
                                               'parameters': parameters})))

    def pids(self):
        return [process['pid'] for process in
                self.ask('ListProcesses')['parameters']['processes']]

    def name(self, pid, **query):
        """Of what lives at 0x1000 of that pid, or the status."""
        answer, = self.ask('Resolve', queries=[{'pid': pid, 'addr': '0x1000', **query}])[
            'parameters']['answers']
        return answer.get('method', {}).get('name', answer['status'])

    def names(self, pid):
        """Of all that is listed of that pid."""
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
    """One for which the group clrsym is GROUP, in a mount namespace of its own."""
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
    """A process that only is there."""
    process = subprocess.Popen([*prefix, 'sleep', '1000'], user=uid, group=uid, extra_groups=[],
                               env=plain_environment())
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def check_users(tap, programs, directory):
    """Per-UID buffers tell whose a process is, else /proc; root and the group see all."""
    own = pid_ns()
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with daemon_with_group(programs, directory) as daemon, \
         sleeper(NOBODY) as theirs, sleeper(OTHER) as others:
        feeder = feed(daemon,
                      ingest.stream_open(0, 0, b'a' * 16, uid=NOBODY),
                      ingest.stream_open(1, 0, b'b' * 16, uid=OTHER),
                      # Buffers of processes: these do not tell.
                      ingest.stream_open(2, 0, b'c' * 16, scheme=2, pid=theirs, boot=BOOT),
                      ingest.stream_open(3, 0, b'd' * 16, scheme=2, pid=others, boot=BOOT),
                      # Of another machine: its pids are not ours.
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
                tap.equal(seen, want, f'and is told about, as {who}')
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


def check_limits(tap, programs, directory):
    """MaxClients and MaxClientsPerUser, as configured."""
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
    """More clients than there are by default, all of them served."""
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


def inner_pid(host_pid):
    """(namespace, pid) of the innermost level."""
    status = pathlib.Path(f'/proc/{host_pid}/status').read_text(encoding='ascii')
    return pid_ns(host_pid), int(status.split('NSpid:')[1].split('\n')[0].split()[-1])


def child_of(pid):
    """The one child of a process, once it is there."""
    path = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    wait_for(lambda: path.read_text(encoding='ascii').split())
    return int(path.read_text(encoding='ascii').split()[0])


def check_namespaces(tap, programs, directory):
    """The same pid in two namespaces; who asks decides which one it is."""
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
        # The asker's shell is the sleeper's neighbour, and sees it under its inner pid.
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
    """What is over goes after a while; what is not stays."""
    config = pathlib.Path(directory) / 'retention.conf'
    config.write_text('[Daemon]\nRetention=1s\n', encoding='ascii')
    own = pid_ns()
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with recorded.Daemon(programs, directory, '--config', config) as daemon, \
         sleeper() as alive:
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
        tap.equal(client.resolve('0x1000', pid=100)['status'], 'evicted', 'and is said to be')
        feeder.close()
        client.close()


def run(tap, programs, directory, names):
    if os.getuid() != 0:
        tap.skip('who sees what', 'needs root')
        return
    check_users(tap, programs, directory)
    check_limits(tap, programs, directory)
    check_many(tap, programs, directory)
    check_namespaces(tap, programs, directory)
    check_retention(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
