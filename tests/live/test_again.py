# SPDX-License-Identifier: MIT
"""A program that starts without tracing is attached, and its events are not fed for a while: the daemon, with a
user of its own, orders a rundown, and its answers are right again."""

import contextlib
import json
import os
import pathlib
import pwd
import subprocess
import time

from tests.daemon import ingest, openmetrics
from tests.live import attached, live, runtimes, test_live
from tests.live.test_attach import nothing
from tests.traces import recorded

USER = 'daemon'
PROCESSORS = sorted(os.sched_getaffinity(0))


def n_listed(feed):
    text = feed.programs.run([feed.programs.clrsym, 'metrics', *feed.daemon.source]).stdout
    return openmetrics.parse(text).get(('clrsym_again_requests_total', (('outcome', 'listed'),)), 0)


def pin(pid, processors):
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), processors)


def check_claim(tap, feed, program):
    """`clrsym attach` reports complete knowledge only if that is true."""
    row, = feed.rows('attach', program.pid)
    end = test_live.ns(row['complete'])
    feeder = ingest.Feeder(feed.daemon.ingest)
    feeder.send(ingest.hello(),
                ingest.process_gap(end - 1_000_000, end, row['vpid'], row['pid_ns']),
                ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()
    done = feed.clrsym('attach', program.pid, '--wait=0.2')
    tap.check(done.returncode == 1 and 'then attach --again' in done.stderr
              and ' complete at' not in done.stdout,
              'a gap during the rundown: attach reports it', done.stdout, done.stderr)
    row, = feed.rows('attach', '--again', program.pid)
    tap.check(test_live.ns(row['complete']) > end, 'another rundown: complete', row)


def check(tap, feed, command, directory):
    program = attached.Busy(command, directory / 'program')
    with program.running():
        row, = feed.rows('attach', program.pid)
        tap.check(row['state'] == 'attached', 'attached', row)
        feed.settle(program.pid)
        tap.equal((nothing(feed, program), n_listed(feed)), ('exact', 0),
                  'that nothing is somewhere is certain, and nobody was asked for that')
        feed.feeder.kill()
        feed.feeder.wait()
        n_before = len(program.codes())
        live.wait_for('what the program goes on with',
                      lambda: len(program.codes()) > n_before + 50, program.process)
        between = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        # The other processors emit nothing for a while, which must not delay answers.
        pin(program.pid, PROCESSORS[:1])
        feed.start_feeder()
        feed.settle(program.pid)
        pin(program.pid, PROCESSORS)
        live.wait_for('the rundown', lambda: n_listed(feed), program.process)
        feed.settle(program.pid)
        since = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        tap.equal((nothing(feed, program), nothing(feed, program, between), n_listed(feed)),
                  ('exact', 'gap', 1),
                  'the daemon has ordered a rundown: certain, but for the time without a feeder')
        time.sleep(1)
        program.freeze()
        attached.check_now(tap, feed, program, 'by its own order')
        attached.check_printed(tap, feed, program, since, 'by its own order')
        check_claim(tap, feed, program)
        feed.rows('detach', program.pid)


def test_runtime(tap, programs, command, directory):
    holder, config = directory / 'holder', directory / 'clrsymd.conf'
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(holder)
    config.write_text(f'[Daemon]\nAttachAgain=10min\nHolder={holder}/control\n', encoding='utf-8')
    daemon = recorded.Daemon(programs, directory, '--config', config, prefix=[
        'setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups'])
    os.chown(daemon.directory, *pwd.getpwnam(USER)[2:4])
    feed = attached.Feed(programs, directory, 'clrsym-again', daemon)
    with feed.running():
        program = pathlib.Path(programs.clrsymd).parents[1] / 'attach' / 'clrsym-holder'
        with live.child([program, '--directory', holder, '--ingest', daemon.ingest,
                         '--daemon-user', USER], stderr=subprocess.DEVNULL) as process:
            live.wait_for('the holder', (holder / 'control').exists, process)
            check(tap, feed, command, directory)
        status = json.loads(programs.ask(daemon.source, 'status')[0])
        tap.equal(status['discarded_events'], 0, 'the tracer lost nothing')


def test(tap, programs, directory, _):
    if os.geteuid() != 0:
        tap.skip('the daemon of a user of its own', 'needs root')
        return
    for _, command, place in runtimes.runs(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        test_runtime(tap, programs, command, place)


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
