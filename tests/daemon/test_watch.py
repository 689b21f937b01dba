# SPDX-License-Identifier: MIT
"""Watch, and cached answers: Watch reports all changes and nothing else; a client that caches by
the rules of the manual never has a wrong name, however fast code comes and goes."""

import json
import pathlib
import time

from tests.daemon import ingest
from tests.daemon.churn import Churn, PIDS
from tests.daemon.test_daemon import Client, rss_mib
from tests.traces import recorded

SEED = 20240609
# Number of batches, and of events in each.
N_BATCHES, N_EVENTS = 250, 40
# Number of states with queries, of queries in each, and of different addresses.
N_STATES, N_QUESTIONS, N_ADDRESSES = 300, 80, 10
N_AT_ONCE = 10
# In every n-th state there are more changes, or far more: beyond a small budget.
MORE, MUCH, EVERY = 300, 3000, 15
# 40 MiB of events; a sanitizer keeps freed memory.
GROWTH_MIB, GROWTH_SANITIZED_MIB = 32, 200


def nanoseconds(text):
    return None if text is None else int(text.replace('.', ''))


class Watcher:
    """A connection with a running Watch call."""

    def __init__(self, daemon, **parameters):
        self.client = Client(daemon.query)
        self.client.send(json.dumps({'method': 'org.clrsym.Symbolizer.Watch', 'more': True,
                                     'parameters': parameters}).encode() + b'\0')
        self.first = self.next()

    def next(self):
        reply = self.client.reply()
        assert reply['continues'] is True, reply
        return reply['parameters']['events']

    def close(self):
        self.client.close()


def in_any_order(news):
    """Sorts events of one time, because their order is undefined."""
    found, run = [], []
    for one in news:
        if one[0] == 'unload':
            run.append(one)
        else:
            found += [*sorted(run), one]
            run = []
    return found + sorted(run)


def processes(client):
    """Returns (pid_ns, pid) -> highest epoch."""
    client.ask('ListProcesses')
    found = {}
    for row in client.reply()['parameters']['processes']:
        key = row['pid_ns'], row['pid']
        found[key] = max(found.get(key, 0), row['epoch'])
    return found


def check_truth(tap, daemon):
    """Watch reports each event, and an epoch after each change that can affect a name."""
    watcher, client = Watcher(daemon), Client(daemon.query)
    churn = Churn(ingest.Feeder(daemon.ingest), SEED)
    tap.equal(watcher.first, [], 'a daemon without processes: the first reply is empty')
    epochs, differences, unsaid, n_changes, n_silent = {}, [], [], 0, 0
    for number in range(N_BATCHES):
        churn.batch(N_EVENTS, is_exiting=number % 50 == 49)
        want, got, told = in_any_order(churn.news), [], set()
        while len(got) < len(want):
            for event in watcher.next():
                if event['event'] == 'epoch':
                    key = event['pid_ns'], event['pid']
                    if event['epoch'] <= epochs.get(key, 0):
                        unsaid.append(f'an epoch goes back: {event}')
                    epochs[key] = event['epoch']
                    told.add(event['pid'])
                else:
                    got.append((event['event'], event['pid'], event['start'],
                                event['method']['name']))
        now = processes(client)
        # The epochs follow the last event, which may be the end of a reply.
        deadline = time.monotonic() + 20
        while epochs != now and time.monotonic() < deadline:
            for event in watcher.next():
                epochs[(event['pid_ns'], event['pid'])] = event['epoch']
                told.add(event['pid'])
        if epochs != now:
            unsaid.append(f'epochs: reported {epochs}, are {now}')
        differences += [f'{a} / {b}' for a, b in zip(in_any_order(got), want) if a != b]
        ended = {pid for kind, pid, _, _ in want if kind == 'unload'}
        unsaid += [f'{pid}: a body ended, and no epoch' for pid in ended - told]
        n_changes += len(got)
        n_silent += len(PIDS) - len(told)
    tap.check(n_changes > N_BATCHES * N_EVENTS / 2 and not differences,
              f'{n_changes} loads and unloads are reported as they happen', len(differences),
              *differences[:5])
    tap.check(not unsaid, 'with an epoch wherever a name could change', *unsaid[:5])
    again = Watcher(daemon)
    tap.check({event['event'] for event in again.first} == {'epoch'} and
              {(event['pid_ns'], event['pid']) for event in again.first} == set(epochs),
              'a client that comes later is sent the present state', again.first)
    again.close()
    watcher.close()
    client.close()
    churn.feeder.close()


