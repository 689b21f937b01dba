# SPDX-License-Identifier: MIT
"""More feeders than places: which feeders wait, which do not, and where the user sees this.

test_places.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile

from tests.daemon import ingest
from tests.daemon.test_daemon import Client, wait_for
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
# A user other than root, and the user's share in a daemon with eight places.
OTHER, SHARE = 23456, 2


def feeder(daemon, pid):
    """Feeds one process with a trace of its own and one method."""
    made = ingest.Feeder(daemon.ingest, timeout=20)
    made.send(ingest.hello(), ingest.stream_open(uuid=b'%016d' % pid, scheme=2, pid=pid, uid=0),
              ingest.load(10, 0x1000 * pid, pid=pid), ingest.commit())
    return made


def is_answered(made, seconds=0.5):
    return bool(select.select([made.socket], [], [], seconds)[0])


def status(daemon):
    client = Client(daemon.query)
    client.ask('Status')
    answer = client.reply()['parameters']
    client.close()
    return answer


def configured(directory, text):
    config = pathlib.Path(directory) / 'places.conf'
    config.write_text('[Daemon]\n' + text, encoding='utf-8')
    return '--config', config


def test_waiting(tap, programs, directory):
    with recorded.Daemon(programs, directory, *configured(directory, 'MaxFeeders=2\n')) as daemon:
        fed = [feeder(daemon, pid) for pid in (1, 2)]
        for made in fed:
            made.receive_until(ingest.COMMITTED)
        late = [feeder(daemon, pid) for pid in (3, 4)]
        tap.check(not any(map(is_answered, late)), 'those beyond the limit are not greeted')
        got = status(daemon)
        tap.equal([got[key] for key in ('feeders_connected', 'feeders_waiting', 'feeders_max')],
                  [2, 2, 2], 'the status has how many wait')
        metrics = programs.run([programs.clrsym, 'metrics', '--socket', daemon.query]).stdout
        tap.check(re.search(r'^clrsym_waiting_feeders 2$', metrics, re.M)
                  and re.search(r'^clrsym_feeders_limit 2$', metrics, re.M),
                  'and so have the metrics', metrics)
        tap.check(re.search(r'warning: MaxFeeders=2 is reached: \d feeders wait.* raise MaxFeeders=',
                            daemon.log()), 'the log has what to set', daemon.log())

        gap = ingest.Feeder(daemon.ingest, timeout=20)
        gap.send(ingest.hello(), ingest.process_gap(20, 30, pid=1), ingest.commit())
        tap.check(gap.receive_until(ingest.COMMITTED), 'the gap of a process needs no place')
        gap.close()

        fed[0].close()
        late[0].receive_until(ingest.COMMITTED)
        tap.check(not is_answered(late[1]), 'the first that waits gets the place that is free')
        fed[1].close()
        late[1].receive_until(ingest.COMMITTED)
        tap.equal(status(daemon)['processes'], 4, 'and then the next')
        for made in late:
            made.close()

        # A waiting feeder that disconnects leaves nothing.
        fed = [feeder(daemon, pid) for pid in (5, 6)]
        for made in fed:
            made.receive_until(ingest.COMMITTED)
        for _ in range(300):
            feeder(daemon, 7).close()
        tap.check(wait_for(lambda: status(daemon)['feeders_waiting'] == 0), 'nobody waits any more')
        for made in fed:
            made.close()


# Feeds processes 100, 101, ... from connections of one user, and prints the acknowledged ones.
CROWD = '''
import os, select, sys
from tests.daemon.test_places import feeder
class Daemon:
    ingest = sys.argv[1]
made = [feeder(Daemon, 100 + i) for i in range(int(sys.argv[2]))]
print(sum(bool(select.select([one.socket], [], [], 1)[0]) for one in made), flush=True)
sys.stdin.readline()
'''


def test_share(tap, programs, directory):
    with recorded.Daemon(programs, directory, *configured(directory, 'MaxFeeders=8\n')) as daemon:
        for path, mode in ((directory, 0o755), (daemon.directory, 0o755), (daemon.ingest, 0o666)):
            os.chmod(path, mode)
        crowd = subprocess.Popen(
            [sys.executable, '-B', '-c', CROWD, str(daemon.ingest), '6'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=OTHER, group=OTHER, extra_groups=[])
        tap.equal(int(crowd.stdout.readline()), SHARE, 'one user has a quarter of the places')
        tap.check(re.search(rf'user {OTHER} has 2 feeders, a quarter of MaxFeeders=8', daemon.log()),
                  'the log says which user waits', daemon.log())
        own = [feeder(daemon, pid) for pid in range(1, 7)]
        for made in own:
            made.receive_until(ingest.COMMITTED)
        tap.equal(status(daemon)['feeders_connected'], 8, 'root has the others')
        crowd.communicate(b'\n', timeout=60)
        for made in own:
            made.close()


def test_default(tap, programs, directory):
    """As many processes as the holder can hold, and the memory of the daemon."""
    # MALLOC_PERTURB_ would touch memory that is only reserved.
    programs.environment.pop('MALLOC_PERTURB_', None)
    with recorded.Daemon(programs, directory) as daemon:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        fed = [feeder(daemon, pid) for pid in range(1, 1025)]
        for made in fed:
            made.receive_until(ingest.COMMITTED)
        tap.equal(status(daemon)['processes'], 1024, 'a thousand feeders have their places')
        text = pathlib.Path(f'/proc/{daemon.process.pid}/status').read_text(encoding='ascii')
        rss = int(re.search(r'VmRSS:\s+(\d+)', text).group(1)) >> 10
        tap.note(f'VmRSS {rss} MiB')
        tap.check('LD_PRELOAD' in os.environ or rss < 48, 'which take little memory', rss)
        for made in fed:
            made.close()


class Fakes:
    """Small processes that behave as runtimes, and `clrsym` with their holder and daemon."""

    def __init__(self, programs, directory, daemon, count, uid=0, holder=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
        os.chmod(directory, 0o755)
        os.chown(self.directory, uid, uid)
        self.programs = programs
        self.holder_directory = holder or self.directory / 'holder'
        self.environment = {**programs.environment, 'CLRSYM_HOLDER': str(self.holder_directory)}
        self.choose(daemon)
        self.holder_directory.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, '-B', HERE / 'fake_runtime.py', self.directory, str(count)],
            stdout=subprocess.PIPE, text=True, user=uid, group=uid, extra_groups=[],
            env={**os.environ, 'TMPDIR': str(self.directory)}, start_new_session=True)
        words = [self.process.stdout.readline().split() for _ in range(count)]
        self.methods = {int(pid): address for pid, address in words}

    def choose(self, daemon):
        """Makes the daemon the subject of the following calls."""
        self.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}

    def clrsym(self, *arguments, **options):
        return self.programs.run([self.programs.clrsym, *arguments], env=self.environment, **options)

    def start(self, *arguments):
        return subprocess.Popen([self.programs.clrsym, *arguments], env=self.environment,
                                stdout=subprocess.PIPE, text=True)

    def answers(self):
        """Returns pid -> answer about the method of the process."""
        asked = ''.join(f'{pid} {address}\n' for pid, address in self.methods.items())
        lines = self.clrsym('resolve', '--json', text=asked).stdout.splitlines()
        return dict(zip(self.methods, map(json.loads, lines)))

    @staticmethod
    def is_named(pid, answer):
        return (answer.get('symbol') or '').startswith(f'Fake.Program.Of{pid}(')

    def n_named(self):
        return sum(self.is_named(pid, answer) for pid, answer in self.answers().items())

    def rows(self):
        lines = self.clrsym('attach', '--list', '--json').stdout.splitlines()
        return {row['pid']: row for row in map(json.loads, lines)}

    def holder(self):
        """Returns the pids of the holder and its workers."""
        found = []
        for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b'\0')
                if words[0].endswith(b'clrsym-holder') and str(self.holder_directory).encode() in b' '.join(words):
                    found.append(int(path.parent.name))
        return found

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_for(lambda: not self.rows(), 60)


def test_held(tap, programs, directory):
    """More processes than places."""
    with recorded.Daemon(programs, directory, *configured(directory, 'MaxFeeders=4\n')) as daemon:
        fakes = Fakes(programs, directory, daemon, 6)
        done = fakes.clrsym('attach', *map(str, fakes.methods))
        listed = [row for row in map(json.loads, fakes.clrsym('ps', '--json').stdout.splitlines())
                  if row['pid'] in fakes.methods]
        tap.check(len(listed) == 4 and all(row['runtime'] == '10.0.0' and 'fake_runtime.py' in row['command']
                                           for row in listed),
                  'the daemon knows from the holder what each process is', listed)
        tap.equal([done.stdout.count(word) for word in (': attached', ': held')], [4, 2],
                  'what the daemon has no place for is not attached')
        tap.check(done.returncode == 1 and done.stderr.count('see MaxFeeders= in clrsymd.conf') == 2,
                  'and the reason is printed', done.returncode, done.stderr)
        rows = fakes.rows()
        fed = [pid for pid, row in rows.items() if row['fed']]
        tap.equal([len(rows), len(fed), fakes.n_named()], [6, 4, 4], 'four have names')

        for pid in fed[:2]:
            os.kill(pid, signal.SIGKILL)
        tap.check(wait_for(lambda: sum(row['fed'] for row in fakes.rows().values()) == 4, 60),
                  'those that waited follow', fakes.rows())
        tap.check(wait_for(lambda: fakes.n_named() == 6), 'and have their names', fakes.answers())
        fakes.stop()


def test_gap(tap, programs, directory):
    """A worker is killed while all places are taken."""
    with recorded.Daemon(programs, directory, *configured(directory, 'MaxFeeders=3\n')) as daemon:
        fakes = Fakes(programs, directory, daemon, 3)
        fakes.clrsym('attach', *map(str, fakes.methods))
        others = [feeder(daemon, pid) for pid in (1, 2, 3)]
        pids = fakes.holder()
        workers = [pid for pid in pids if pathlib.Path(f'/proc/{pid}/comm').read_text(
            encoding='ascii').strip() == 'clrsym-worker']
        tap.equal(len(workers), 3, 'three workers')
        os.kill(workers[0], signal.SIGKILL)
        tap.check(wait_for(lambda: [answer['confidence'] for answer in fakes.answers().values()]
                           .count('exact') == 2, 30),
                  'its gap is known, although others wait', fakes.answers())
        for made in others:
            made.close()
        fakes.stop()


def test_destinations(tap, programs, directory):
    """Two daemons of one user, and one holder: the events of a process go to the daemon that it
    was attached for."""
    directory = pathlib.Path(directory)
    places = [directory / name for name in ('one', 'two', 'shared')]
    for place in places:
        place.mkdir()
    with recorded.Daemon(programs, str(places[1])) as two:
        with recorded.Daemon(programs, str(places[0])) as one:
            all_fakes = [Fakes(programs, str(directory), daemon, 2, holder=places[2]) for daemon in (one, two)]
            for fakes in all_fakes:
                done = fakes.clrsym('attach', *map(str, fakes.methods))
                tap.equal([done.returncode, fakes.n_named()], [0, 2], 'two daemons: the events go where they should')
            tap.equal([status(daemon)['processes'] for daemon in (one, two)], [2, 2], 'and not to the other')
            holders = all_fakes[0].holder()
            rows = all_fakes[0].rows()
            tap.equal({rows[pid]['ingest'] for pid in all_fakes[0].methods}, {str(one.ingest)},
                      'the list has the destination')
        # The first daemon has exited. The test attaches its processes for the other daemon, too.
        all_fakes[0].choose(two)
        moved = next(iter(all_fakes[0].methods))
        done = all_fakes[0].clrsym('attach', str(moved))
        tap.equal([done.returncode, all_fakes[0].n_named()], [0, 1],
                  'after its daemon has ended, a process is attached for another')
        main = min(holders)
        os.kill(main, signal.SIGKILL)
        tap.check(wait_for(lambda: not pathlib.Path(f'/proc/{main}/exe').exists(), 20), 'the holder is killed')
        done = all_fakes[1].clrsym('attach', *map(str, all_fakes[1].methods))
        tap.equal([done.returncode, all_fakes[1].n_named()], [0, 2], 'a later holder continues with each')
        tap.equal({row['ingest'] for row in all_fakes[1].rows().values()}, {str(one.ingest), str(two.ingest)},
                  'for its daemon')
        for fakes in all_fakes:
            os.killpg(fakes.process.pid, signal.SIGKILL)
            fakes.process.wait()
        tap.check(wait_for(lambda: not all_fakes[0].holder(), 60), 'it ends after its last attachment')
        # The holder keeps the process gaps for the first daemon until that daemon returns.
        left = {path.read_text(encoding='utf-8') for path in places[2].glob('to-*/ingest')}
        tap.equal(left, {str(one.ingest)}, 'and leaves nothing for the daemon that has all')


def test(tap, programs, directory, _):
    test_waiting(tap, programs, directory)
    test_share(tap, programs, directory)
    test_default(tap, programs, directory)
    test_held(tap, programs, directory)
    test_gap(tap, programs, directory)
    test_destinations(tap, programs, directory)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
