# SPDX-License-Identifier: MIT
"""Millions of methods through a daemon with 64 MiB and a journal: memory and disk stay within
their limits all the time, answers say what was evicted, and the next daemon reads the same
state from the journal."""

import collections
import contextlib
import json
import pathlib
import subprocess
import threading
import time

from tests.traces import calls, recorded, repeated

MIB = 1 << 20
MEMORY_MAX = 64 * MIB
RSS_MAX = MEMORY_MAX * 5 // 4 + 32 * MIB
# `tests/all --full` feeds ten million.
N_BODIES, N_ALIVE = 10**7 if recorded.IS_FULL else 1_500_000, 20000
# Many more bodies than memory has room for; none of these is unloaded.
N_CROWD = 500_000
CHURNING, CROWDED = 1000, 2000
# The journal may have 64 MiB, or two images, each of at most the budget; in addition an image that
# is being written, and the records meanwhile: many, if other tests take the processor from the
# child that writes the image. All records together are several times as large.
JOURNAL_MAX = 64 * MIB + 2 * MEMORY_MAX + MEMORY_MAX + 256 * MIB
SAMPLE_S = 0.25
JOURNAL_SAMPLE_S = 0.02
MIN_SAMPLES = 20
# s; for one feed, also while other tests use most of the machine.
FEED_TIMEOUT = 1500

# A body, as feed-churn prints it.
FedBody = collections.namedtuple('FedBody', 'start size loaded symbol')
Fed = collections.namedtuple('Fed', 'records bodies il_maps ns end living early')
Sample = collections.namedtuple('Sample', 'rss status')


def rss(pid):
    text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    return int(text.split('VmRSS:')[1].split()[0]) * 1024


def status(daemon, connection=None):
    """Asks over CONNECTION, or over a new connection."""
    if not connection:
        with calls.connect(daemon.query) as connection:
            return status(daemon, connection)
    reply = json.loads(connection.ask('Status') or '{}')
    if 'error' in reply or 'parameters' not in reply:
        raise RuntimeError(f'Status: {reply}: {daemon.log()}')
    return reply['parameters']


@contextlib.contextmanager
def sampling(daemon):
    """Takes samples until the `with` ends; then raises the sampler's errors."""
    samples, failures, is_over = [], [], threading.Event()

    def take():
        try:
            with calls.connect(daemon.query) as connection:
                while not is_over.wait(SAMPLE_S):
                    samples.append(Sample(rss(daemon.process.pid), status(daemon, connection)))
        except (OSError, RuntimeError, ValueError) as error:
            failures.append(error)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield samples
    finally:
        is_over.set()
        thread.join()
    if failures:
        raise failures[0]


def journal_size(state):
    total = 0
    for path in state.glob('journal.*'):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # an image has replaced the file
            pass
    return total


class Sizes(repeated.Repeated):
    """The sizes of the journal over time."""

    PAUSE = JOURNAL_SAMPLE_S

    def __init__(self, state):
        super().__init__()
        self.state, self.sizes = state, []

    def step(self):
        self.sizes.append(journal_size(self.state))


