# SPDX-License-Identifier: MIT
"""The Python package: it gives the truth of recorded traces from a daemon, and refuses invalid
replies."""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

from tests.daemon import ingest
from tests.traces import recorded

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / 'src/client/python'
sys.path.append(str(PACKAGE))

import clrsym
from clrsym import connection

TRACES = ('hello', 'tiered', 'dynamic', 'pidns')
NO_METHOD = {clrsym.Status.NO_METHOD, clrsym.Status.UNLOADED, clrsym.Status.NOT_YET, clrsym.Status.PENDING}
# s; the client's timeout, and a limit by which it has certainly given up.
SHORT, LONG = 0.5, 20
PATIENT = 30

METHOD = {'id': '0x1', 'namespace': 'N.T', 'name': 'M', 'signature': 'void()', 'token': '0x06000001', 'il_size': 1,
          'type_args': None, 'stub_for': None}
BODY = {'symbol': 'N.T.M()', 'start': '0x1000', 'size': 16, 'method': METHOD, 'flag_names': ['jitted'],
        'version': {'rejit_id': 0, 'il_version': None, 'tier': 'QuickJitted'}, 'module': None, 'source': 'load',
        'loaded': '1.000000000', 'unloaded': None, 'jit_ms': 0.412}
ANSWER = {'pid': 1, 'pid_ns': 2, 'addr': '0x1000', 'time': None, 'status': 'ok', 'confidence': 'exact',
          'horizon': '2.000000000', 'epoch': 3, **BODY}
# A changed member, and a word of the error message.
BAD_MEMBERS = (
    ({'status': 'fine'}, 'newer'), ({'status': None}, 'status'), ({'status': []}, 'status'),
    ({'confidence': 'sure'}, 'newer'), ({'addr': '1000'}, 'addr'), ({'addr': '0x' + 'f' * 17}, 'addr'),
    ({'addr': '0x1_0'}, 'addr'), ({'addr': '0x\u0661'}, 'addr'), ({'addr': 4096}, 'addr'), ({'pid': -1}, 'pid'),
    ({'pid': True}, 'pid'), ({'pid': 1.5}, 'pid'), ({'pid': 2**63}, 'pid'), ({'epoch': 2**64}, 'epoch'),
    ({'horizon': '2.0'}, 'horizon'), ({'horizon': '99999999999.000000000'}, 'horizon'), ({'horizon': 2}, 'horizon'),
    ({'symbol': None}, 'symbol'), ({'symbol': '\ud800'}, 'symbol'), ({'symbol': ['M']}, 'symbol'),
    ({'start': None}, 'start'), ({'size': '16'}, 'size'), ({'method': None}, 'method'), ({'method': 'M'}, 'method'),
    ({'method': {**METHOD, 'id': None}}, 'id'), ({'method': {**METHOD, 'stub_for': 1}}, 'stub'),
    ({'version': None}, 'version'), ({'module': [1]}, 'module'), ({'flag_names': 'jitted'}, 'flag_names'),
    ({'flag_names': [1]}, 'flag_names'), ({'jit_ms': '1'}, 'jit_ms'), ({'inlined': {}}, 'inlined'),
    ({'inlined': [None]}, 'inlined'), ({'inlined': [{'il_offset': -1}]}, 'il_offset'), ({'nearest': []}, 'body'),
    ({'nearest': {**BODY, 'distance': 'near'}}, 'distance'), ({'candidates': [[]]}, 'candidate'),
    ({'candidates': [{'pid': 1}]}, 'pid_ns'),
)


def reply(**parameters):
    return json.dumps({'parameters': parameters}).encode() + b'\0'


def answer_text(text):
    """Returns an answer whose jit_ms is TEXT."""
    return reply(answers=[ANSWER]).replace(b'0.412', text)


