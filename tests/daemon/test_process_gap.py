# SPDX-License-Identifier: MIT
"""A feeder reports a process gap: the answers, the listed gaps, and the same in the next daemon."""

import json
import os
import pathlib
import struct

from tests.daemon import ingest
from tests.daemon.traceserver import wait_for
from tests.traces import recorded

STILL = None
SECOND = 10**9


def feed(daemon, *frames):
    """Feeds on a connection of its own, which stays open; returns when the daemon has
    acknowledged or refused the frames."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), *frames, ingest.commit())
    while (got := feeder.receive())[0] not in (ingest.COMMITTED, ingest.ERROR):
        pass
    return feeder, got[1][4:].decode()


def tell(daemon, begin, end, **options):
    feeder, reason = feed(daemon, ingest.process_gap(begin, end, **options))
    feeder.close()
    return reason


class Asker:
    def __init__(self, programs, daemon):
        self.programs, self.daemon = programs, daemon

    def ask(self, verb, *arguments, **options):
        return [json.loads(line) for line in
                self.programs.ask(self.daemon.source, verb, *arguments, **options)]

    def answers(self, *questions):
        """Returns (status, confidence) for each (address, time in seconds or None)."""
        text = ''.join(f'{address:#x} {"-" if when is None else when * SECOND}\n'
                       for address, when in questions)
        return [(answer['status'], answer['confidence'])
                for answer in self.ask('resolve', '--pid', '100', text=text)]

    def gaps(self):
        """Returns the listed gaps."""
        row, = self.ask('ps', '--pid', '100')
        status, = self.ask('status')
        return row['gap_since'], status['silent_processes']


def complete_rundown(begin, *addresses):
    """Returns a complete rundown in the second from BEGIN on."""
    return (ingest.record(begin * SECOND, 148, struct.pack('<H', 0), version=1, provider=1),
            *(ingest.rundown(begin * SECOND + 1 + i, address)
              for i, address in enumerate(addresses)),
            ingest.record((begin + 1) * SECOND, 146, struct.pack('<H', 0), version=1, provider=1))


QUESTIONS = ((0x1000, 15), (0x1000, 35), (0x1000, None), (0x9000, 15), (0x9000, 35))


def test_one(tap, asker, daemon):
    feeder, _ = feed(daemon, ingest.stream_open(), ingest.runtime_start(SECOND),
                     ingest.body(10 * SECOND, 0x1000), ingest.body(11 * SECOND, 0x2000),
                     ingest.progress(100 * SECOND))
    tap.equal(asker.answers(*QUESTIONS), [('ok', 'exact')] * 3 + [('no-method', 'exact')] * 2,
              'everything was reported: all is exact')
    tap.equal(asker.gaps(), (None, 0), 'and no gap is shown')
    tap.equal(tell(daemon, 20 * SECOND, STILL), '', 'it is silent from now on')
    tap.equal(asker.answers(*QUESTIONS),
              [('ok', 'exact'), ('ok', 'gap'), ('ok', 'gap'), ('no-method', 'exact'),
               ('no-method', 'gap')], 'then nothing after that is sure')
    tap.equal(asker.gaps(), ('20.000000000', 1), 'ps and status show it')
    return feeder


def test_restart(tap, asker, feeder):
    """The daemon was killed; the next one has all acknowledged data."""
    tap.equal(asker.gaps(), ('20.000000000', 1), 'killed and started again: it is still silent')
    tap.equal(asker.answers(*QUESTIONS)[1:3], [('ok', 'gap')] * 2, 'and answers say so')
    feeder.close()
    tap.equal(tell(asker.daemon, 40 * SECOND, 40 * SECOND), '', 'it is not silent any more')
    tap.equal(asker.gaps(), (None, 0), 'that shows')
    feeder, _ = feed(asker.daemon, ingest.stream_open(), ingest.progress(100 * SECOND),
                     *complete_rundown(120, 0x1000, 0x3000), ingest.progress(200 * SECOND))
    tap.equal(asker.answers((0x1000, 30), (0x1000, 150), (0x1000, None), (0x3000, 150),
                            (0x3000, 30), (0x2000, 30), (0x2000, 150), (0x9000, 30), (0x9000, 150)),
              [('ok', 'gap'), ('ok', 'exact'), ('ok', 'exact'), ('ok', 'exact'), ('ok', 'gap'),
               ('ok', 'gap'), ('unloaded', 'exact'), ('no-method', 'gap'), ('no-method', 'exact')],
              'everything is listed: from then on all is exact again, in between it is not')
    return feeder


def test_refused(tap, asker, daemon):
    """An invalid report is refused with a reason, and changes nothing."""
    before = asker.gaps()
    for what, frame in (('that ends before it begins', ingest.process_gap(6, 5)),
                        ('cut short', ingest.frame(ingest.PROCESS_GAP, bytes(27))),
                        ('with a byte too many', ingest.frame(ingest.PROCESS_GAP, bytes(29)))):
        feeder, reason = feed(daemon, ingest.process_gap(50, STILL), frame)
        feeder.close()
        tap.check('malformed' in reason, f'a gap {what} is refused', reason)
    tap.equal(asker.gaps(), before, 'and nothing of its batch was taken')
    for pid in range(2000):
        if pid % 500 == 0:
            tell(daemon, 5, STILL, pid=10_000 + pid)
    feeder, reason = feed(daemon, *(ingest.process_gap(i, STILL if i % 3 else i + 7, pid=i % 7919)
                                    for i in range(1, 20_000) if i % 7919 != 100))
    feeder.close()
    tap.equal((reason, asker.gaps()), ('', before), 'thousands of processes that nobody knows')


def test_users(tap, daemon):
    """A user without permission to feed may not report a process gap either."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            tell(daemon, 1, STILL)
            os._exit(1)
        except PermissionError:
            os._exit(0)
        except BaseException:  # pylint: disable=broad-except
            os._exit(2)
    _, status = os.waitpid(child, 0)
    tap.equal(os.waitstatus_to_exitcode(status), 0, 'another user cannot report it')


def test(tap, programs, directory, _):
    state = pathlib.Path(directory) / 'state'
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        feeder = test_one(tap, Asker(programs, daemon), daemon)
        daemon.process.kill()
        daemon.process.wait()
    with recorded.Daemon(programs, directory, '--state', state) as daemon:
        wait_for(lambda: programs.run([programs.clrsym, 'status', *daemon.source]).returncode == 0)
        asker = Asker(programs, daemon)
        feeder = test_restart(tap, asker, feeder)
        test_refused(tap, asker, daemon)
        if os.geteuid() == 0:
            os.chmod(daemon.directory, 0o755)
            test_users(tap, daemon)
        feeder.close()


if __name__ == '__main__':
    recorded.main(test)
