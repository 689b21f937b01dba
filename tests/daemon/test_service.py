# SPDX-License-Identifier: MIT
"""clrsymd and the service manager: readiness, watchdog, reload, sockets from the manager, the
journal; and the daemon's view with different permissions. The test needs no running systemd."""

import json
import os
import pathlib
import re
import select
import signal
import socket
import stat
import subprocess
import time

from tests.daemon import ingest
from tests.daemon.installed import private_mounts
from tests.daemon.test_daemon import Client, feed, wait_for
from tests.live import live
from tests.traces import recorded

NOBODY = 65534
GROUP, GID = 'clrsym-ingest', 64123
# The name that systemd passes for a unit without FileDescriptorName=.
UNNAMED = 'one.socket:two.socket'
CAP_SYS_PTRACE = 'sys_ptrace'


class Manager:
    """The service manager's end of $NOTIFY_SOCKET."""

    def __init__(self, directory):
        self.path = str(pathlib.Path(directory) / f'notify-{time.monotonic_ns()}')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def environment(self, programs, **variables):
        notified = recorded.Programs.__new__(recorded.Programs)
        notified.__dict__.update(programs.__dict__)
        notified.environment = {**programs.environment, 'NOTIFY_SOCKET': self.path, **variables}
        return notified

    def next(self, seconds=120.0):
        """Returns the assignments of the next message; None after a timeout."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        text = self.socket.recv(4096).decode()
        return dict(line.split('=', 1) for line in text.split('\n'))

    def until(self, key, seconds=120):
        """Returns the next message with the key, and the messages before it."""
        before = []
        deadline = time.monotonic() + seconds
        while (message := self.next(max(0.0, deadline - time.monotonic()))) is not None:
            if key in message:
                return message, before
            before.append(message)
        return {}, before

    def times(self, key, seconds):
        """Returns the times of the messages with the key, within SECONDS."""
        got = []
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if key in (self.next(left) or {}):
                got.append(time.monotonic())
        return got

    def close(self):
        self.socket.close()


def counters(daemon):
    client = Client(daemon.query)
    client.ask('Status')
    status = client.reply()['parameters']
    client.close()
    return status.get('status', status)


def check_ready(tap, programs, directory):
    """READY=1 once the daemon serves; STATUS= while it runs; STOPPING=1 at the end."""
    manager = Manager(directory)
    with recorded.Daemon(manager.environment(programs), directory) as daemon:
        first = manager.next()
        client = Client(daemon.query)
        client.ask('Status')
        tap.check(first and first.get('READY') == '1' and client.reply(), 'READY=1 comes first, '
                  'and it serves by then', first)
        tap.check(first and re.search(r'processes=0 bodies=0\b', first.get('STATUS', '')),
                  'with how things stand', first)
        client.close()
        feed(daemon, ingest.load(10, 0x1000), ingest.load(11, 0x2000))
        message, _ = manager.until('STATUS')
        while message and 'bodies=2' not in message['STATUS']:
            message, _ = manager.until('STATUS')
        tap.check('processes=1 bodies=2' in message.get('STATUS', ''),
                  'STATUS= follows what it keeps', message)
        tap.equal([message for message in iter(lambda: manager.next(7), None)
                   if message.get('STATUS', '').endswith('feeders=0 clients=0')
                   and 'bodies=2' in message['STATUS']][1:], [], 'but is not reported twice')
    last, before = manager.until('STOPPING')
    tap.check(last.get('STOPPING') == '1' and not any('WATCHDOG' in message for message in before),
              'STOPPING=1 at the end; WATCHDOG=1 only if it is asked for', last, before)
    tap.equal(daemon.status, 0, 'exit 0')
    manager.close()


def check_replay(tap, programs, directory):
    """While the daemon reads a journal, it asks the manager for more time, and reports its
    progress."""
    manager = Manager(directory)
    state = pathlib.Path(directory) / 'replayed'
    for n in range(2):
        with recorded.Daemon(manager.environment(programs), directory, '--state',
                             state) as daemon:
            message, before = manager.until('READY')
            tap.equal([(other['EXTEND_TIMEOUT_USEC'], re.sub(r'\d+', 'N', other['STATUS']))
                       for other in before if 'EXTEND_TIMEOUT_USEC' in other],
                      [('60000000', 'Reading the journal: N %')] if n else [],
                      f'start {n}: more time is asked for {"" if n else "only "}with a journal')
            tap.check(message.get('READY') == '1', f'start {n}: READY=1')
            feed(daemon, ingest.load(10, 0x1000))
    manager.close()


def check_ended_replay(tap, programs, directory):
    """SIGTERM while the daemon reads its journal: a clean exit, and the journal is unchanged."""
    manager = Manager(directory)
    state = pathlib.Path(directory) / 'ended'
    n = 20_000
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        for first in range(0, n, 1000):
            feed(daemon, *[ingest.load(10 + i, 0x1000 * (i + 1)) for i in range(first, first + 1000)])
        daemon.process.kill()
        daemon.process.wait()
    for number in range(3):
        daemon = recorded.Daemon(manager.environment(programs), directory, '--state', state)
        process = subprocess.Popen(
            [programs.clrsymd, '--ingest', daemon.ingest, '--query', daemon.query, '--state', state],
            env=daemon.programs.environment, stdin=subprocess.DEVNULL)
        message, _ = manager.until('EXTEND_TIMEOUT_USEC')
        process.terminate()
        tap.check(process.wait(60) == 0 and message, f'end {number} while the journal is read: exit 0',
                  process.returncode, message)
        while manager.next(0):
            pass
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        tap.equal(counters(daemon)['bodies'], n, 'the next one knows everything')
        tap.check('damaged' not in daemon.log(), 'of a whole journal', daemon.log())
    manager.close()


def check_watchdog(tap, programs, directory):
    """The main loop sends WATCHDOG=1 at half of the time; a blocked main loop sends none."""
    manager = Manager(directory)
    period = 0.4
    usec = str(int(period * 1e6))
    with recorded.Daemon(manager.environment(programs, WATCHDOG_USEC=usec), directory) as daemon:
        manager.until('WATCHDOG')
        times = manager.times('WATCHDOG', 4)
        gaps = [after - before for before, after in zip(times, times[1:])]
        tap.check(len(times) >= 15 and max(gaps) < period, 'WATCHDOG=1 comes often enough',
                  len(times), max(gaps, default=None))
        tap.check(len(times) <= 24, 'and no more often than needed', len(times))
        live.freeze(daemon.process.pid)
        while manager.next(0):
            pass
        tap.equal(manager.times('WATCHDOG', 3 * period), [], 'a loop that stands still is silent')
        daemon.process.send_signal(signal.SIGCONT)
        message, _ = manager.until('WATCHDOG')
        tap.check(message, 'one that goes on is heard again')
    manager.close()
    for name, variables in (('another process is watched', {'WATCHDOG_PID': '1'}),
                            ('no number', {'WATCHDOG_USEC': 'soon'}),
                            ('no time', {'WATCHDOG_USEC': '0'})):
        manager = Manager(directory)
        environment = manager.environment(programs, **{'WATCHDOG_USEC': usec, **variables})
        with recorded.Daemon(environment, directory):
            manager.until('READY')
            tap.equal(manager.times('WATCHDOG', 3 * period), [], f'no WATCHDOG=1: {name}')
        manager.close()


class Reload:
    """A daemon with a configuration file of its own, which a signal makes it read again."""

    def __init__(self, tap, programs, directory):
        self.tap = tap
        self.config = pathlib.Path(directory) / 'reload.conf'
        self.manager = Manager(directory)
        self.programs = self.manager.environment(programs)

    def write(self, **values):
        lines = [f'{key}={value}\n' for key, value in values.items()]
        self.config.write_text('[Daemon]\n' + ''.join(lines), encoding='utf-8')

    def reload(self, daemon, name, **values):
        if values:
            self.write(**values)
        while self.manager.next(0):
            pass
        before = time.monotonic_ns() // 1000
        daemon.process.send_signal(signal.SIGHUP)
        first, _ = self.manager.until('RELOADING')
        second, between = self.manager.until('READY')
        after = time.monotonic_ns() // 1000
        self.tap.check(first.get('RELOADING') == '1' and second.get('READY') == '1' and not between
                       and before <= int(first.get('MONOTONIC_USEC', 0)) <= after,
                       f'{name}: RELOADING=1 with the time, then READY=1', first, between, second)


def check_reload(tap, programs, directory):
    test = Reload(tap, programs, directory)
    metrics = [pathlib.Path(directory) / f'metrics-{i}.prom' for i in range(2)]
    test.write(MaxClients=1, MaxFeeders=1, MemoryMax='100M', MetricsFile=metrics[0])
    with recorded.Daemon(test.programs, directory, '--config', test.config) as daemon:
        feeders = [ingest.Feeder(daemon.ingest, timeout=1) for _ in range(2)]
        for feeder in feeders:
            feeder.send(ingest.hello(), ingest.stream_open(), ingest.load(10, 0x1000),
                        ingest.commit())
        feeders[0].receive_until(ingest.COMMITTED)
        clients = [Client(daemon.query) for _ in range(2)]
        for client in clients:
            client.ask('Status')
        first = clients[0].reply()['parameters']
        tap.equal(first['memory_max'], 100 << 20, 'what it was started with')
        tap.check(not select.select([clients[1].socket, feeders[1].socket], [], [], 0.5)[0],
                  'as many as may be: others wait')
        tap.check(wait_for(metrics[0].exists), 'the metrics are written')
        test.reload(daemon, 'other limits', MaxClients=2, MaxFeeders=2, MemoryMax='50M',
                    MetricsFile=metrics[1])
        second = clients[1].reply()['parameters']
        tap.equal(second['memory_max'], 50 << 20, 'one more client, which sees less memory')
        feeders[1].socket.settimeout(20)
        tap.check(feeders[1].receive_until(ingest.COMMITTED), 'one more feeder')
        tap.check(wait_for(metrics[1].exists) and not metrics[0].exists(),
                  'the metrics are elsewhere, and not where they were')
        test.reload(daemon, 'fewer than there are', MaxClients=1, MaxFeeders=1, MemoryMax='50M')
        tap.check(clients[0].is_open() and clients[1].is_open(), 'those who are there stay')
        tap.check(not metrics[1].exists(), 'no metrics any more')
        for name, text in (('a wrong value', 'MemoryMax=1'), ('no configuration', 'Memory')):
            test.config.write_text('[Daemon]\nMaxClients=9\n' + text + '\n', encoding='utf-8')
            test.reload(daemon, name)
            clients[0].ask('Status')
            tap.equal(clients[0].reply()['parameters']['memory_max'], 50 << 20,
                      f'{name}: the old configuration stays')
            tap.check(re.search(rf'^clrsymd: warning: {re.escape(str(test.config))}: .*stays as it '
                                'was$', daemon.log(), re.M), f'{name}: and it says so',
                      daemon.log())
        for client in clients:
            client.close()
        late = [Client(daemon.query, timeout=1) for _ in range(2)]
        for client in late:
            client.ask('Status')
        tap.check(late[0].reply(), 'MaxClients is what it was')
        tap.check(not select.select([late[1].socket], [], [], 0.5)[0], 'and no more')
        for peer in (*late, *feeders):
            peer.close()
    tap.equal(daemon.status, 0, 'exit 0')
    test.write(MemoryMax='100M')
    with recorded.Daemon(test.programs, directory, '--config', test.config, '--memory-max',
                         '20M') as daemon:
        test.reload(daemon, 'with an option', MemoryMax='30M')
        tap.equal(counters(daemon)['memory_max'], 20 << 20, 'an option still goes before the file')
    test.manager.close()


def check_reload_keeps_less(tap, programs, directory):
    """Less memory and a shorter retention: surplus data is evicted, and the answers say so."""
    test = Reload(tap, programs, directory)
    test.write()
    with recorded.Daemon(test.programs, directory, '--config', test.config) as daemon:
        dead = [frame for i in range(100000)
                for frame in (ingest.body(20 + 2 * i, 0x2000, f'M{i}', pid=8),
                              ingest.unload(21 + 2 * i, 0x2000, f'M{i}', pid=8))]
        feed(daemon, ingest.load(10, 0x1000, pid=7), ingest.load(11, 0x3000, pid=8),
             ingest.domain_unload(12, pid=7), *dead)
        before = counters(daemon)
        tap.check(before['bodies'] == 100002 and before['bytes'] > 8 << 20, 'much is kept', before)
        test.reload(daemon, 'less memory', MemoryMax='8M', Retention='1s')
        after = counters(daemon)
        tap.check(after['bytes'] <= 8 << 20 and after['evicted_bodies'] > 0,
                  'what is too much goes at once', after)
        client = Client(daemon.query)
        tap.equal([client.resolve(address, pid=8, time=at)['status']
                   for address, at in (('0x3000', None), ('0x2000', '0.000000020'))],
                  ['ok', 'evicted'], 'what lives is named, what is gone was evicted')
        client.close()
        tap.check(wait_for(lambda: counters(daemon)['processes'] == 1, 30),
                  'a finished process goes after the new retention', counters(daemon))
    test.manager.close()


def connect(query):
    """Connects a client as soon as the socket listens."""
    clients = []

    def try_it():
        try:
            clients.append(Client(query))
        except ConnectionRefusedError:
            pass
        return clients
    wait_for(try_it)
    return clients[0]


def check_socket_activate(tap, programs, directory):
    """systemd-socket-activate, with names for both sockets, and with missing names."""
    root = pathlib.Path(directory) / 'activated'
    for i, (name, paths, names, is_query_first) in enumerate((
            ('names', ('b', 'a'), 'ingest:query', False),
            ('names go before paths', ('query', 'ingest'), 'ingest:query', False),
            ('no names, but paths', ('ingest', 'query'), None, False),
            ('one path', ('a', 'query'), None, False),
            ('neither: query, ingest', ('a', 'b'), None, True),
            ("systemd's own names are none", ('ingest', 'query'), UNNAMED, False))):
        places = [root / str(i) / path for path in paths]
        places[0].parent.mkdir(parents=True)
        query, feeding = places if is_query_first else reversed(places)
        manager = Manager(directory)
        command = ['systemd-socket-activate', *(f'--listen={place}' for place in places),
                   f'--setenv=NOTIFY_SOCKET={manager.path}']
        if names:
            command.append(f'--fdname={names}')
        process = subprocess.Popen(
            [*command, programs.clrsymd, '--ingest', root / 'own-i', '--query', root / 'own-q'],
            env=programs.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        tap.check(wait_for(lambda: all(place.exists() for place in places)), f'{name}: listens')
        # The socket file exists before the socket listens.
        early = connect(query)
        early.ask('Status')
        tap.check(early.reply(), f'{name}: the first caller starts it, and is answered')
        feeder = ingest.Feeder(feeding)
        feeder.send(ingest.hello(), ingest.stream_open(), ingest.load(10, 0x1000), ingest.commit())
        tap.check(feeder.receive_until(ingest.COMMITTED), f'{name}: feeders and clients are distinguished')
        tap.equal(early.resolve('0x1000')['status'], 'ok', f'{name}: and answered of')
        tap.check(manager.until('READY')[0], f'{name}: READY=1')
        process.terminate()
        _, said = process.communicate(timeout=20)
        tap.check(process.returncode == 0 and all(place.exists() for place in places)
                  and not (root / 'own-i').exists() and not (root / 'own-q').exists(),
                  f'{name}: SIGTERM ends it, the sockets are not its own', said)
        early.close()
        feeder.close()
        manager.close()


def check_group(tap, programs, directory):
    """The ingest socket belongs to the group of feeders, if the group exists."""
    for exists in (False, True):
        if exists:
            groups = pathlib.Path(directory) / 'group'
            text = pathlib.Path('/etc/group').read_text(encoding='utf-8')
            text = ''.join(line for line in text.splitlines(True)
                           if not line.startswith(f'{GROUP}:'))
            groups.write_text(f'{text}{GROUP}:x:{GID}:\n', encoding='utf-8')
            subprocess.run(['mount', '--bind', groups, '/etc/group'], check=True)
        elif re.search(rf'^{GROUP}:', pathlib.Path('/etc/group').read_text(encoding='utf-8'), re.M):
            continue
        with recorded.Daemon(programs, directory) as daemon:
            made = [daemon.ingest.stat(), daemon.query.stat()]
            tap.equal([(stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid) for st in made],
                      [(0o660, 0, GID if exists else os.getegid()), (0o666, 0, os.getegid())],
                      f'the sockets\' modes and groups {"with" if exists else "without"} the group')
            if not exists:
                continue
            os.chmod(daemon.directory, 0o755)
            for groups, want in (([GID], True), ([], False)):
                done = subprocess.run(
                    ['/usr/bin/python3', '-c', 'import socket, sys\n'
                     'socket.socket(socket.AF_UNIX).connect(sys.argv[1])', daemon.ingest],
                    user=NOBODY, group=NOBODY, extra_groups=groups, stderr=subprocess.PIPE,
                    check=False)
                tap.equal(done.returncode == 0, want,
                          f'{"a member" if want else "another user"} {"may" if want else "may not"}'
                          ' feed')
    subprocess.run(['umount', '/etc/group'], check=True)


def journal_message(data):
    """Returns the fields of a message in the journal's native protocol, names to values."""
    fields = {}
    while data:
        name, _, data = data.partition(b'\n')
        if b'=' in name:
            key, _, value = name.partition(b'=')
        else:
            key, size = name, int.from_bytes(data[:8], 'little')
            value, data = data[8:8 + size], data[8 + size + 1:]
        fields[key.decode()] = value.decode()
    return fields