# Bytes from the daemon, the error, and a word of its message.
BAD_REPLIES = (
    (b'', clrsym.ConnectionFailed, 'closed'),
    (b'{"parameters":', clrsym.ConnectionFailed, 'middle'),
    (b'\0', clrsym.ProtocolError, 'no JSON'),
    (b'HTTP/1.1 400 Bad Request\r\n\r\n\0', clrsym.ProtocolError, 'no JSON'),
    (b'\xff\xfe\0', clrsym.ProtocolError, 'no JSON'),
    (b'[' * 100000 + b'\0', clrsym.ProtocolError, 'no JSON'),
    (b'{"parameters":' * 100000 + b'\0', clrsym.ProtocolError, 'no JSON'),
    (b'1' * 100000 + b'\0', clrsym.ProtocolError, 'no JSON'),
    (b'[]\0', clrsym.ProtocolError, 'object'),
    (b'null\0', clrsym.ProtocolError, 'object'),
    (b'{}\0', clrsym.ProtocolError, 'object'),
    (b'{"parameters":7}\0', clrsym.ProtocolError, 'object'),
    (reply(), clrsym.ProtocolError, 'array'),
    (reply(answers={}), clrsym.ProtocolError, 'array'),
    (reply(answers=[]), clrsym.ProtocolError, '0 answers to 1'),
    (reply(answers=[ANSWER] * 2), clrsym.ProtocolError, '2 answers to 1'),
    (reply(answers=[7]), clrsym.ProtocolError, 'an answer'),
    (b'{"parameters":{"answers":[]},"continues":1}\0', clrsym.ProtocolError, 'continues'),
    (answer_text(b'NaN'), clrsym.ProtocolError, 'no JSON'),
    (answer_text(b'1e999999999'), clrsym.ProtocolError, 'jit_ms'),
    (answer_text(b'1e9999999999999999999'), clrsym.ProtocolError, 'no JSON'),
    (b'{"error":5,"parameters":{}}\0', clrsym.ProtocolError, 'error'),
    (b'{"error":"a.B","parameters":[1]}\0', clrsym.ProtocolError, 'an error'),
    (b'{"error":"org.clrsym.Symbolizer.PermissionDenied","parameters":{"reason":"not yours"}}\0',
     clrsym.CallError, 'PermissionDenied: not yours'),
    (b'{"error":"org.varlink.service.ExpectedMore"}\0', clrsym.CallError, 'ExpectedMore'),
)


class Answering:
    """A daemon that sends PIECES to each client, and then closes the connection or waits."""

    def __init__(self, directory, pieces, is_closing=True, pause=0.0):
        self.path = str(pathlib.Path(directory) / 'answering')
        pathlib.Path(self.path).unlink(missing_ok=True)
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(self.path)
        self.listening.listen()
        self.pieces, self.is_closing, self.pause = pieces, is_closing, pause
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.serve)

    def serve(self):
        with self.listening.accept()[0] as peer:
            try:
                if not peer.recv(1 << 20):
                    return
                for piece in self.pieces:
                    peer.sendall(piece)
                    if self.pause and self.is_over.wait(self.pause):
                        return
                if not self.is_closing:
                    self.is_over.wait()
            except OSError:
                pass  # the client has disconnected

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.listening.close()
        self.thread.join()


def error_of(function):
    try:
        function()
    except clrsym.ClrsymError as error:
        return error
    return None


def ask_one(path, timeout=PATIENT):
    with clrsym.connect(path, timeout) as client:
        return client.resolve(1, [0x1000])[0]


def check_hostile(tap, directory):
    with Answering(directory, [reply(answers=[ANSWER])]) as server:
        answer = ask_one(server.path)
    tap.equal((answer.symbol, answer.body.jit_ns, answer.epoch), ('N.T.M()', 412000, 3), 'a good answer is taken')
    with Answering(directory, [bytes([byte]) for byte in reply(answers=[ANSWER])]) as server:
        tap.equal(ask_one(server.path), answer, 'and so it is in single bytes')
    for data, kind, word in BAD_REPLIES:
        with Answering(directory, [data]) as server:
            error = error_of(lambda path=server.path: ask_one(path))
        tap.check(type(error) is kind and word in str(error), f'{kind.__name__}: {word}', repr(data[:60]), repr(error))
    wrong = []
    for change, word in BAD_MEMBERS:
        with Answering(directory, [reply(answers=[{**ANSWER, **change}])]) as server:
            error = error_of(lambda path=server.path: ask_one(path))
        if not isinstance(error, clrsym.ProtocolError) or word not in str(error) or len(str(error)) > 400:
            wrong.append(f'{change}: {error!r}')
    tap.equal(wrong, [], f'{len(BAD_MEMBERS)} answers with a wrong member are errors that name it')
    check_bounds(tap, directory)


