# SPDX-License-Identifier: MIT
"""One call of clrsym-holder or of one of its workers fails. The client gets an answer, or the
holder exits with a reason; an attached process stays attached: the next holder attaches it
again.

`test_fault_holder.py CLRSYM CLRSYMD PLUGINS fault.so --all` tries every n; the test tries some, by
a seed that it prints. `--seed N` repeats it."""

import contextlib
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

from tests.daemon import test_holder
from tests.fault.test_fault import Fault, KINDS, is_good_end, main


# s; time limit for an answer, and for the next holder's attachment.
TIMEOUT = 60
# Tries of each kind without --all.
N_LIVES = 3
# Messages of a holder after a failed system call.
REASONS = ('cannot', 'no worker', 'failed', 'No space', 'Too many', 'memory', 'unavailable', 'error')


def wait_for(condition):
    end = time.monotonic() + TIMEOUT
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return value


class Life(test_holder.Holder):
    """One holder; the next one uses the same directory."""

    def __init__(self, programs, directory, environment=None):
        super().__init__(programs, directory)
        self.path = pathlib.Path(directory) / 'log'
        # The holder before may have aborted, and may have left its socket.
        self.control.unlink(missing_ok=True)
        with open(self.path, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env={
                **os.environ, **(environment or {})})
        wait_for(lambda: self.control.exists() or self.process.poll() is not None)

    def say(self, verb, pid=None):
        """Returns the answer; None if the holder disconnected."""
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return self.ask(verb, pid) or None
        return None

    def holds(self, pid):
        answer = self.say('list') or {}
        return any(row['pid'] == pid for row in answer.get('attachments', ()))

    def log(self):
        return self.path.read_text(encoding='utf-8', errors='replace')

    def stop(self):
        """Returns the exit code; None if the holder does not end."""
        self.process.terminate()
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


def is_attached(answer, pid):
    return bool(answer) and answer.get('pid') == pid


def holder_life(programs, directory, target, fault):
    """Returns the problems of one life of a holder with a fault, and of the next one without."""
    state = tempfile.mkdtemp(dir=directory)
    os.chmod(state, 0o755)
    holder = Life(programs, state, fault.environment)
    answer, problems = holder.say('attach', target), []
    was_attached = is_attached(answer, target)
    if answer and not was_attached and not answer.get('error', {}).get('message'):
        problems.append(f'an answer without a reason: {answer}')
    rows = holder.say('list')
    if rows and any(row['pid'] != target for row in rows.get('attachments', ())):
        problems.append(f'it lists another process: {rows}')
    code, log = holder.stop(), holder.log()
    if code is None or not is_good_end(code, log):
        problems.append(f'it ends with {code}: {log[-1000:]}')
    if not answer and code == 0 and not log.strip():
        problems.append('it hung up, and gives no reason')
    after = Life(programs, state)
    # The holder may lose the attachment, if it reports that.
    if was_attached and not any(word in log for word in REASONS):
        if not wait_for(lambda: after.holds(target)):
            problems.append(f'it was attached, and no longer is: {log[-500:]} {after.log()[-500:]}')
    if not is_attached(answer := after.say('attach', target), target):
        problems.append(f'the next one does not attach it: {answer} {after.log()[-500:]}')
    if not is_attached(answer := after.say('detach', target), target):
        problems.append(f'the next one does not detach it: {answer}')
    if (code := after.stop()) != 0:
        problems.append(f'the next one ends with {code}: {after.log()[-500:]}')
    return problems


def run(tap, arguments, programs, directory):
    chance = random.Random(arguments.seed)
    fakes = test_holder.Holder(programs, directory)
    with test_holder.runtimes(fakes, 'calm') as (target,):
        os.environ['TMPDIR'] = str(fakes.directory / 'tmp-calm')
        for kind in KINDS:
            fault = Fault(arguments.library, kind, 0, directory)
            problems, total = holder_life(programs, directory, target, fault), fault.count()
            tap.check(not problems, f'clrsym-holder without a fault: {total} calls: {kind}',
                      *problems)
            numbers = list(range(1, total + 1))
            # All writes are tried, because they include the few reports of a worker to the holder.
            if not arguments.all and kind != 'write':
                chance.shuffle(numbers)
                numbers = numbers[:N_LIVES]
            wrong = []
            for n in numbers:
                fault = Fault(arguments.library, kind, n, directory)
                wrong += [f'{fault.name}: {problem}' for problem in
                          holder_life(programs, directory, target, fault)]
            tap.check(not wrong, f'clrsym-holder: {len(numbers)} of {total} {kind}', *wrong[:20])


if __name__ == '__main__':
    main(run)
