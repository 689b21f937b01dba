# SPDX-License-Identifier: MIT
"""clrsymd with a state directory: after a kill at any moment, the next daemon has the same data.
Acknowledged data is never lost, and the daemon reports data that it cannot store."""

import contextlib
import json
import os
import pathlib
import random
import resource
import stat
import subprocess
import time

from tests.daemon import ingest
from tests.daemon.traceserver import wait_for
from tests.traces import calls, recorded

SEED = 20250611
TRACES = ('dynamic', 'collectible', 'lossy', 'lateattach', 'pidns', 'rejit-tiered', 'perpid')
# Shares of the feed after which the daemon is killed, each in the next round of feeding.
KILLS = (0.1, 0.5, 0.9)
N_ACK_ROUNDS = 5
# Members that a restart changes, besides epochs: sizes that depend on the order of allocations, and
# counts of records sent twice.
VOLATILE = ('bytes', 'known_before', 'memory_max')


def is_answering(daemon):
    """The daemon listens before it has read the journal, and answers afterwards."""
    with contextlib.suppress(ConnectionError), calls.connect(daemon.query) as connection:
        reply = connection.ask('Status')
        return reply is not None and b'"error"' not in reply
    return False


class Daemon(recorded.Daemon):
    """A daemon with a state directory; kill() is the hardest way to end it."""

    def __init__(self, programs, directory, state, *options):
        super().__init__(programs, directory, '--state', state, *options)

    def __enter__(self):
        super().__enter__()
        if not wait_for(lambda: is_answering(self)):
            self.kill()
            raise RuntimeError(f'clrsymd does not answer: {self.log()}')
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()


def without(line, *names):
    row = json.loads(line)
    for name in names:
        del row[name]
    return json.dumps(row)


def knowledge(daemon, name=None):
    """Returns the replies to all calls, with the probes of the recording."""
    probes = recorded.Truth(name).rows('probes.tsv') if name else []
    with calls.connect(daemon.query) as connection:
        rows = connection.rows
        status = json.loads(connection.ask('Status'))['parameters']
        return {
            'ps': [without(line, 'epoch') for line in rows('ListProcesses', 'processes')],
            'methods': rows('ListMethods', 'methods', all=True),
            'modules': rows('ListModules', 'modules', all=True),
            'assemblies': rows('ListAssemblies', 'assemblies', all=True),
            'jit': rows('JitStatistics', 'processes'),
            'status': [json.dumps({key: value for key, value in status.items()
                                   if key not in VOLATILE})],
            'resolve': connection.answers(probes),
        }


def check_same(tap, got, want, what, *but):
    names = [name for name in want if name not in but]
    tap.check(all(got[name] == want[name] for name in names) and want['methods'],
              f'{what}: {len(want["methods"])} bodies and all else as before',
              *[f'{name}: {a} is not {b}' for name in names
                for a, b in zip(got[name], want[name]) if a != b][:5],
              *[f'{name}: {len(got[name])} rows, not {len(want[name])}' for name in names])


def feed_command(programs, trace, daemon):
    """The command that feeds the trace, with the JIT's events."""
    command = programs.feed_command(trace, daemon.ingest)
    return [*command[:-1], f'{command[-1]},jit=true']


def feed(programs, trace, daemon):
    done = programs.run(feed_command(programs, trace, daemon))
    if done.returncode != 0:
        raise RuntimeError(f'{done.stderr} {daemon.log()}')


def check_restart(tap, programs, directory, name, trace):
    """The daemon is killed after the feed: the next one gives the same answers byte for byte; so
    does one after a clean exit."""
    state = directory / f'{name}-state'
    with Daemon(programs, directory, state) as daemon:
        feed(programs, trace, daemon)
        want = knowledge(daemon, name)
        daemon.kill()
    with Daemon(programs, directory, state) as daemon:
        check_same(tap, knowledge(daemon, name), want, f'{name}, killed')
    tap.equal(daemon.status, 0, f'{name}: ends in order')
    with Daemon(programs, directory, state) as daemon:
        check_same(tap, knowledge(daemon, name), want, f'{name}, ended')
        feed(programs, trace, daemon)
        check_same(tap, knowledge(daemon, name), want, f'{name}, fed again')
    return want


def check_kills(tap, programs, directory, name, trace, want):
    """The daemon is killed several times during the feed; then the feed is completed."""
    state = directory / f'{name}-killed'
    chance = random.Random(SEED)
    begin = time.monotonic()
    with recorded.Daemon(programs, directory) as daemon:
        feed(programs, trace, daemon)
    seconds = time.monotonic() - begin
    sizes = []
    for share in KILLS:
        with Daemon(programs, directory, state) as daemon:
            with subprocess.Popen(feed_command(programs, trace, daemon), stderr=subprocess.DEVNULL,
                                  env=programs.environment) as feeder:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    feeder.wait(seconds * share * chance.uniform(0.5, 1))
                daemon.kill()
                feeder.wait(recorded.TIMEOUT)
            tap.check('gap' not in daemon.log() and 'is damaged' not in daemon.log(),
                      f'{name}: nothing is wrong with the journal', daemon.log())
        sizes.append(sum(path.stat().st_size for path in state.glob('journal.*')))
    with Daemon(programs, directory, state) as daemon:
        feed(programs, trace, daemon)
        check_same(tap, knowledge(daemon, name), want,
                   f'{name}, killed with {sizes} bytes of journal')