def check_bounds(tap, directory):
    """No daemon can block its client, or use up its memory."""
    part = b'{"parameters":{"answers":[]},"continues":true}\0'
    slow = (
        ('nothing', [], 0), ('half of a reply', [b'{"parameters":'], 0),
        ('a byte now and then', [b' '] * 10000, SHORT / 5), ('parts without end', [part] * 10000, SHORT / 5),
    )
    for what, pieces, pause in slow:
        with Answering(directory, pieces, is_closing=False, pause=pause) as server:
            begin = time.monotonic()
            error = error_of(lambda path=server.path: ask_one(path, SHORT))
            tap.check(isinstance(error, clrsym.TimedOut) and time.monotonic() - begin < LONG, f'a timeout: {what}', repr(error))
    with Answering(directory, [b' ' * (1 << 20)] * 100) as server:
        error = error_of(lambda: ask_one(server.path))
    tap.check(isinstance(error, clrsym.ProtocolError) and '16 MiB' in str(error), 'a reply without end', repr(error))
    most, connection.MOST_REPLIES = connection.MOST_REPLIES, 1 << 20
    with Answering(directory, [part] * 100000) as server:
        error = error_of(lambda: ask_one(server.path))
    connection.MOST_REPLIES = most
    tap.check(isinstance(error, clrsym.ProtocolError) and 'one call' in str(error), 'replies without end', repr(error))
    # After an error, the client does not take the answer to another query.
    with Answering(directory, [reply(answers=[{**ANSWER, 'status': '?'}]) * 2], is_closing=False) as server:
        with clrsym.connect(server.path, SHORT) as client:
            errors = [type(error_of(lambda: client.resolve(1, [0x1000]))) for _ in range(2)]
    tap.equal(errors, [clrsym.ProtocolError, clrsym.ConnectionFailed], 'after a broken reply the connection is closed')
    error = error_of(lambda: clrsym.connect(str(pathlib.Path(directory) / 'nowhere')))
    tap.check(isinstance(error, clrsym.ConnectionFailed) and 'systemctl start clrsymd.socket' in str(error),
              'no daemon: what to do', repr(error))


def check_watch_hostile(tap, directory):
    first = b'{"parameters":{"events":[]},"continues":true}\0'
    epoch = {'event': 'epoch', 'pid': 1, 'pid_ns': 2, 'generation': 1, 'epoch': 3}
    bad = (({**epoch, 'event': 'boom'}, 'newer'), ({**epoch, 'epoch': None}, 'epoch'), ({**epoch, 'event': 'load'}, 'symbol'))
    for event, word in bad:
        later = json.dumps({'parameters': {'events': [event]}, 'continues': True}).encode() + b'\0'
        with TwoClients(directory, [first + later], is_closing=False) as server, clrsym.connect(server.path) as client:
            error = error_of(lambda client=client: client.watch().next_event(LONG))
        tap.check(isinstance(error, clrsym.ProtocolError) and word in str(error), f'an event: {word}', repr(error))


class TwoClients(Answering):
    """A daemon for a client and for its Watch: the first connection stays silent."""

    def serve(self):
        with self.listening.accept()[0]:
            super().serve()


