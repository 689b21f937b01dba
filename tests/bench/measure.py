# SPDX-License-Identifier: MIT
"""What a command costs: wall time, CPU time, and memory of it and its children together."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import threading
import time

SAMPLE_SECONDS = 0.005


@dataclasses.dataclass
class Cost:
    wall: float
    cpu: float  # seconds, user and system, children included
    rss: float  # MiB: the sum of the peaks of all processes, so never less than the real peak


def median(costs):
    """Of each figure by itself."""
    return Cost(*(statistics.median(values)
                  for values in zip(*(dataclasses.astuple(cost) for cost in costs))))


def tree(pid):
    """PID and its descendants."""
    pids = [pid]
    for parent in pids:
        try:
            for task in pathlib.Path(f'/proc/{parent}/task').iterdir():
                pids += map(int, (task / 'children').read_text().split())
        except OSError:
            pass
    return pids


def peaks(pid, into):
    for process in tree(pid):
        try:
            for line in pathlib.Path(f'/proc/{process}/status').read_text().splitlines():
                if line.startswith('VmHWM:'):
                    into[process] = max(into.get(process, 0), int(line.split()[1]))
        except OSError:
            pass


def run(command, stdin=None, environment=None):
    """Runs to the end; its output is thrown away. Fails if it fails."""
    into, is_over = {}, threading.Event()
    begin = time.monotonic()
    with open(stdin or os.devnull, 'rb') as source:
        process = subprocess.Popen([str(word) for word in command], stdin=source,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment)

    def sample():
        while not is_over.wait(SAMPLE_SECONDS):
            peaks(process.pid, into)

    sampler = threading.Thread(target=sample)
    sampler.start()
    errors = process.stderr.read()
    # Unlike Popen.wait(): with the resources of it and of the children that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    is_over.set()
    sampler.join()
    if process.returncode != 0:
        raise RuntimeError(f'{command}: exit {process.returncode}: {errors.decode()}')
    # The sampler may have missed the end of the largest one; the kernel does not.
    largest = max(into, key=into.get, default=process.pid)
    into[largest] = max(into.get(largest, 0), usage.ru_maxrss)
    return Cost(wall, usage.ru_utime + usage.ru_stime, sum(into.values()) / 1024)
