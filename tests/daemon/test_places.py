# SPDX-License-Identifier: MIT
"""More feeders than there are places: which wait, which do not, and where that shows.

test_places.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import os
import pathlib
import re
import resource
import select
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'traces'))

import ingest  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
from test_daemon import Client, wait_for  # pylint: disable=wrong-import-position

# A user other than root, and its share in a daemon with room for eight.
OTHER, SHARE = 23456, 2


def feeder(daemon, pid):
    """One process of its own trace, with one method."""
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

        # A feeder that waits and goes away leaves nothing.
        fed = [feeder(daemon, pid) for pid in (5, 6)]
        for made in fed:
            made.receive_until(ingest.COMMITTED)
        for _ in range(300):
            feeder(daemon, 7).close()
        tap.check(wait_for(lambda: status(daemon)['feeders_waiting'] == 0), 'nobody waits any more')
        for made in fed:
            made.close()


# Feeds processes 100, 101, ... from a user's connections, and prints which were acknowledged.
CROWD = '''
import os, select, sys
sys.path.insert(0, sys.argv[1])
import ingest
sys.path.insert(0, sys.argv[2])
from test_places import feeder
class Daemon:
    ingest = sys.argv[3]
made = [feeder(Daemon, 100 + i) for i in range(int(sys.argv[4]))]
print(sum(bool(select.select([one.socket], [], [], 1)[0]) for one in made), flush=True)
sys.stdin.readline()
'''


def test_share(tap, programs, directory):
    with recorded.Daemon(programs, directory, *configured(directory, 'MaxFeeders=8\n')) as daemon:
        for path, mode in ((directory, 0o755), (daemon.directory, 0o755), (daemon.ingest, 0o666)):
            os.chmod(path, mode)
        here = pathlib.Path(__file__).resolve().parent
        crowd = subprocess.Popen(
            [sys.executable, '-B', '-c', CROWD, here, here, str(daemon.ingest), '6'],
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
    """As many as the holder can hold, and the memory of the daemon with them."""
    # It would touch all memory that is only reserved.
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
        tap.check(os.environ.get('CLRSYM_TEST_PRELOAD') or rss < 48, 'which take little memory', rss)
        for made in fed:
            made.close()


def test(tap, programs, directory, _):
    test_waiting(tap, programs, directory)
    test_share(tap, programs, directory)
    test_default(tap, programs, directory)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