def check_watch_stops(tap, directory):
    first = b'{"parameters":{"events":[]},"continues":true}\0'
    for pieces, kind, what in (
            ([first, b'{"par'], clrsym.TimedOut, 'a daemon that stops within an event'),
            ([], clrsym.TimedOut, 'a daemon that never begins'),
            ([first.replace(b'true', b'false')], clrsym.ProtocolError, 'a daemon that ends to watch')):
        with TwoClients(directory, pieces, is_closing=False) as server, clrsym.connect(server.path, SHORT) as client:
            error = error_of(lambda client=client: client.watch().next_event())
        tap.check(type(error) is kind, f'watch: {what}', repr(error))
    with TwoClients(directory, [first]) as server, clrsym.connect(server.path, SHORT) as client:
        error = error_of(lambda client=client: next(client.watch()))
    tap.check(isinstance(error, clrsym.ConnectionFailed), 'watch: a daemon that ends', repr(error))


def check_arguments(tap, daemon):
    with clrsym.connect(str(daemon.query)) as client:
        for arguments in ((-1, [0]), (2**31, [0]), (True, [0]), (1, [-1]), (1, [2**64]), (1, ['0x1000'])):
            try:
                client.resolve(*arguments)
                tap.check(False, f'{arguments} are refused')
            except ValueError as error:
                tap.check('is expected' in str(error), f'{arguments} are refused', error)
        error = error_of(lambda: client.methods(time='yesterday noon'))
        tap.check(isinstance(error, clrsym.CallError) and error.name.endswith('.InvalidParameter') and 'time' in error.reason,
                  'the daemon\'s own reason', repr(error))
        answer, = client.resolve(1, [0], time='yesterday noon')
        tap.check(answer.status is clrsym.Status.INVALID and answer.reason, 'a wrong query has a reason', answer)
        tap.equal(client.resolve(1, []), [], 'no addresses, no answers')
        tap.check(client.processes(), 'and the connection goes on')


def as_expected(probe, answer):
    """None: the truth lacks the body."""
    if probe['method_id'] == '-':
        return answer.status in NO_METHOD or \
            (None if answer.status is clrsym.Status.OK and answer.body.loaded is None else False)
    body = answer.body
    return answer.status is clrsym.Status.OK and \
        (body.method.id, body.version.rejit_id, body.start, body.size, body.method.namespace, body.method.name,
         body.method.signature) == \
        (int(probe['method_id'], 16), int(probe['rejit_id']), int(probe['start'], 16), int(probe['size']),
         probe['namespace'], probe['name'], probe['signature']) and \
        body.start + body.offset == answer.address == int(probe['addr'], 16)


def check_truth(tap, daemon):
    probes = [row for name in TRACES for row in recorded.Truth(name).rows('probes.tsv')]
    with clrsym.connect(str(daemon.query)) as client:
        answers = client.ask(clrsym.Query(int(row['pid']), int(row['addr'], 16), int(row['time_ns']),
                                          int(row['pid_ns'])) for row in probes)
    judged = [as_expected(probe, answer) for probe, answer in zip(probes, answers)]
    tap.check(len(probes) == len(answers) > connection.READ >> 8 and False not in judged and judged.count(True) > 0.98 * len(judged),
              f'{len(probes)} probes, {judged.count(True)} as the truth has them',
              *[f'{probe}: {answer}' for probe, answer, is_right in zip(probes, answers, judged) if is_right is False][:5])


def check_lists(tap, programs, daemon):
    """The lists are those of clrsym(1)."""
    with clrsym.connect(str(daemon.query)) as client:
        for more, words in (({}, []), ({'unloaded': True}, ['--all'])):
            wanted = [json.loads(line) for line in programs.ask(daemon.source, 'methods', *words)]
            got = client.methods(**more)
            tap.check(len(got) > 1000, f'{len(got)} methods {words}')
            tap.same_rows([(body.pid, body.pid_ns, body.start, body.symbol, body.version.tier, body.flag_names,
                            body.unloaded is None) for body in got],
                          [(row['pid'], row['pid_ns'], int(row['start'], 16), row['symbol'], row['version']['tier'],
                            tuple(row['flag_names'] or ()), row['unloaded'] is None) for row in wanted], f'methods {words}')
        wanted = [json.loads(line) for line in programs.ask(daemon.source, 'ps')]
        tap.same_rows([(row.pid, row.pid_ns, row.runtime, row.bodies, row.from_start, row.epoch) for row in client.processes()],
                      [(row['pid'], row['pid_ns'], row['runtime'], row['bodies'], row['from_start'], row['epoch'])
                       for row in wanted], 'processes')
        one = client.processes()[0]
        tap.equal(client.processes(one.pid, pid_ns=one.pid_ns), [one], 'one of them')