def check_journal(tap, programs, directory):
    """If its standard error is the journal's stream, the daemon sends messages with fields."""
    os.makedirs('/run/systemd', exist_ok=True)
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', '/run/systemd'], check=True)
    os.mkdir('/run/systemd/journal')
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind('/run/systemd/journal/socket')
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.bind('/run/systemd/journal/stdout')
    stream.listen()
    error = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    error.connect('/run/systemd/journal/stdout')
    lines, _ = stream.accept()
    root = pathlib.Path(directory) / 'journal'
    root.mkdir()
    config = root / 'conf'
    config.write_text('[Daemon]\nOdd=1\n', encoding='utf-8')

    def start(*options):
        return subprocess.Popen(
            [programs.clrsymd, '--ingest', root / 'ingest', '--query', root / 'query', *options],
            env=programs.environment, stdin=subprocess.DEVNULL, stderr=error)

    def messages(n):
        journal.settimeout(20)
        return [journal_message(journal.recv(1 << 16)) for _ in range(n)]
    daemon = start('--config', config)
    got, = messages(1)
    tap.check(got['PRIORITY'] == '4' and got['SYSLOG_IDENTIFIER'] == 'clrsymd'
              and 'unknown key Odd' in got['MESSAGE'], 'a warning has its priority', got)
    wait_for((root / 'query').exists)
    feeder = ingest.Feeder(root / 'ingest')
    feeder.send(b'\xff' * 64)
    came, refused, gone = messages(3)
    feeder.close()
    for fields, priority, text in ((came, '6', 'feeder came'), (refused, '4', 'feeder refused'),
                                   (gone, '6', 'feeder gone')):
        tap.check(fields['MESSAGE'].startswith(text) and fields['PRIORITY'] == priority
                  and fields.get('CLRSYM_PID') == str(os.getpid())
                  and fields.get('CLRSYM_UID') == '0' and fields.get('CLRSYM_SOCKET') == 'ingest',
                  f'{text}: with the peer\'s pid and uid as fields', fields)
    second = start()
    tap.equal(second.wait(20), 1, 'one that cannot start')
    # The second daemon finds the first one by connecting, which the first one logs, too.
    failed = next(fields for fields in iter(lambda: messages(1)[0], None)
                  if not fields['MESSAGE'].startswith('feeder'))
    tap.check(failed['PRIORITY'] == '3' and 'another process listens' in failed['MESSAGE'],
              'says why, as an error', failed)
    journal.close()
    os.unlink('/run/systemd/journal/socket')
    daemon.send_signal(signal.SIGHUP)
    lines.settimeout(20)
    text = lines.recv(4096).decode()
    tap.check(text.startswith('<4>clrsymd: warning: '), 'without a journal that listens, a line '
              'with its priority in front', text)
    daemon.terminate()
    tap.equal(daemon.wait(20), 0, 'exit 0')
    for end in (lines, error, stream):
        end.close()
    subprocess.run(['umount', '/run/systemd'], check=True)


