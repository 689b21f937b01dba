# SPDX-License-Identifier: MIT
"""`clrsym record -a` with processes that only pretend to be .NET runtimes: it records nevertheless,
and obeys signals at each moment. The test runs in namespaces of its own, so that the command
finds no other processes.

test_record_hostile.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import types

from tests.daemon.test_holder import NOBODY, runtimes
from tests.daemon.test_holder_ports import as_user
from tests.live import alone, live
from tests.traces import recorded

N_HOSTILE = 8
# s; much less than the listing of a hostile process takes (150), and much more than a recording.
WATCHDOG = 100


@contextlib.contextmanager
def recording(programs, place, *arguments):
    place.mkdir()
    environment = {**programs.environment, 'TMPDIR': str(place), 'HOME': str(place)}
    with live.child([programs.clrsym, 'record', '-a', '-o', place / 'a.folded', *arguments], cwd=place,
                    env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        yield process


def has(place, pattern):
    return any(place.glob(f'clrsym-*/**/{pattern}'))


def end(process):
    """Returns (status, errors)."""
    _, errors = process.communicate(timeout=WATCHDOG)
    return process.returncode, errors.decode()


def test_time(tap, programs, place):
    with recording(programs, place, '-d', '2') as process:
        code, errors = end(process)
    tap.check(code == 0 and 'not attached yet' in errors and (place / 'a.folded').exists(),
              f'{N_HOSTILE} processes whose listings do not end: the machine is recorded meanwhile', code, errors)
    tap.equal([path.name for path in place.glob('clrsym-*')], [], 'nothing is left')


def test_signal(tap, programs, place, moment):
    """Sends SIGINT when a file matches MOMENT."""
    with recording(programs, place) as process:
        live.wait_for(f'the file {moment}', lambda: has(place, moment), process)
        process.send_signal(signal.SIGINT)
        code, errors = end(process)
    is_early = code == 1 and errors.endswith('clrsym: interrupted before anything was recorded\n')
    tap.check(is_early or (code in (0, 128 + signal.SIGINT) and (place / 'a.folded').exists()),
              f'SIGINT when there is {moment}: it ends', code, errors)
    tap.equal([path.name for path in place.glob('clrsym-*')], [], 'nothing is left')


def test_signal_at_end(tap, programs, place):
    """Sends SIGINT after the recording, while the command waits for the end of the sessions."""
    with recording(programs, place, '-d', '1') as process:
        live.wait_for('perf', lambda: 'perf' in children(process.pid), process)
        live.wait_for('the end of perf', lambda: 'perf' not in children(process.pid), process)
        process.send_signal(signal.SIGINT)
        live.wait_for('the end of the holder', lambda: 'clrsym-holder' not in children(process.pid), seconds=8)
        tap.check(True, 'SIGINT while its sessions are to end: they are not waited for')
        end(process)


def children(pid):
    with contextlib.suppress(OSError):
        numbers = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()
        return [pathlib.Path(f'/proc/{number}/comm').read_text(encoding='utf-8').strip() for number in numbers]
    return []


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    directory.chmod(0o755)
    with runtimes(types.SimpleNamespace(directory=directory), 'creep', N_HOSTILE, before=as_user(NOBODY)):
        test_time(tap, programs, directory / 'time')
        # The command waits for its services, for the processes, for perf, and for samples.
        for i, moment in enumerate(('query', 'holder/control', 'perf.log', 'perf.data')):
            test_signal(tap, programs, directory / f'signal-{i}', moment)
        test_signal_at_end(tap, programs, directory / 'end')


def missing():
    if os.geteuid() != 0:
        return 'it takes root to be others'
    return None if shutil.which('perf') else 'no perf on PATH'


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), missing)
