# SPDX-License-Identifier: MIT
"""`clrsym attach --all --follow` with many processes of one user that only pretend to be .NET
runtimes: processes of another user are attached nevertheless. The test runs in namespaces of its
own, so that the command finds no other processes.

test_follow.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import json
import os
import pathlib
import subprocess

from tests.daemon.test_holder import Holder, NOBODY, python, runtimes
from tests.daemon.test_holder_ports import OTHER, as_user
from tests.live import alone, live
from tests.traces import recorded


# More than the command attaches at a time, for one user and for all.
N_HOSTILE = 40
# s; a hostile process keeps its place longer.
WATCHDOG = 8
N_MAPPERS, N_MAPPINGS = 30, 60000

# Maps so many pages that reading the list of mappings is slow, and waits.
MAPPER = '''
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
path = os.path.join(sys.argv[1], 'x' * 200)
open(path, 'wb').write(bytes(4096))
fd = os.open(path, os.O_RDONLY)
for i in range(int(sys.argv[3])):
    libc.mmap(None, 4096, 1 + i % 2 * 4, 2, fd, 0)
for i in range(int(sys.argv[2]) - 1):
    if os.fork() == 0:
        break
else:
    print('READY', flush=True)
time.sleep(600)
'''


class Follower:
    """The command, while it runs."""

    def __init__(self, process, directory):
        self.process, self.directory = process, directory

    def attached(self):
        return {json.loads(line)['pid'] for line in (self.directory / 'output').read_text().splitlines()
                if '"state":"failed"' not in line.replace(' ', '')}

    def errors(self):
        return (self.directory / 'errors').read_text()

    def wait_for(self, pids, seconds):
        """Returns False if the processes are not attached within SECONDS."""
        with contextlib.suppress(RuntimeError):
            return bool(live.wait_for('the attachments', lambda: self.attached() >= set(pids), self.process, seconds))
        return False


@contextlib.contextmanager
def following(programs, holder, *options, before=()):
    with open(holder.directory / 'output', 'wb') as output, open(holder.directory / 'errors', 'wb') as errors, \
         live.child([*before, programs.clrsym, 'attach', '--all', '--follow', '--json', *options], stdout=output,
                    stderr=errors, env={**programs.environment, 'CLRSYM_HOLDER': str(holder.directory)}) as process:
        yield Follower(process, holder.directory)


@contextlib.contextmanager
def holding(programs, directory, name, **variables):
    place = pathlib.Path(directory) / name
    place.mkdir()
    place.chmod(0o755)
    holder = Holder(programs, place)
    with holder.running(**variables):
        yield holder


def victims(holder, follower, count=2):
    """Returns True if processes of another user, started one after the other, are attached in
    time."""
    with contextlib.ExitStack() as stack:
        for i in range(count):
            pids = stack.enter_context(runtimes(holder, 'calm', place=f'victim-{i}', before=as_user(OTHER)))
            if not follower.wait_for(pids, WATCHDOG):
                return False
    return True


def test_hostile(tap, programs, directory, mode, words):
    with holding(programs, directory, mode) as holder, \
         runtimes(holder, mode, N_HOSTILE, place='hostile', before=as_user(NOBODY)), \
         following(programs, holder) as follower:
        live.wait_for('all places of a user', lambda: len(holder.ask('list')['attachments']) >= 8)
        tap.check(victims(holder, follower), f'{N_HOSTILE} processes of one user, {mode}: those of another one are '
                  'attached at once', follower.errors())
        live.wait_for('the report', lambda: words in follower.errors(), follower.process)
        tap.check(victims(holder, follower), f'also after the command has printed: {words}', follower.errors())


def test_places(tap, programs, directory):
    with holding(programs, directory, 'places', CLRSYM_MAX_ATTACHMENTS='32') as holder, \
         runtimes(holder, 'calm', N_HOSTILE, place='hostile', before=as_user(NOBODY)), \
         following(programs, holder) as follower:
        live.wait_for('the limit', lambda: f'user {NOBODY} has 14 ' in follower.errors(), follower.process)
        tap.check(victims(holder, follower), f'{N_HOSTILE} processes of a user for 28 places: there is one for another '
                  'user', follower.errors())
        with runtimes(holder, 'calm', place='own') as pids:
            tap.check(follower.wait_for(pids, WATCHDOG), 'and for root', follower.errors())
        tap.equal(follower.errors().count('CLRSYM_MAX_ATTACHMENTS'), 1, 'who has reached the limit is printed once')


def test_maps(tap, programs, directory):
    with holding(programs, directory, 'maps') as holder, \
         runtimes(holder, 'early', place='kept') as kept, \
         python(MAPPER, directory, N_MAPPERS, N_MAPPINGS, before=as_user(NOBODY)) as words, \
         following(programs, holder) as follower:
        tap.check(words == ['READY'] and follower.wait_for(kept, 4 * WATCHDOG) and victims(holder, follower),
                  f'{N_MAPPERS} processes of a user that map {N_MAPPINGS} files: those of another one are attached',
                  follower.errors())


def test_hidden(tap, programs, directory):
    """In a container, the kernel may show only mappings of processes of the same user."""
    # Since Linux 6.14, CAP_PERFMON and CAP_SYS_ADMIN permit reading the mappings, too.
    before = 'setpriv', '--bounding-set=-sys_ptrace,-sys_admin,-perfmon'
    with holding(programs, directory, 'hidden') as holder, \
         runtimes(holder, 'calm', place='others', before=as_user(NOBODY)), \
         following(programs, holder, before=before) as follower:
        with runtimes(holder, 'calm', place='own', before=before) as pids:
            tap.check(follower.wait_for(pids, WATCHDOG), 'root without CAP_SYS_PTRACE: attached', follower.errors())
        tap.equal(follower.errors().count(f'user {NOBODY}: the kernel does not show'), 1,
                  'those of another user are not, which is printed once')
        once = subprocess.run([*before, programs.clrsym, 'attach', '--all'], stdin=subprocess.DEVNULL, check=False,
                              stderr=subprocess.PIPE, text=True, env={**programs.environment,
                                                                      'CLRSYM_HOLDER': str(holder.directory)})
        tap.check(once.returncode and 'the kernel does not show' in once.stderr,
                  'without --follow, too', once.stderr)


def test(tap, programs, directory, _):
    os.chmod(directory, 0o777)
    test_hostile(tap, programs, directory, 'creep', 'other processes are tried')
    test_hostile(tap, programs, directory, 'mute', 'does not answer')
    test_places(tap, programs, directory)
    test_maps(tap, programs, directory)
    test_hidden(tap, programs, directory)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test),
                lambda: None if os.geteuid() == 0 else 'it takes root to be others')