def check_quiet(tap, daemon):
    """A load at a free address changes no name, so there is no new epoch."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(uuid=b'q' * 16), ingest.body(10, 0x1000),
                ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    watcher = Watcher(daemon, pid=100, pid_ns=0)
    kinds = [event['event'] for event in watcher.first]
    feeder.send(*(ingest.body(20 + i, 0x2000 + 16 * i, f'Q{i}', method=i) for i in range(500)),
                ingest.commit())
    feeder.send(ingest.unload(1000, 0x1000), ingest.commit())
    while 'unload' not in kinds or kinds[-1] != 'epoch':
        kinds += [event['event'] for event in watcher.next()]
    tap.equal(kinds, ['epoch', *['load'] * 500, 'unload', 'epoch'],
              'loads where nothing was are no new epoch; an unload is')
    watcher.close()
    feeder.close()


def check_end(tap, daemon):
    """The end of a process gives a new epoch, which invalidates all cached answers about the
    process; a second later the process is gone, because an untraced program may have its pid."""
    feeder, client = ingest.Feeder(daemon.ingest), Client(daemon.query)
    feeder.send(ingest.hello(), ingest.stream_open(uuid=b'e' * 16),
                ingest.body(10, 0x1000, 'End', pid=700), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    watcher = Watcher(daemon, pid=700, pid_ns=0)
    before = ask_all(client, [(700, 0x1000, 500)])['answers'][0]
    feeder.send(ingest.domain_unload(1000, pid=700), ingest.progress(10**10), ingest.commit())
    events = watcher.next()
    at = [500, 10**9 + 1000, 10**9 + 1001, 9 * 10**9, None]
    answers = ask_all(client, [(700, 0x1000, moment) for moment in at])['answers']
    tap.equal([(event['event'], event['epoch'] > before['epoch']) for event in events],
              [('epoch', True)], 'the end of a process is a new epoch')
    tap.equal([(before['status'], before['unloaded'])], [('ok', None)],
              'before the end, an answer may be kept')
    tap.equal([(answer['status'], answer['confidence'],
                nanoseconds(answer.get('nearest', answer)['unloaded'])) for answer in answers],
              [(status, 'exact', 1000) for status in ('ok', 'ok', 'unloaded', 'unloaded', 'ok')],
              'after it, none may; and a second later the body is unloaded')
    watcher.close()
    client.close()
    feeder.close()


def check_slow_reader(tap, daemon):
    """A client that does not read loses events, and Watch reports the loss; the daemon does not
    grow."""
    watcher, client = Watcher(daemon), Client(daemon.query)
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(uuid=b's' * 16))
    before = rss_mib(daemon.process.pid)
    n_loads, n_fed, events = 100_000, 0, []
    next_read = time.monotonic()
    while n_fed < n_loads:
        feeder.send(*(ingest.body(10**9 + n_fed + i, 0x40000000 + 16 * ((n_fed + i) % 1000),
                                  f'S{n_fed + i}', method=n_fed + i, pid=500)
                      for i in range(1000)), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        n_fed += 1000
        if time.monotonic() >= next_read:  # read now and then, else the daemon disconnects
            watcher.client.input += watcher.client.socket.recv(1 << 14)
            next_read = time.monotonic() + 1
    growth = rss_mib(daemon.process.pid) - before
    maps = pathlib.Path(f'/proc/{daemon.process.pid}/maps').read_text(encoding='utf-8')
    tap.check(growth < (GROWTH_SANITIZED_MIB if 'libasan' in maps else GROWTH_MIB),
              f'the daemon grows by {growth:.0f} MiB', before)
    tap.check(client.resolve('0x40000000', pid=500, pid_ns=0)['status'] == 'ok',
              'others are answered')
    now = processes(client)
    kept, n_resyncs = {}, 0
    while kept != now:
        for event in watcher.next():
            if event['event'] == 'resync':
                kept, n_resyncs = {}, n_resyncs + 1
                tap.check(event == {'event': 'resync'}, 'resync, and no more', event)
            elif event['event'] == 'epoch':
                key = event['pid_ns'], event['pid']
                kept[key] = max(kept.get(key, 0), event['epoch'])
            events.append(event['event'])
    tap.check(n_resyncs == 1 and events.count('load') < n_loads,
              f'it is sent {events.count("load")} of {n_loads} loads, and the loss')
    feeder.send(ingest.body(5 * 10**9, 0x50000000, 'Last', pid=500), ingest.commit())
    last = watcher.next()
    tap.equal([(event['event'], event['method']['name']) for event in last], [('load', 'Last')],
              'events go on')
    watcher.close()
    client.close()
    feeder.close()


class Kept:
    """A cached answer."""

    def __init__(self, answer, asked):
        self.start = int(answer['start'], 16)
        self.end = self.start + answer['size'] if answer['size'] else int(answer['addr'], 16) + 1
        self.first = self.start if answer['size'] else int(answer['addr'], 16)
        self.name = answer['method']['name']
        loaded = nanoseconds(answer['loaded'])
        self.since = asked if loaded is None else loaded  # None: only for queries without a time

    def answers(self, address, moment):
        return self.first <= address < self.end and \
            (moment is None or self.since is not None and moment >= self.since)


def ask_all(client, questions):
    client.ask('Resolve', queries=[{'pid': pid, 'pid_ns': 0, 'addr': hex(address), 'time': moment}
                                   for pid, address, moment in questions])
    return client.reply()['parameters']


def name_or_status(answer):
    return answer['method']['name'] if answer['status'] == 'ok' else answer['status']


class Cache:
    """Caches answers by the rules of clrsym-protocol(7), WHAT MAY BE KEPT."""

    def __init__(self, daemon, is_watching):
        self.watcher = Watcher(daemon) if is_watching else None
        self.client = Client(daemon.query)
        self.kept, self.epochs, self.horizons = {}, {}, {}
        self.n_hits = self.n_asked = 0
        for event in self.watcher.first if is_watching else ():
            self.hear(event)

    def hear(self, process):
        """Takes the epoch of a process, from a reply or an event."""
        key = process['pid_ns'], process['pid']
        if process['epoch'] > self.epochs.get(key, 0):
            self.epochs[key] = process['epoch']
            self.kept[key] = []
            self.horizons.pop(key, None)
        if process['epoch'] == self.epochs[key] and 'horizon' in process:
            self.horizons[key] = nanoseconds(process['horizon'])

    def read_news(self, epochs):
        """Reads events until all of EPOCHS have arrived."""
        while any(self.epochs.get(key, 0) < epoch for key, epoch in epochs.items()):
            for event in self.watcher.next():
                if event['event'] == 'resync':
                    self.kept, self.epochs = {}, {}
                elif event['event'] == 'epoch':
                    self.hear(event)

    def look_up(self, pid, address, moment):
        """Returns the cached name, or None."""
        return next((kept.name for kept in self.kept.get((0, pid), ())
                     if kept.answers(address, moment)), None)

    def ask(self, questions):
        """Returns the names or statuses, and caches the cacheable ones."""
        reply = ask_all(self.client, questions)
        for process in reply['processes']:
            self.hear(process)
        for (pid, _, moment), answer in zip(questions, reply['answers']):
            if answer['status'] == 'ok' and answer['unloaded'] is None and \
                    answer['epoch'] == self.epochs[(0, pid)]:
                self.kept[(0, pid)].append(Kept(answer, moment))
        return [name_or_status(answer) for answer in reply['answers']]

    def resolve(self, questions):
        """Returns (name or status, whether it was cached) for each (pid, address, moment)."""
        kept = [self.look_up(*question) for question in questions]
        missed = [question for question, name in zip(questions, kept) if name is None]
        self.n_hits += len(questions) - len(missed)
        self.n_asked += len(missed)
        asked = iter(self.ask(missed) if missed else ())
        return [(next(asked), False) if name is None else (name, True) for name in kept]

    def close(self):
        if self.watcher:
            self.watcher.close()
        self.client.close()


def fresh(client, questions):
    """Returns the current names or statuses."""
    return [name_or_status(answer) for answer in ask_all(client, questions)['answers']]


def check_kept(tap, daemon, is_watching, n_most, seed):
    """Sends the same queries to the cache and to the daemon, in each of many states; some for
    times up to which the cache is valid."""
    how = 'with Watch' if is_watching else 'by replies alone'
    client = Client(daemon.query)
    churn = Churn(ingest.Feeder(daemon.ingest), seed)
    churn.batch(n_most)
    cache, addresses = Cache(daemon, is_watching), churn.addresses(N_ADDRESSES)
    wrong, n_names, n_untrue = [], 0, 0
    for state in range(1, N_STATES + 1):
        churn.batch(n_most if state % EVERY == 0 else churn.random.randrange(1, 4),
                    is_exiting=state % 150 == 50)
        if is_watching:
            cache.read_news(processes(client))
        else:
            # One query about each process, as the manual demands.
            cache.ask([(pid, 0, None) for pid in PIDS])
        questions = []
        for _ in range(N_QUESTIONS):
            pid, address = churn.random.choice(PIDS), churn.random.choice(addresses)
            horizon = cache.horizons.get((0, pid))
            moment = None
            if horizon and churn.random.randrange(2):
                moment = horizon - churn.random.randrange(100_000)
            questions.append((pid, address, moment))
        answers = [answer for first in range(0, N_QUESTIONS, N_AT_ONCE)
                   for answer in cache.resolve(questions[first:first + N_AT_ONCE])]
        for question, (name, was_kept), want in zip(questions, answers, fresh(client, questions)):
            n_names += want[0] == 'M'
            if name != want:
                wrong.append(f'{question}: {name} {"kept" if was_kept else "asked"}, is {want}')
            pid, address, moment = question
            if moment is None and want[0] == 'M':
                # Without a living body, the answer is the only body that was there.
                truth = churn.name_at(pid, address)
                n_untrue += truth is not None and truth != want
    share = cache.n_hits / (cache.n_hits + cache.n_asked)
    tap.check(not wrong and n_names > N_STATES * N_QUESTIONS / 5,
              f'{how}: {n_names} names in {N_STATES} states, none of them wrong', len(wrong),
              *wrong[:5])
    tap.equal(n_untrue, 0, f'{how}: and what the daemon says is true')
    tap.check(share > 0.12, f'{how}: {share:.0%} of the questions were answered from what was kept')
    cache.close()
    client.close()
    churn.feeder.close()


def check_restart(tap, programs, directory):
    """The epochs of the next daemon are higher, and the cached answers of the daemon before are
    invalid."""
    epochs = []
    for _ in range(2):
        with recorded.Daemon(programs, directory) as daemon:
            feeder = ingest.Feeder(daemon.ingest)
            feeder.send(ingest.hello(), ingest.stream_open(), ingest.body(10, 0x1000),
                        *(ingest.body(20 + i, 0x2000, f'B{i}', method=i) for i in range(3000)),
                        ingest.commit())
            feeder.receive_until(ingest.COMMITTED)
            client = Client(daemon.query)
            epochs.append(processes(client)[(0, 100)])
            client.close()
            feeder.close()
        time.sleep(1)
    tap.check(epochs[0] < epochs[1] < 1 << 53, 'epochs go on after a restart', epochs)


def run(tap, programs, directory, names):
    with recorded.Daemon(programs, directory) as daemon:
        check_truth(tap, daemon)
        check_quiet(tap, daemon)
        check_end(tap, daemon)
    # With so little memory for code, only events could use more.
    with recorded.Daemon(programs, directory, '--memory-max', '8M') as daemon:
        check_slow_reader(tap, daemon)
        tap.equal(daemon.process.poll(), None, 'the daemon has lived through it')
    for is_watching in (True, False):
        # The second daemon has too little memory for all bodies: it evicts dead ones.
        for options in ((), ('--memory-max', '8M')):
            with recorded.Daemon(programs, directory, *options) as daemon:
                check_kept(tap, daemon, is_watching, MUCH if options else MORE,
                           SEED + len(options))
                client = Client(daemon.query)
                client.ask('Status')
                n = client.reply()['parameters']['evicted_bodies']
                tap.equal(n > 0, bool(options), f'{n} bodies were forgotten because there was no memory')
                client.close()
    check_restart(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
