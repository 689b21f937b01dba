# SPDX-License-Identifier: MIT
"""After a gap, clrsymd asks the holder of attachments for a new listing of the process: once in
the configured time, only for processes that it may ask for, and without harm if the holder
misbehaves. From a real holder, the daemon's user gets only such listings."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from tests.daemon import ingest, openmetrics
from tests.daemon.traceserver import wait_for
from tests.traces import recorded

MANY = 40
LISTED = b'{"pid":1,"state":"attached"}\n'
REFUSED = b'{"error":{"kind":"%s","message":"no\\nfurther"}}\n'
DEEP = b'[' * 60_000 + b'\n'


class Holder:
    """Records each request and acts on ANSWER: bytes: sends them; None: disconnects; otherwise:
    no reply."""

    SILENCE = object()

    def __init__(self, path):
        self.path, self.answer, self.requests, self.kept = path, LISTED, [], []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(64)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            caller, _ = self.socket.accept()
            self.requests.append(caller.makefile().readline())
            if self.answer is self.SILENCE:
                self.kept.append(caller)
                continue
            try:
                if self.answer:
                    caller.sendall(self.answer)
            except OSError:
                pass  # the daemon disconnected before the end of the reply
            caller.close()


class Traced:
    """Running processes, fed with events of now."""

    def __init__(self, daemon, uuid, n_streams=1):
        self.daemon, self.sleepers, self.uuid, self.n_streams = daemon, [], uuid, n_streams
        self.feeder = self.new_feeder()

    def new_feeder(self):
        feeder = ingest.Feeder(self.daemon.ingest)
        feeder.send(ingest.hello(), *(ingest.stream_open(number, number, self.uuid)
                                      for number in range(self.n_streams)))
        return feeder

    def replace_feeder(self):
        self.feeder.close()
        self.feeder = self.new_feeder()

    def tell(self, *frames):
        self.feeder.send(*frames, ingest.commit())
        while self.feeder.receive()[0] != ingest.COMMITTED:
            pass

    def start(self):
        sleeper = subprocess.Popen(['sleep', '600'])
        self.sleepers.append(sleeper)
        now = time.monotonic_ns()
        self.tell(ingest.runtime_start(now, pid=sleeper.pid),
                  ingest.body(now + 1, 0x1000, pid=sleeper.pid))
        return sleeper.pid

    def lose(self):
        now = time.monotonic_ns()
        self.tell(ingest.gap(now, now + 1))

    def close(self):
        self.feeder.close()
        for sleeper in self.sleepers:
            sleeper.kill()
            sleeper.wait()


class Scene:
    def __init__(self, programs, directory):
        self.programs = programs
        self.directory = pathlib.Path(directory)
        self.config = self.directory / 'again.conf'
        self.holder = Holder(self.directory / 'control')
        self.daemon = None

    def configure(self, interval, path=None):
        again = f'AttachAgain={interval}\n' if interval else ''
        self.config.write_text(f'[Daemon]\n{again}Holder={path or self.holder.path}\n',
                               encoding='utf-8')

    def reload(self, interval, path=None):
        n = self.daemon.log().count('was read again')
        self.configure(interval, path)
        self.daemon.process.send_signal(signal.SIGHUP)
        wait_for(lambda: self.daemon.log().count('was read again') > n)

    def counts(self):
        """Returns the counters listed, not held and failed; None: nothing was counted."""
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(60)
            caller.connect(str(self.daemon.query))
            caller.sendall(b'{"method":"org.clrsym.Symbolizer.Metrics"}\0')
            text = b''
            while not text.endswith(b'\0'):
                text += caller.recv(65536)
        metrics = openmetrics.parse(json.loads(text[:-1])['parameters']['text'])
        return tuple(metrics.get(('clrsym_again_requests_total', (('outcome', outcome),)))
                     for outcome in ('listed', 'not-held', 'failed'))

    def wait_counts(self, tap, want, name):
        wait_for(lambda: self.counts() == want)
        return tap.equal(self.counts(), want, name)


def settle():
    """Waits longer than the daemon delays the handling of a change, so that a request would have
    come."""
    time.sleep(2)


def check_rate(tap, scene):
    holder = scene.holder
    traced = Traced(scene.daemon, b'again-rate-trace')
    pid = traced.start()
    traced.lose()
    settle()
    tap.equal((holder.requests, scene.counts()), ([], (None,) * 3), 'nobody is asked by default')
    scene.reload('1d')
    scene.wait_counts(tap, (1, 0, 0), 'configured by SIGHUP: a gap leads to a request')
    tap.equal([json.loads(line) for line in holder.requests],
              [{'verb': 'again', 'pid': pid, 'held': True}], 'just for that, if it is held')
    for _ in range(3):
        traced.lose()
    now = time.monotonic_ns()
    traced.tell(ingest.process_gap(now, None, pid=pid))
    traced.tell(ingest.process_gap(now + 10, now + 10, pid=pid))
    settle()
    tap.equal(len(holder.requests), 1, 'more gaps in that time: no other one')
    scene.reload('1s')
    scene.wait_counts(tap, (2, 0, 0), 'when it is over: one for all of them')
    settle()
    tap.equal(len(holder.requests), 2, 'and one is enough')
    traced.tell(ingest.process_gap(time.monotonic_ns(), None, pid=pid))
    settle()
    tap.equal(len(holder.requests), 2, 'a process gap that lasts: no request')
    end = time.monotonic_ns()
    traced.tell(ingest.process_gap(end, end, pid=pid))
    scene.wait_counts(tap, (3, 0, 0), 'one when it has ended')
    holder.answer = REFUSED % b'not-attached'
    traced.lose()
    scene.wait_counts(tap, (3, 1, 0), 'it is not attached: that does not count as a failure')
    settle()
    tap.equal((len(holder.requests), 'warning' in scene.daemon.log()), (4, False),
              'not asked again, nothing in the log')
    holder.answer = LISTED
    traced.replace_feeder()
    traced.tell(ingest.progress(time.monotonic_ns()))
    scene.wait_counts(tap, (4, 1, 0), 'no feeder was there: a request')
    traced.sleepers[0].kill()
    traced.sleepers[0].wait()
    traced.lose()
    settle()
    tap.equal(len(holder.requests), 5, 'none for a process that is over')
    traced.close()


def check_streams(tap, scene):
    scene.reload('1d')
    n_listed, *others = scene.counts()
    traced = Traced(scene.daemon, b'again-2-streams!', 2)
    traced.start()
    traced.tell(*(ingest.progress(time.monotonic_ns(), stream) for stream in (0, 1)))
    traced.replace_feeder()
    traced.tell(ingest.progress(time.monotonic_ns(), 0))
    settle()
    tap.equal(scene.counts()[0], n_listed, 'one of two streams goes on: nobody is asked yet')
    traced.tell(ingest.progress(time.monotonic_ns(), 1))
    scene.wait_counts(tap, (n_listed + 1, *others), 'both do: a request')
    traced.replace_feeder()
    traced.tell(ingest.progress(time.monotonic_ns(), 1))
    settle()
    tap.equal(scene.counts()[0], n_listed + 1, 'and once more: not yet')
    scene.reload('1s')
    scene.wait_counts(tap, (n_listed + 2, *others), 'but that time is waited for it, and no longer')
    traced.close()


def check_hostile(tap, scene):
    holder = scene.holder
    traced = Traced(scene.daemon, b'again-hostile-tr')
    traced.start()
    failed = 0
    for name, answer in (('garbage', b'\xff\0garbage\n'), ('a hang-up', None),
                         ('half an answer', LISTED[:-4]), ('more than an answer', b'x' * 5_000_000),
                         ('deep JSON', DEEP), ('a refusal', REFUSED % b'not-allowed')):
        holder.answer = answer
        n = len(holder.requests)
        traced.lose()
        tap.check(wait_for(lambda n=n: scene.counts()[2] > failed and len(holder.requests) > n),
                  f'{name} is counted', scene.counts())
        failed = scene.counts()[2]
    for path in ('absent', 'again.conf'):
        scene.reload('1s', scene.directory / path)
        tap.check(wait_for(lambda: scene.counts()[2] > failed), f'{path} is counted')
        failed = scene.counts()[2]
    warnings = [line for line in scene.daemon.log().splitlines() if 'warning' in line]
    tap.equal(len(warnings), 3, 'each holder is reported once')
    holder.answer = Holder.SILENCE
    for _ in range(MANY):
        traced.start()
    n = len(holder.requests)
    scene.reload('1s')
    traced.lose()
    tap.check(wait_for(lambda: len(holder.requests) - n >= 16), 'a silent one: many wait for it')
    settle()
    tap.check(len(holder.requests) - n == 16, 'but not all at once', len(holder.requests) - n)
    begin = time.monotonic()
    scene.counts()
    tap.note(f'answered in {time.monotonic() - begin:.3f} s meanwhile')
    tap.check(scene.daemon.process.poll() is None, 'the daemon goes on')
    scene.reload(None)
    tap.check(wait_for(lambda: all(caller.recv(1) == b'' for caller in holder.kept[-16:])),
              'without the key it hangs up on all of them')
    traced.close()


def ask(control, uid, **request):
    """Asks the holder as the user UID."""
    code = ('import os, socket, sys; os.setgroups([]); os.setgid(int(sys.argv[2]));'
            'os.setuid(int(sys.argv[2])); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);'
            's.sendall(sys.argv[3].encode() + b"\\n"); print(s.makefile().readline())')
    done = subprocess.run([sys.executable, '-c', code, control, str(uid), json.dumps(request)],
                          capture_output=True, text=True, check=True, timeout=120)
    answer = json.loads(done.stdout)
    return answer.get('error', {}).get('kind') or answer


def check_user(tap, scene, program):
    """Root's holder, and an unattached process of root: the process must stay unattached."""
    if os.geteuid() != 0:
        tap.skip("the daemon's user asks a real holder", 'needs root')
        return
    shutil.rmtree(scene.directory / 'holder', ignore_errors=True)
    directory = scene.directory / 'holder'
    user, other = pwd.getpwnam('daemon'), pwd.getpwnam('nobody')
    with subprocess.Popen(['sleep', '600']) as sleeper:
        for options, uid, again in ((['--daemon-user', user.pw_name], user.pw_uid, 'not-attached'),
                                    (['--daemon-user', user.pw_name], other.pw_uid, 'not-allowed'),
                                    (['--daemon-user', 'no-such-user'], user.pw_uid, 'not-allowed'),
                                    ([], user.pw_uid, 'not-allowed')):
            holder = subprocess.Popen([program, '--directory', directory, '--ingest', '/nonexistent',
                                       *options], stderr=subprocess.DEVNULL)
            control = str(directory / 'control')
            wait_for(lambda path=control: os.path.exists(path))
            got = {(verb, held): ask(control, uid, verb=verb, pid=sleeper.pid,
                                     **({'held': True} if held else {}))
                   for verb, held in (('attach', False), ('detach', False), ('again', False),
                                      ('again', True))}
            tap.equal(got, {('attach', False): 'not-allowed', ('detach', False): 'not-allowed',
                            ('again', False): again, ('again', True): again},
                      f'user {uid} of a holder with {" ".join(options) or "no option"}')
            tap.equal(ask(control, uid, verb='list'), {'attachments': []}, 'and it sees none')
            tap.equal(sorted(path.name for path in directory.iterdir()), ['control', 'port'],
                      'nothing was attached')
            tap.equal(ask(control, 0, verb='again', pid=sleeper.pid, held=True), 'not-attached',
                      'root may, and nothing is attached by it either')
            holder.terminate()
            tap.equal(holder.wait(120), 0, 'the holder ends')
        sleeper.kill()


def run(tap, programs, directory, _):
    program = pathlib.Path(programs.clrsymd).parents[1] / 'attach' / 'clrsym-holder'
    scene = Scene(programs, directory)
    check_user(tap, scene, program)
    scene.configure(None)
    with recorded.Daemon(programs, directory, '--config', scene.config) as scene.daemon:
        check_rate(tap, scene)
        check_streams(tap, scene)
        check_hostile(tap, scene)
    tap.equal(scene.daemon.status, 0, 'the daemon ends well')


if __name__ == '__main__':
    recorded.main(run)
