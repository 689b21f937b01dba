# SPDX-License-Identifier: MIT
"""As many attachments as one user can have, and a hundred processes under `clrsym attach --follow`."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

from tests.daemon.test_daemon import wait_for
from tests.daemon.test_holder import Holder, NOBODY, runtimes
from tests.daemon.test_places import Fakes, OTHER
from tests.live import live
from tests.traces import recorded

# Same value as in src/attach/holder.c.
MAX_PER_USER = 256
N_MANY = 100

# Attaches the processes in its arguments one after the other, and prints each answer.
ATTACH = '''
import json, socket, sys
for pid in sys.argv[2:]:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(json.dumps({'verb': 'attach', 'pid': int(pid)}).encode() + b'\\n')
    print(connection.makefile().readline(), end='')
'''


def memory_of(pids):
    """Returns the memory in MiB; shared pages count once."""
    kib = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text(encoding='ascii')
            kib += int(re.search(r'^Pss:\s+(\d+)', text, re.M).group(1))
    return kib >> 10


def test_share(tap, programs, directory):
    """The attachments of one user do not use up all places."""
    holder = Holder(programs, directory)
    nobody = ('setpriv', f'--reuid={NOBODY}', '--clear-groups', f'--regid={NOBODY}')
    with holder.running():
        # A holder without attachments exits, and starting so many processes takes time.
        with runtimes(holder, 'early') as (kept,):
            holder.ask('attach', kept, via='eventpipe')
            with runtimes(holder, 'calm', MAX_PER_USER + 1, before=nobody) as pids:
                done = subprocess.run([*nobody, sys.executable, '-c', ATTACH, str(holder.control),
                                       *map(str, pids)], stdout=subprocess.PIPE, check=True)
                answers = [json.loads(line) for line in done.stdout.splitlines()]
                tap.check(all('pid' in answer for answer in answers[:-1]) and
                          answers[-1].get('error', {}).get('kind') == 'no-place' and
                          f'user {NOBODY} has {MAX_PER_USER} ' in answers[-1]['error']['message'],
                          f'a user can have {MAX_PER_USER} attachments', answers[-1])
                answer = holder.ask('attach', pids[-1])
                tap.check(answer.get('pid') == pids[-1], 'root can have more', answer)
        live.wait_for('the end of all attachments', lambda: not holder.ask('list')['attachments'],
                      seconds=60)


def test_hundred(tap, programs, directory):
    """A hundred processes of one user."""
    programs.environment.pop('MALLOC_PERTURB_', None)
    with recorded.Daemon(programs, directory) as daemon:
        fakes = Fakes(programs, directory, daemon, N_MANY, uid=OTHER)
        follow = fakes.start('attach', '--follow', '--user', str(OTHER))
        tap.check(wait_for(lambda: fakes.n_named() == N_MANY, 120),
                  f'{N_MANY} processes of one user: all have names',
                  [answer for pid, answer in fakes.answers().items() if not fakes.is_named(pid, answer)])
        tap.check(wait_for(lambda: sum(bool(row['fed']) for row in fakes.rows().values()) == N_MANY, 60),
                  'and all are attached', [row for row in fakes.rows().values() if not row['fed']])
        memory = memory_of([daemon.process.pid, follow.pid, *fakes.holder()])
        tap.note(f'{memory} MiB')
        tap.check(memory < 600,
                  'daemon, holder and workers together: less than 600 MiB', memory)
        follow.terminate()
        lines = follow.communicate(timeout=60)[0].splitlines()
        tap.equal([sum(f': {word}, .NET 10.0.0' in line for line in lines)
                   for word in ('attached', 'held')], [N_MANY, 0], 'each is reported as attached')
        fakes.stop()


def test(tap, programs, directory, _):
    test_share(tap, programs, directory)
    test_hundred(tap, programs, directory)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
