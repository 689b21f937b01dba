# SPDX-License-Identifier: MIT
"""Names addresses of a .NET program while it runs: demo.py DIRECTORY. The daemon's sockets are
DIRECTORY/ingest and DIRECTORY/query, the programs on PATH. Part of tests/demo."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys

from tests.live import live, runtimes

INSIDE = 'CLRSYM_TEST_DEMO'
ROUNDS = 10
LIVE_TIMER_US = 100_000


def show(command, directory):
    words = [str(word) for word in command]
    print('$', shlex.join(words).replace(str(directory), '$DIR'), flush=True)


def ask(directory, pid, codes):
    """Asks at the last code's time; events arrive a moment later, so it may wait."""
    last = codes[-1].time
    command = ['clrsym', 'resolve', '--pid', str(pid), '--wait=10',
               '--at', f'{last // 10**9}.{last % 10**9:09}',
               *[f'{code.address:#x}' for code in codes]]
    show(command, directory)
    subprocess.run(command, check=True)


def newest(directory):
    """The command with the newest available runtime."""
    runtime = runtimes.NEWEST if runtimes.is_here(runtimes.NEWEST) else runtimes.OWN
    print(f'.NET {runtimes.version_of(runtime)}:')
    return runtimes.command(directory, runtime, library=runtimes.tracepoints(os.environ['BABELTRACE_PLUGIN_PATH']))


def demonstrate(directory):
    program = live.Program(newest(directory), directory, ROUNDS)
    relay = live.Relay(directory / 'relay')
    live.tell = lambda command: show(command, directory)
    with relay.running(), contextlib.ExitStack() as stack:
        tracing = stack.enter_context(contextlib.ExitStack())
        tracing.enter_context(relay.session('demo', LIVE_TIMER_US))
        feeder = stack.enter_context(live.child(
            ['babeltrace2', '-i', 'lttng-live', relay.url('demo'),
             '--params', 'session-not-found-action="end"',
             '-c', 'sink.clrsym.feed', '--params', f'socket="{directory}/ingest"'], signal.SIGINT))
        live.tell = lambda command: None
        live.wait_for('the feeder', relay.has_viewer, feeder)
        show([f'{name}={value}' for name, value in live.ENVIRONMENT.items()] + program.command,
             directory)
        with program.ready():
            passing, lasting = program.codes()
            printed = lasting[:3] + lasting[5:6]
            print('\nThe program says where its code is:\n')
            for code in printed:
                print(f'{code.address:#x} {code.type}.{code.method}')
            print('\nclrsym, while it runs:\n')
            ask(directory, program.pid, printed)
            code = passing[-2]
            print(f'\nA method that was collected meanwhile, {code.method}, at its time:\n')
            ask(directory, program.pid, [code])
            print()
            show(['clrsym', 'ps'], directory)
            subprocess.run(['clrsym', 'ps'], check=True)
        tracing.close()
        feeder.wait(live.TIMEOUT)


def main():
    directory = pathlib.Path(sys.argv[1])
    if os.environ.get(INSIDE):
        live.end_orderly()
        demonstrate(directory)
        return 0
    if reason := live.missing():
        print(f'Left out: {reason}.')
        return 1 if os.environ.get('CI') else 0
    sandbox = live.HERE.parent / 'support' / 'lttng-sandbox'
    os.environ[INSIDE] = '1'
    os.execv(sandbox, [str(sandbox), sys.executable, *sys.argv])


if __name__ == '__main__':
    sys.exit(main())
