# SPDX-License-Identifier: MIT
"""Processes whose code comes and goes as it does in real ones, only much faster: what is fed, and
what is then true."""

import random

import ingest

# No process of this machine has such a pid.
PIDS = [(1 << 23) + i for i in range(3)]
HEAP, GRANULE, N_GRANULES = 0x10000000, 16, 1200
STEP = 1000
# Longer than a runtime's other threads emit after its exit.
AFTER_EXIT = 2 * 10**9
# Shares of what happens.
KINDS = {'load': 60, 'unload': 25, 'rundown': 6, 'entry': 6}


class Body:
    """A body that lives: [start, end) and its name; size None: only its first address is known."""

    def __init__(self, start, size, name):
        self.start, self.size, self.name = start, size, name
        self.end = start + (size or 1)


class Churn:
    """Happens batch by batch, on one stream."""

    def __init__(self, feeder, seed):
        self.feeder, self.random = feeder, random.Random(seed)
        self.time, self.n = 10**12, 0
        self.living = {pid: [] for pid in PIDS}
        self.news = []  # (event, pid, start, name), of the last batch
        self.frames = []
        self.feeder.send(ingest.hello(), ingest.stream_open())

    def end(self, pid, body):
        self.living[pid].remove(body)
        self.news.append(('unload', pid, hex(body.start), body.name))

    def begin(self, pid, body, frame):
        """Over whatever is there, whose unload was lost."""
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
        """N things happen, and are known once this returns; before them, one of the processes may
        have exited, and another program got its pid."""
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
        """What lives there now, or None."""
        for body in self.living[pid]:
            if body.start <= address < body.end:
                return body.name
        return None