def check_acknowledged(tap, programs, directory):
    """Loads one by one; the daemon is killed at a random moment. The next daemon acknowledges at
    once all acknowledged data."""
    state = directory / 'acks-state'
    chance = random.Random(SEED)
    acked = 0
    for i in range(N_ACK_ROUNDS):
        with Daemon(programs, directory, state) as daemon:
            feeder = ingest.Feeder(daemon.ingest)
            feeder.send(ingest.hello(), ingest.stream_open())
            feeder.receive_until(ingest.GO)
            kind, payload = feeder.receive()
            known = int.from_bytes(payload[4:12], 'little')
            tap.check(kind == ingest.ACK and known >= acked,
                      f'round {i}: acknowledged was {acked}, known is {known}')
            methods = programs.ask(daemon.source, 'methods', '--all')
            times = {row['loaded'] for row in map(json.loads, methods)}
            tap.check(len(methods) == len(times) == known - 1000 if known else not methods,
                      f'round {i}: {len(methods)} bodies, one for each time', known)
            moment = max(1000, known)  # the feeder sends unacknowledged records again
            end = time.monotonic() + chance.uniform(0.05, 0.3)
            with contextlib.suppress(ConnectionError):
                while time.monotonic() < end + 1:
                    batch = []
                    for _ in range(chance.randrange(1, 20)):
                        moment += 1
                        batch.append(ingest.load(moment, 0x10000 + 16 * moment))
                    feeder.send(*batch, ingest.commit())
                    if time.monotonic() > end:
                        daemon.process.kill()  # batches are in flight
                    acked = drain(feeder, acked)
            daemon.kill()
            acked = drain(feeder, acked)
            feeder.close()
    tap.check(acked > 1000 + N_ACK_ROUNDS, f'{acked - 1000} loads were acknowledged')


def drain(feeder, acked):
    """Returns the last acknowledged time so far."""
    feeder.socket.settimeout(0.001)
    with contextlib.suppress(OSError):
        while (got := feeder.receive()) is not None:
            if got[0] == ingest.ACK:
                acked = int.from_bytes(got[1][4:12], 'little')
    feeder.socket.settimeout(recorded.TIMEOUT)
    return acked


def start(programs, directory, *options, **more):
    """Runs a daemon that must fail to start. Returns (status, errors)."""
    done = programs.run([programs.clrsymd, '--ingest', directory / 'i', '--query',
                         directory / 'q', *options], timeout=20, **more)
    return done.returncode, done.stderr


def check_directory(tap, programs, directory):
    state = directory / 'some' / 'where'
    with Daemon(programs, directory, state) as daemon:
        tap.equal(stat.S_IMODE(state.stat().st_mode), 0o700, 'the directory is its own')
        tap.check(all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in state.iterdir()),
                  'and so are the files', *state.iterdir())
        status, said = start(programs, directory, '--state', state)
        tap.check(status == 1 and 'another clrsymd' in said and str(state) in said,
                  'two on one directory: the second does not start', status, said)
        tap.check(programs.ask(daemon.source, 'status'), 'and the first goes on')
    open_to_all = directory / 'open'
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    status, said = start(programs, directory, '--state', open_to_all)
    tap.check(status == 1 and 'chmod' in said, 'a directory that others write to', status, said)
    status, said = start(programs, directory, '--state', '/dev/null')
    tap.check(status == 1 and '/dev/null' in said, 'no directory', status, said)
    if os.getuid() == 0:
        foreign = directory / 'foreign'
        foreign.mkdir(0o700)
        os.chown(foreign, 12345, 12345)
        status, said = start(programs, directory, '--state', foreign)
        tap.check(status == 1 and 'user 12345' in said, 'another user\'s directory', status, said)
    else:
        tap.skip('another user\'s directory', 'needs root')


def check_given(tap, programs, directory):
    """The option has priority over the configuration, and the configuration over the directory
    from the service manager."""
    given, configured, named = (directory / name for name in ('given', 'configured', 'named'))
    config = directory / 'state.conf'
    config.write_text(f'[Daemon]\nStateDirectory={configured}\n', encoding='utf-8')
    environment = dict(programs.environment)
    programs.environment['STATE_DIRECTORY'] = f'{given}:/nowhere'
    try:
        for options, want in (([], given), (['--config', config], configured),
                              (['--config', config, '--state', named], named),
                              (['--state', ''], None)):
            with recorded.Daemon(programs, directory, *options) as daemon:
                wait_for(lambda source=daemon: is_answering(source))
                there = [path for path in (given, configured, named)
                         if (path / 'journal.1').exists()]
                tap.equal(there, [want] if want else [], f'state in {want and want.name}')
            for path in there:
                for child in path.iterdir():
                    child.unlink()
    finally:
        programs.environment = environment