def feed(program, daemon, **options):
    """Runs feed-churn to its end. Returns its output."""
    words = [word for name, value in options.items() for word in (f'--{name}', str(value))]
    # run() kills the program if it does not end in time.
    done = subprocess.run([program, '--socket', daemon.ingest, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=FEED_TIMEOUT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f'{done.stderr} {daemon.log()}')
    fed = {'living': [], 'early': []}
    for line in done.stdout.splitlines():
        word, *rest = line.split(' ')
        if word == 'sent':
            figures = map(int, rest)
        else:
            fed[word].append(FedBody(*map(int, rest[:3]), rest[3]))
    return Fed(*figures, fed['living'], fed['early'])


def resolve(programs, daemon, pid, questions):
    """Returns the answers to (address, time in ns) of one process."""
    text = ''.join(f'{address:#x} {moment}\n' for address, moment in questions)
    return [json.loads(line) for line in
            programs.ask(daemon.source, 'resolve', '--pid', str(pid), text=text)]


def says(answer, body):
    return (answer['status'] == 'ok' and int(answer['start'], 16) == body.start and
            answer['size'] == body.size and
            answer['symbol'].startswith(body.symbol + '('))


def check_bounds(tap, samples, fed, what):
    max_bytes = max(sample.status['bytes'] for sample in samples)
    max_rss = max(sample.rss for sample in samples)
    tap.note(f'{what}: {fed.records} records of {fed.bodies} bodies, {fed.il_maps} IL maps, in '
             f'{fed.ns / 1e9:.1f} s: {fed.records * 1e9 / fed.ns:,.0f} records a second')
    tap.note(f'{what}: {len(samples)} samples; at most {max_bytes / MIB:.1f} MiB accounted of '
             f'{MEMORY_MAX / MIB:.0f}, {max_rss / MIB:.1f} MiB resident of {RSS_MAX / MIB:.0f}')
    tap.check(all(sample.status['memory_max'] == MEMORY_MAX for sample in samples),
              f'{what}: the budget is what was asked for')
    tap.check(max_bytes <= MEMORY_MAX, f'{what}: accounted bytes stay in the budget', max_bytes)
    tap.check(max_rss <= RSS_MAX, f'{what}: the resident set stays in its bounds', max_rss)


def check_living(tap, programs, daemon, fed):
    """Each living body, at its first and last byte, at the newest time and without a time."""
    questions = [(address, fed.end) for body in fed.living
                 for address in (body.start, body.start + body.size - 1)]
    wanted = [body for body in fed.living for _ in range(2)]
    answers = resolve(programs, daemon, CHURNING, questions)
    wrong = [f'{body} answered: {answer}' for body, answer in zip(wanted, answers)
             if not says(answer, body) or answer['confidence'] != 'exact']
    tap.check(len(answers) == 2 * N_ALIVE and not wrong,
              f'churn: {len(answers)} questions about the {len(fed.living)} that live', *wrong[:5])


def check_evicted(tap, programs, daemon, fed):
    """Bodies that were unloaded early have no name, and the answer is not "nothing there"."""
    answers = resolve(programs, daemon, CHURNING,
                      [(body.start, body.loaded) for body in fed.early])
    statuses = collections.Counter(answer['status'] for answer in answers)
    tap.equal(dict(statuses), {'evicted': len(fed.early)}, 'churn: what went first is evicted')


def check_journal(tap, daemon, state, sizes):
    # Each image has a number, and the file of the later records has the next number.
    largest = max(sizes)
    images = max(int(path.name.split('.')[1]) for path in state.glob('journal.*')) // 2
    tap.check(largest <= JOURNAL_MAX,
              f'the journal has {largest / MIB:.1f} MiB at most, with {images} images on the way',
              f'may have {JOURNAL_MAX / MIB:.0f} MiB')
    tap.check(images > 3, 'it was made shorter again and again', images)
    tap.check('cannot' not in daemon.log(), 'nothing went wrong', daemon.log())


def run_churn(tap, programs, program, daemon, state):
    with sampling(daemon) as samples, Sizes(state) as journal:
        fed = feed(program, daemon, bodies=N_BODIES, alive=N_ALIVE, seed=7, pid=CHURNING)
    tap.check(len(samples) >= MIN_SAMPLES, f'churn: {len(samples)} samples while it was fed')
    last = status(daemon)
    samples.append(Sample(rss(daemon.process.pid), last))
    check_bounds(tap, samples, fed, 'churn')
    check_journal(tap, daemon, state, journal.sizes)
    tap.equal((last['method_loads'], last['method_unloads'], last['il_maps']),
              (N_BODIES, N_BODIES - N_ALIVE, fed.il_maps), 'churn: every record was taken')
    tap.equal((last['live_bodies'], last['refused']), (N_ALIVE, 0), 'churn: the living were kept')
    tap.equal(last['evicted_bodies'], N_BODIES - last['bodies'],
              'churn: what is not kept was evicted')
    tap.check(last['evicted_bodies'] > N_BODIES / 2 and last['bodies'] > 2 * N_ALIVE,
              f'churn: {last["evicted_bodies"]} were evicted, {last["bodies"]} are kept')
    tap.note(f'churn: {last["names"]} names, {last["il_maps_kept"]} IL maps of '
             f'{last["il_map_bytes"] / MIB:.1f} MiB are kept')
    check_living(tap, programs, daemon, fed)
    check_evicted(tap, programs, daemon, fed)
    return fed


def check_restarted(tap, programs, daemon, fed, want):
    """WANT: bodies that the killed daemon listed."""
    last = status(daemon)
    tap.check(last['bytes'] <= MEMORY_MAX, 'in the same budget', last['bytes'])
    check_living(tap, programs, daemon, fed)
    check_evicted(tap, programs, daemon, fed)
    # Some more or fewer of the oldest bodies may be evicted; the others are the same.
    got = programs.ask(daemon.source, 'methods', '--all')
    known = set(want)
    common = sum(row in known for row in got)
    tap.check(common == min(len(got), len(want)) and common > 0.95 * len(want),
              f'{len(got)} bodies of {len(want)}, {common} of them the same')


def run_crowd(tap, programs, program, daemon, churn):
    """More living bodies than memory has room for."""
    with sampling(daemon) as samples:
        fed = feed(program, daemon, bodies=N_CROWD, alive=N_CROWD, seed=8, pid=CROWDED)
    last = status(daemon)
    samples.append(Sample(rss(daemon.process.pid), last))
    check_bounds(tap, samples, fed, 'crowd')
    n_kept = last['live_bodies'] - N_ALIVE
    tap.check(last['refused'] > 0 and 0 < n_kept < N_CROWD,
              f'crowd: {n_kept} were kept, {last["refused"]} records refused', last)
    tap.equal((last['bodies'], last['il_maps_kept']), (last['live_bodies'], 0),
              'crowd: the dead and the IL maps had to go first')

    # The daemon keeps the bodies fed first, and refuses the last ones; the answers show the border.
    answers = resolve(programs, daemon, CROWDED, [(body.start, fed.end) for body in fed.living])
    kept = [(body, answer) for body, answer in zip(fed.living, answers)
            if answer['status'] == 'ok']
    wrong = [f'{body} answered: {answer}' for body, answer in kept if not says(answer, body)]
    tap.check(len(kept) == n_kept and not wrong, f'crowd: the {len(kept)} that are kept are named',
              *wrong[:5])
    denied = [answer for answer in answers if answer['status'] != 'ok']
    tap.check(denied and all(answer['status'] == 'no-method' for answer in denied),
              f'crowd: {len(denied)} others are not there',
              collections.Counter(answer['status'] for answer in denied))
    tap.check(all(answer['confidence'] == 'gap' for answer in answers),
              'crowd: and every answer has the confidence of a gap',
              collections.Counter(answer['confidence'] for answer in answers))
    check_living(tap, programs, daemon, churn)


def test(tap, programs, directory, rest):
    program, = rest
    state = pathlib.Path(directory) / 'state'
    options = ['--memory-max', '64M', '--state', state]
    begin = time.monotonic()
    with recorded.Daemon(programs, directory, *options) as daemon:
        churn = run_churn(tap, programs, program, daemon, state)
        want = programs.ask(daemon.source, 'methods', '--all')
        daemon.process.kill()
        daemon.process.wait()
    restarted = time.monotonic()
    with recorded.Daemon(programs, directory, *options) as daemon:
        n_bodies = status(daemon)['bodies']
        tap.note(f'{n_bodies} bodies back in {time.monotonic() - restarted:.2f} s, from '
                 f'{journal_size(state) / MIB:.1f} MiB')
        check_restarted(tap, programs, daemon, churn, want)
        run_crowd(tap, programs, program, daemon, churn)
    tap.equal(daemon.status, 0, 'the daemon ends in good order')
    tap.note(f'{time.monotonic() - begin:.0f} s in all')


if __name__ == '__main__':
    recorded.main(test)
