# SPDX-License-Identifier: MIT
"""A hundred processes of one user that behave as .NET runtimes, in one continuous recording of the
machine: each interval has the names of all processes. The test runs in namespaces of its own.

test_record_hundred.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import os
import pathlib
import re
import signal
import subprocess
import sys

from tests.daemon.test_crowds import memory_of
from tests.daemon.test_holder import NOBODY
from tests.daemon.test_holder_ports import as_user
from tests.daemon.test_record_hostile import missing
from tests.live import alone, live
from tests.profile import readers
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
N = 100
INTERVAL = 5  # s
SLOW = 240  # s, on a busy machine
# Hz. On a busy machine a process has the CPU for some milliseconds in an interval.
FREQUENCY = 499
# Consecutive intervals with all names.
N_INTERVALS = 3


def descendants(pid):
    found = []
    for path in pathlib.Path(f'/proc/{pid}/task').glob('*/children'):
        for child in path.read_text(encoding='ascii').split():
            found += [int(child), *descendants(child)]
    return found


def is_ours(pid):
    return pathlib.Path(f'/proc/{pid}/comm').read_text(encoding='utf-8').startswith('clrsym')


def names_of(profile):
    return {found.group(0) for stack, _, _ in profile.samples for name, _ in stack
            for found in [re.search(r'\bOf\d+', name)] if found}


def names_by_profile(out):
    """Returns the names in the finished profiles, in order."""
    return [names_of(readers.Pprof(path)) for path in sorted(out.glob('*.pb.gz'))]


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    directory.chmod(0o755)
    shared, out = directory / 'runtimes', directory / 'out'
    shared.mkdir()
    shared.chmod(0o777)
    out.mkdir()
    environment = {**programs.environment, 'TMPDIR': str(shared)}
    environment.pop('MALLOC_PERTURB_', None)
    with live.child([*as_user(NOBODY), sys.executable, '-B', HERE / 'fake_runtime.py', shared, N],
                    env=environment, stdout=subprocess.PIPE, text=True) as fakes:
        wanted = {f'Of{fakes.stdout.readline().split()[0]}' for _ in range(N)}
        with live.child([programs.clrsym, 'record', '-a', '-F', FREQUENCY, '--every', INTERVAL, '-o', out], cwd=directory,
                        env=environment, stdout=subprocess.DEVNULL) as recorder:
            # The time until all processes are attached depends on the machine.
            live.wait_for('an interval with all names', lambda: any(wanted <= names for names in names_by_profile(out)),
                          recorder, SLOW)
            n_first = next(i for i, names in enumerate(names_by_profile(out)) if wanted <= names)
            live.wait_for('more intervals', lambda: len(names_by_profile(out)) >= n_first + N_INTERVALS, recorder, SLOW)
            memory = memory_of(filter(is_ours, [recorder.pid, *descendants(recorder.pid)]))
            recorder.send_signal(signal.SIGINT)
            recorder.wait(SLOW)
    tap.equal(recorder.returncode, 0, 'it ends at Ctrl-C')
    tap.equal([sorted(wanted - names) for names in names_by_profile(out)[n_first:n_first + N_INTERVALS]],
              [[]] * N_INTERVALS, f'each interval has the names of all {N} processes')
    tap.note(f'{memory} MiB')
    tap.check('LD_PRELOAD' in os.environ or memory < 600,
              'recording, daemon, holder and workers together: less than 600 MiB', memory)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), missing)
