# SPDX-License-Identifier: MIT
"""Processes whose code is loaded and unloaded as in real processes, only much faster. Churn
feeds the events and knows the resulting names."""

import random

from tests.daemon import ingest


# Pids that no process of this machine has.
PIDS = [(1 << 23) + i for i in range(3)]
HEAP, GRANULE, N_GRANULES = 0x10000000, 16, 1200
STEP = 1000
# ns; longer than other threads of a runtime emit events after its exit.
AFTER_EXIT = 2 * 10**9
# Relative frequency of the events.
KINDS = {'load': 60, 'unload': 25, 'rundown': 6, 'entry': 6}


class Body:
    """A living body: [start, end) and its name; size None: only the first address is known."""

    def __init__(self, start, size, name):
        self.start, self.size, self.name = start, size, name
        self.end = start + (size or 1)


class Churn:
    """Feeds random events in batches, on one stream."""

    def __init__(self, feeder, seed):
        self.feeder, self.random = feeder, random.Random(seed)
        self.time, self.n = 10**12, 0
        self.living = {pid: [] for pid in PIDS}
        self.news = []  # (event, pid, start, name) of the last batch
        self.frames = []
        self.feeder.send(ingest.hello(), ingest.stream_open())

    def end(self, pid, body):
        self.living[pid].remove(body)
        self.news.append(('unload', pid, hex(body.start), body.name))

    def begin(self, pid, body, frame):
        """Loads BODY over the bodies at its addresses, as if their unload events were lost."""
        for other in [other for other in self.living[pid]
                      if other.start < body.end and body.start < other.end]:
            self.end(pid, other)
        self.living[pid].append(body)
        self.news.append(('load', pid, hex(body.start), body.name))
        self.frames.append(frame)

    def happen(self, pid, kind):
        self.time += STEP
        self.n += 1
        start = HEAP + GRANULE * self.random.randrange(N_GRANULES)
        size = self.random.randrange(1, 8 * GRANULE)
        name = f'M{self.n}'
        if kind in ('load', 'rundown'):
            make = ingest.body if kind == 'load' else ingest.rundown
            self.begin(pid, Body(start, size, name),
                       make(self.time, start, name, method=self.n, size=size, pid=pid))
        elif kind == 'entry':
            self.begin(pid, Body(start, None, name),
                       ingest.r2r_entry(self.time, start, name, method=self.n, pid=pid))
        elif kind == 'unload' and self.living[pid]:
            body = self.random.choice(self.living[pid])
            if body.size:
                self.end(pid, body)
                self.frames.append(ingest.unload(self.time, body.start, body.name, pid=pid,
                                                 method=int(body.name[1:]), size=body.size))

    def exit(self, pid):
        self.time += STEP
        self.frames.append(ingest.domain_unload(self.time, pid=pid))
        self.living[pid] = []
        self.time += AFTER_EXIT

    def batch(self, n, is_exiting=False):
        """Feeds a batch of N events and waits for the acknowledgement. With IS_EXITING, one of
        the processes exits first, and another program gets its pid."""
        self.news, self.frames = [], []
        if is_exiting:
            self.exit(self.random.choice(PIDS))
        for _ in range(n):
            kind, = self.random.choices(list(KINDS), KINDS.values())
            self.happen(self.random.choice(PIDS), kind)
        self.feeder.send(*self.frames, ingest.progress(self.time), ingest.commit())
        self.feeder.receive_until(ingest.COMMITTED)

    def addresses(self, n):
        return [HEAP + self.random.randrange(GRANULE * N_GRANULES) for _ in range(n)]

    def name_at(self, pid, address):
        """Returns the name of the body that lives at ADDRESS, or None."""
        for body in self.living[pid]:
            if body.start <= address < body.end:
                return body.name
        return None
