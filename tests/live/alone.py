# SPDX-License-Identifier: MIT
"""Namespaces for a test: without session daemon and relay daemon, with its own loopback device and its own pids. No
process in them outlives the test."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

from tests.live import live, runtimes

INSIDE = 'CLRSYM_TEST_ALONE'
# .NET keeps the named mutexes of programs there, with the pids of their owners, which are wrong in another pid
# namespace. `dotnet build` needs a mutex.
MUTEXES = '/tmp/.dotnet'
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']


def mount(*arguments):
    subprocess.run(('mount',) + arguments, check=True)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, SIOCSIFFLAGS, struct.pack('16sh14x', b'lo', IFF_UP))


def set_up():
    mount('-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', '/dev/shm')
    mount('-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/run')
    for part in MUTEXES, MUTEXES + '/shm':
        if not os.path.isdir(part):
            os.makedirs(part, exist_ok=True)
            os.chmod(part, 0o777)
    mount('-t', 'tmpfs', '-o', 'mode=777', 'tmpfs', MUTEXES + '/shm')
    os.makedirs('/run/lttng-home', 0o700)
    # There is no network here: only runtimes that were fetched before can be used.
    os.environ['NUGET_PACKAGES'] = str(runtimes.nuget.kept())
    os.environ['LTTNG_HOME'] = '/run/lttng-home'
    os.environ['HOME'] = '/run/lttng-home'
    os.environ.pop('XDG_RUNTIME_DIR', None)
    os.environ.pop('XDG_STATE_HOME', None)
    loopback_up()


def enter(run, missing=None):
    """Calls RUN in the namespaces. Skips if MISSING returns a reason, or if namespaces are not permitted."""
    if os.environ.get(INSIDE) == 'yes':
        live.end_orderly()
        set_up()
        run()
        return
    reason = next((f'no {name} on PATH' for name in ('lttng-sessiond', 'lttng-relayd', 'unshare')
                   if not shutil.which(name)), None)
    reason = reason or (missing() if missing else None)
    # LeakSanitizer's helper of a process whose children get other pids would not find it. Inside, what
    # the test starts has it again (tests/traces/recorded.py).
    if 'LD_PRELOAD' in os.environ:
        os.environ['CLRSYM_TEST_PRELOAD'] = os.environ.pop('LD_PRELOAD')
    unshare = ['unshare', *NAMESPACES] + ([] if os.geteuid() == 0 else ['--map-root-user'])
    if reason is None and subprocess.run(unshare + ['true'], stderr=subprocess.DEVNULL,
                                         check=False).returncode != 0:
        if os.environ.get('CI'):
            sys.exit('no namespaces here')
        reason = 'no namespaces'
    if reason:
        print(f'1..0 # SKIP {reason}')
        return
    os.environ[INSIDE] = 'yes'
    os.execvp('unshare', unshare + [sys.executable, '-B', *sys.argv])