def check_full(tap, programs, directory):
    """The state directory is on a full file system: answers continue, and the daemon writes
    again when there is room. No acknowledged data is lost then."""
    state = pathlib.Path(directory) / 'full'
    state.mkdir(mode=0o700)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', state], check=True)
    n = 4000
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        for first in range(0, n, 100):
            feed(daemon, *[ingest.load(10 + i, 0x1000 * (i + 1))
                           for i in range(first, first + 100)])
        tap.check('cannot be written' in daemon.log(), 'there is no room for the journal',
                  daemon.log())
        tap.equal(counters(daemon)['bodies'], n, 'everything is known all the same')
        subprocess.run(['mount', '-o', 'remount,size=64M', state], check=True)
        tap.check(wait_for(lambda: 'can be written again' in daemon.log(), 120),
                  'it is written again when there is room', daemon.log())
        daemon.process.kill()
        daemon.process.wait()
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        tap.equal(counters(daemon)['bodies'], n, 'everything is known after a restart')
    subprocess.run(['umount', state], check=True)


def check_permissions(tap, programs, directory):
    """Another user's process in its own pid namespace: with CAP_SYS_PTRACE the daemon knows its
    outer pid and its owner; without, only its name from the trace."""
    boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
    program = subprocess.Popen(['unshare', '-p', '-f', 'setpriv', '--reuid', str(NOBODY),
                                '--clear-groups', 'sleep', '600'], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    children = pathlib.Path(f'/proc/{program.pid}/task/{program.pid}/children')
    wait_for(lambda: children.read_text(encoding='ascii').strip())
    pid = int(children.read_text(encoding='ascii'))
    try:
        wait_for(lambda: os.stat(f'/proc/{pid}').st_uid == NOBODY)
        pid_ns = os.stat(f'/proc/{pid}/ns/pid').st_ino
        for capability, want in ((CAP_SYS_PTRACE, ['ok', 'ok', 'ok']),
                                 (None, ['no-process', 'ok', 'no-process'])):
            root = pathlib.Path(directory) / f'as-{capability}'
            root.mkdir()
            os.chown(root, 1, 1)
            caps = [f'--inh-caps=+{capability}', f'--ambient-caps=+{capability}']
            command = ['setpriv', '--reuid=1', '--regid=1', '--clear-groups', '--no-new-privs',
                       *(caps if capability else []),
                       f'--bounding-set=-all{",+" + capability if capability else ""}',
                       programs.clrsymd, '--ingest', root / 'ingest', '--query', root / 'query']
            daemon = subprocess.Popen(command, env=programs.environment, stdin=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            wait_for((root / 'query').exists)
            feeder = ingest.Feeder(root / 'ingest')
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            # Per-PID buffers: only /proc gives the owner.
            feeder.send(ingest.hello(), ingest.stream_open(boot=boot, scheme=2, pid=1),
                        ingest.body(now, 0x1000, pid=1, pid_ns=pid_ns), ingest.commit())
            feeder.receive_until(ingest.COMMITTED)
            feeder.close()

            def status(*who, query=root / 'query'):
                done = subprocess.run(
                    [programs.clrsym, 'resolve', '--json', '--socket', query, '--pid', who[0],
                     '0x1000'], env=programs.environment, capture_output=True, text=True,
                    check=True, **({'user': who[1], 'group': who[1], 'extra_groups': []}
                                   if who[1:] else {}))
                return json.loads(done.stdout)['status']
            got = [status(str(pid)), status(f'{pid_ns}:1'), status(f'{pid_ns}:1', NOBODY)]
            tap.equal(got, want, f'{capability or "no capability"}: by the pid outside; by '
                      'namespace and pid; its own user')
            daemon.terminate()
            daemon.wait(20)
    finally:
        os.kill(pid, signal.SIGKILL)
        program.wait()


def check_metrics_mode(tap, programs, directory):
    """Other users can read the metrics, whatever the unit's umask is."""
    metrics = pathlib.Path(directory) / 'umask.prom'
    old = os.umask(0o077)
    try:
        with recorded.Daemon(programs, directory, '--metrics-file', metrics):
            wait_for(metrics.exists)
            tap.equal(stat.S_IMODE(metrics.stat().st_mode), 0o644, 'the metrics file is for all')
    finally:
        os.umask(old)


def run(tap, programs, directory, names):
    check_ready(tap, programs, directory)
    check_replay(tap, programs, directory)
    check_ended_replay(tap, programs, directory)
    check_watchdog(tap, programs, directory)
    check_reload(tap, programs, directory)
    check_reload_keeps_less(tap, programs, directory)
    check_socket_activate(tap, programs, directory)
    check_metrics_mode(tap, programs, directory)
    if os.getuid() != 0:
        tap.skip('groups, the journal, permissions', 'needs root')
        return
    private_mounts()
    check_group(tap, programs, directory)
    check_journal(tap, programs, directory)
    check_full(tap, programs, directory)
    check_permissions(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