def check_watch(tap, daemon):
    """Events in their order, without events of other processes."""
    feeder = ingest.Feeder(daemon.ingest)
    pid = 54321
    with clrsym.connect(str(daemon.query)) as client, client.watch() as all_events, client.watch(pid) as events:
        tap.equal(events.next_event(0.1), None, 'nothing has happened')
        feeder.send(ingest.hello(), ingest.stream_open(uuid=b'python-python-py'),
                    ingest.body(10, 0x1000, 'First', pid=pid), ingest.body(11, 0x9000, 'Other', pid=pid + 1),
                    ingest.unload(20, 0x1000, 'First', pid=pid), ingest.body(30, 0x1000, 'Second', pid=pid),
                    ingest.progress(100), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        seen = []
        while not seen or seen[-1][1] != 'Second':
            event = events.next_event(LONG)
            if event is None:
                break
            if event.kind is not clrsym.EventKind.EPOCH:
                seen.append((event.kind.value, event.body.method.name))
        tap.equal(seen, [('load', 'First'), ('unload', 'First'), ('load', 'Second')], 'what happens, in order')
        tap.check(any(event.body and event.body.method.name == 'Other' for event in all_events), 'all processes')
        tap.equal(client.resolve(pid, [0x1004])[0].body.method.name, 'Second', 'and what is there now')
        past, = client.resolve(pid, [0x1004], time=25)
        tap.equal((past.status, past.symbol), (clrsym.Status.UNLOADED, None), 'between the two there is none')
        tap.check(past.nearest.method.name == 'First' and past.distance_ns == -5, 'the nearest one', past)
    feeder.close()


def check_types(tap):
    if not shutil.which('mypy'):
        tap.skip('mypy', 'is not here')
        return
    done = subprocess.run(['mypy', '--strict', '--no-incremental', '--cache-dir=/dev/null', 'clrsym', 'examples'],
                          cwd=PACKAGE, capture_output=True, text=True, check=False)
    tap.check(done.returncode == 0, 'mypy --strict', done.stdout, done.stderr)


def check_example(tap, programs, daemon):
    """Runs the example as a user does."""
    probe = next(row for row in recorded.Truth('hello').rows('probes.tsv') if row['method_id'] != '-')
    done = programs.run(['/usr/bin/python3', '-B', PACKAGE / 'examples/name_addresses.py', probe['pid']],
                        text=f'a line\n  at {probe["addr"]} here\n',
                        env={**programs.environment, 'PYTHONPATH': str(PACKAGE), 'CLRSYM_SOCKET': str(daemon.query)})
    tap.check(done.returncode == 0 and done.stdout.startswith('a line\n  at ') and probe['name'] in done.stdout and
              done.stdout.endswith(' here\n'), 'the example names the addresses of a log', done.stdout, done.stderr)


def run(tap, programs, directory, _):
    sys.dont_write_bytecode = True
    traces = recorded.unpack(directory, TRACES)
    with recorded.Daemon(programs, directory) as daemon:
        for name, trace in traces.items():
            done = programs.feed(trace, daemon.ingest)
            tap.check(done.returncode == 0, f'{name} is fed', done.stderr)
        check_truth(tap, daemon)
        check_lists(tap, programs, daemon)
        check_example(tap, programs, daemon)
        check_watch(tap, daemon)
        check_arguments(tap, daemon)
    check_hostile(tap, directory)
    check_watch_hostile(tap, directory)
    check_watch_stops(tap, directory)
    check_types(tap)


if __name__ == '__main__':
    recorded.main(run)
