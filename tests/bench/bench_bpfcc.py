# SPDX-License-Identifier: MIT
"""A live .NET program whose code moves, asked about twice: through the symbol cache of bcc
(python3-bpfcc), which reads the runtime's perf map, and through clrsymd. How fast, and how many
names are right, wrong and unknown; truth is what the program says of its own code. With W^X on, as
it is by default, and off. Asserts no time."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import time

from tests.live import live
from tests.traces import recorded

ROUNDS = 20
LIVE_TIMER_US = 100_000


class Client:
    """Asks the daemon, as any program would."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))

    def resolve(self, queries):
        call = {'method': 'org.clrsym.Symbolizer.Resolve', 'parameters': {'queries': queries}}
        self.socket.sendall(json.dumps(call).encode() + b'\0')
        reply = bytearray()
        while not reply.endswith(b'\0'):
            reply += self.socket.recv(1 << 20)
        return json.loads(reply[:-1])['parameters']['answers']


def of_bcc(cache, code):
    name = cache.resolve(code.address, False)[0]
    if not name:
        return None
    method = live.PERF_MAP_METHOD.fullmatch(name.decode(errors='replace'))
    return (method['type'], method['method']) if method else (name, '')


def of_clrsym(answer):
    if answer['status'] != 'ok':
        return None
    return answer['method']['namespace'], answer['method']['name']


def score(codes, names):
    """Right, wrong, unknown."""
    wanted = [(code.type, code.method) for code in codes]
    right = sum(name == want for name, want in zip(names, wanted))
    unknown = sum(name is None for name in names)
    return f'{right} right, {len(codes) - right - unknown} wrong, {unknown} unknown'


@contextlib.contextmanager
def map_in_place(program):
    """The program's perf map where bcc looks for it."""
    path = pathlib.Path(f'/tmp/perf-{program.pid}.map')
    path.symlink_to(program.directory / path.name)
    try:
        yield
    finally:
        path.unlink()


def compare(tap, what, client, pid, codes, has_time):
    import bcc  # pylint: disable=import-outside-toplevel
    begin = time.perf_counter()
    cache = bcc.SymbolCache(pid)
    of_bcc(cache, codes[0])
    opened = time.perf_counter()
    theirs = [of_bcc(cache, code) for code in codes]
    asked = time.perf_counter()
    queries = [{'pid': pid, 'addr': hex(code.address), **({'time': code.time} if has_time else {})}
               for code in codes]
    ours = [of_clrsym(client.resolve([query])[0]) for query in queries]
    one_by_one = time.perf_counter()
    batches = [of_clrsym(answer) for i in range(0, len(queries), 4096)
               for answer in client.resolve(queries[i:i + 4096])]
    done = time.perf_counter()
    tap.check(ours == batches, f'{what}: {len(codes)} addresses')
    n = len(codes) / 1e6
    tap.note(f'bcc: {score(codes, theirs)}; {(opened - begin) * 1e3:.1f} ms to load, then '
             f'{(asked - opened) / n:.2f} us each')
    tap.note(f'clrsym: {score(codes, ours)}; {(one_by_one - asked) / n:.1f} us each one by one '
             f'({(one_by_one - asked) / (asked - opened):.1f} x bcc), {(done - one_by_one) / n:.2f} '
             f'us in batches ({(done - one_by_one) / (asked - opened):.1f} x)')


def run(tap, programs, assembly, directory, what):
    directory.mkdir()
    program = live.Program(assembly, directory, ROUNDS)
    relay = live.Relay(directory / 'relay')
    with recorded.Daemon(programs, directory) as daemon, relay.running(), \
         contextlib.ExitStack() as tracing:
        name = 'clrsym-bcc-' + str(os.getpid())
        tracing.enter_context(relay.session(name, LIVE_TIMER_US))
        command = ['babeltrace2', f'--plugin-path={programs.plugin_dir}', '-i', 'lttng-live',
                   relay.url(name), '--params', 'session-not-found-action="end"',
                   '-c', 'sink.clrsym.feed', '--params', f'socket="{daemon.ingest}"']
        with live.child(command, signal.SIGINT, env=programs.environment) as feeder:
            live.wait_for('the feeder', relay.has_viewer, feeder)
            with program.ready():
                passing, lasting = program.codes()
                client = Client(daemon.query)
                query = {'pid': program.pid, 'addr': '0x1', 'time': passing[-1].time}
                live.wait_for('the events', lambda: client.resolve([query])[0]['confidence'] not in
                              (None, 'provisional'), program.process)
                with map_in_place(program):
                    compare(tap, f'{what}, code that is there now', client, program.pid, lasting,
                            False)
                    compare(tap, f'{what}, code as it was sampled while it moved', client,
                            program.pid, passing, True)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    assembly = live.build(directory / 'app')
    run(tap, programs, assembly, directory / 'wx', 'W^X on')
    os.environ['DOTNET_EnableWriteXorExecute'] = '0'
    run(tap, programs, assembly, directory / 'no-wx', 'W^X off')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