def metric(programs, daemon, name):
    text = programs.run([programs.clrsym, 'metrics', *daemon.source]).stdout
    rows = dict(line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
    return float(rows[f'clrsym_{name}'])


def loads(first, n):
    return [ingest.load(moment, 0x10000 + 16 * moment) for moment in range(first, first + n)]


def say(daemon, *frames):
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(), *frames, ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


def check_full(tap, programs, directory):
    """The journal's files cannot grow for a while."""
    state = directory / 'full-state'
    with Daemon(programs, directory, state) as daemon:
        say(daemon, *loads(1000, 100))
        tap.equal(metric(programs, daemon, 'journal_failed'), 0, 'the journal is written')
        size = metric(programs, daemon, 'journal_bytes')
        tap.equal(size, sum(path.stat().st_size for path in state.glob('journal.*')),
                  'and as large as is reported')
        infinite = resource.RLIM_INFINITY
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (int(size) + 100, infinite))
        for i in range(5):
            say(daemon, *loads(2000 + 100 * i, 50))
        tap.equal(metric(programs, daemon, 'journal_failed'), 1, 'it cannot be: the metrics say so')
        tap.equal(daemon.log().count('cannot be written'), 1, 'and the log, once')
        want = programs.ask(daemon.source, 'methods', '--all')
        tap.equal(len(want), 350, 'it goes on answering')
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (infinite, infinite))
        tap.check(wait_for(lambda: metric(programs, daemon, 'journal_failed') == 0),
                  'it is written again when it can be', daemon.log())
        daemon.kill()
    with Daemon(programs, directory, state) as daemon:
        tap.equal(programs.ask(daemon.source, 'methods', '--all'), want,
                  'and has what came meanwhile')
        tap.check('gap' not in daemon.log(), 'without a gap', daemon.log())


def check_lost(tap, programs, directory):
    """The daemon is killed while it cannot write the journal: the next daemon reports a gap."""
    state = directory / 'lost-state'
    with Daemon(programs, directory, state) as daemon:
        say(daemon, *loads(1000, 100), ingest.progress(1100))
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE,
                         (int(metric(programs, daemon, 'journal_bytes')), resource.RLIM_INFINITY))
        say(daemon, *loads(2000, 100))
        daemon.kill()
    with Daemon(programs, directory, state) as daemon:
        tap.check('there is a gap' in daemon.log(), 'what was lost is reported', daemon.log())
        tap.equal(len(programs.ask(daemon.source, 'methods', '--all')), 100,
                  'what was written is there')
        answer, = programs.ask(daemon.source, 'resolve', '--pid', '100', hex(0x10000 + 16 * 1050))
        answer = json.loads(answer)
        tap.equal((answer['status'], answer['confidence']), ('ok', 'gap'),
                  'and not more certain than it may be')


def check_damaged(tap, programs, directory):
    state = directory / 'damaged-state'
    with Daemon(programs, directory, state) as daemon:
        for i in range(10):
            say(daemon, *loads(1000 + 100 * i, 10))
        daemon.kill()
    path = state / 'journal.1'
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    with Daemon(programs, directory, state) as daemon:
        n = len(programs.ask(daemon.source, 'methods', '--all'))
        tap.check(0 < n < 100 and n % 10 == 0, f'{n} bodies of whole batches before the damage')
        tap.check('is damaged' in daemon.log() and 'gap' in daemon.log(), 'which is reported',
                  daemon.log())
        tap.equal((state / 'journal.1.damaged').read_bytes(), data, 'the file is kept')
        say(daemon, *[frame for i in range(10) for frame in loads(1000 + 100 * i, 10)])
        tap.equal(len(programs.ask(daemon.source, 'methods', '--all')), 100,
                  'fed again, it has them all')
        daemon.kill()
    with Daemon(programs, directory, state) as daemon:
        tap.check('is damaged' not in daemon.log() and
                  len(programs.ask(daemon.source, 'methods', '--all')) == 100,
                  'and the next one, too', daemon.log())


def test(tap, programs, directory, rest):
    directory = pathlib.Path(directory)
    traces = recorded.unpack(directory, [name for name in TRACES if not rest or name in rest])
    for name, trace in traces.items():
        want = check_restart(tap, programs, directory, name, trace)
        check_kills(tap, programs, directory, name, trace, want)
    check_acknowledged(tap, programs, directory)
    check_directory(tap, programs, directory)
    check_given(tap, programs, directory)
    check_full(tap, programs, directory)
    check_lost(tap, programs, directory)
    check_damaged(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(test)
