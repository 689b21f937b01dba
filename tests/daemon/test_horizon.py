# SPDX-License-Identifier: MIT
"""Calls that wait for an idle process: the daemon asks the holder for an event, at limited
intervals, and only for such a process. The holder is a socket of the test."""

import json
import pathlib
import socket
import threading
import time

from tests.daemon import ingest
from tests.daemon.test_daemon import Client
from tests.traces import recorded

PER_PID = 2
HELD, OTHER = 100, 200
# s, minimum time between two requests
INTERVAL = 0.2


class Holder:
    """Records the requests, and never answers."""

    def __init__(self, path):
        self.requests = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            caller, _ = self.socket.accept()
            moment = time.monotonic()
            with caller:
                text = b''
                while piece := caller.recv(4096):
                    text += piece
            self.requests.append((moment, text.decode()))


def feed(daemon):
    """Feeds a process from a holder's stream, and a process from a trace."""
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(),
                ingest.stream_open(uuid=b'h' * 16, uid=0, scheme=PER_PID, pid=HELD),
                ingest.stream_open(number=1, uuid=b'o' * 16),
                ingest.body(now, 0x1000, 'Held', pid=HELD), ingest.body(now, 0x1000, 'Other', pid=OTHER, stream=1),
                ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    return feeder


def ask(client, pid, wait_ms, ahead=0):
    moment = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int(ahead * 10**9)
    client.ask('Resolve', queries=[{'pid': pid, 'pid_ns': 0, 'addr': '0x9000', 'time': moment}], wait_ms=wait_ms)


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    holder = Holder(directory / 'control')
    config = directory / 'clrsymd.conf'
    config.write_text(f'[Daemon]\nHolder={directory}/control\n', encoding='utf-8')
    with recorded.Daemon(programs, directory, '--config', str(config)) as daemon:
        feeder = feed(daemon)
        client = Client(daemon.query)
        ask(client, HELD, 0)
        client.reply()
        ask(client, OTHER, 500)
        client.reply()
        tap.equal(holder.requests, [], 'without a wait, or without a holder, nobody is asked')
        ask(client, HELD, 1500)
        status = client.reply()['parameters']['answers'][0]['status']
        tap.equal((status, [json.loads(text) for _, text in holder.requests]),
                  ('pending', [{'verb': 'horizon', 'pid': HELD}]), 'a question that waits: it is asked once')
        holder.requests.clear()
        begin = time.monotonic()
        clients = [Client(daemon.query) for _ in range(40)]
        for one in clients:
            ask(one, HELD, 1000)
            time.sleep(0.02)
        for one in clients:
            one.reply()
            one.close()
        moments = [moment for moment, _ in holder.requests]
        pauses = [after - before for before, after in zip(moments, moments[1:])]
        most = (time.monotonic() - begin) / INTERVAL + 1
        # On a busy machine the test may see the first request late, which shortens the first pause.
        tap.check(2 <= len(moments) <= most and sum(pauses) > (len(pauses) - 1) * INTERVAL,
                  'forty questions: it is asked now and then', len(moments), pauses)
        holder.requests.clear()
        begin = time.monotonic()
        ask(client, HELD, 1500, ahead=0.7)
        client.reply()
        tap.check(len(holder.requests) == 1 and holder.requests[0][0] - begin > 0.65,
                  'a question about a later time: not before that time', holder.requests, begin)
        feeder.send(ingest.domain_unload(time.clock_gettime_ns(time.CLOCK_MONOTONIC), pid=HELD), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        time.sleep(INTERVAL)
        holder.requests.clear()
        ask(client, HELD, 500)
        client.reply()
        tap.equal(holder.requests, [], 'a process that has ended is not asked')
        client.close()
        feeder.close()


if __name__ == '__main__':
    recorded.main(run)
