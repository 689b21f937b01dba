# SPDX-License-Identifier: MIT
"""What a command costs: wall time, CPU time, and memory of it and its children together."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import threading
import time

SAMPLE_SECONDS = 0.004


@dataclasses.dataclass
class Cost:
    wall: float
    cpu: float  # seconds, user and system, children included


def median(costs):
    """The median of each figure by itself."""
    return Cost(*(statistics.median(values)
                  for values in zip(*(dataclasses.astuple(cost) for cost in costs))))


def start(command, stdin, environment):
    with open(stdin or os.devnull, 'rb') as source:
        return subprocess.Popen([str(word) for word in command], stdin=source,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=environment)


def check(process, errors):
    if process.returncode != 0:
        raise RuntimeError(f'{process.args}: exit {process.returncode}: {errors.decode()}')


def run(command, stdin=None, environment=None):
    """Runs to the end; its output is thrown away. Fails if it fails."""
    begin = time.monotonic()
    process = start(command, stdin, environment)
    errors = process.stderr.read()
    # Unlike Popen.wait(): with the resources of it and of the children that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process, errors)
    return Cost(time.monotonic() - begin, usage.ru_utime + usage.ru_stime)


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


def resident(pid):
    """Memory, in MiB, of all processes below PID: (all, anonymous). What several of them share
    counts once. A mapped trace counts in the first, though its pages are the page cache's."""
    total = anonymous = 0
    for process in tree(pid):
        try:
            # Between fork and exec, a process is still the one that started it.
            if os.path.samefile(f'/proc/{process}/exe', '/proc/self/exe'):
                continue
            text = pathlib.Path(f'/proc/{process}/smaps_rollup').read_text()
        except OSError:
            continue
        figures = dict(line.split()[:2] for line in text.splitlines()[1:])
        total += int(figures['Pss:'])
        anonymous += int(figures['Pss_Anon:'])
    return total / 1024, anonymous / 1024


def peak_memory(command, stdin=None, environment=None):
    """The most that a command and its children had at one time, of either. A run of its own:
    looking so often takes time. (The kernel's ru_maxrss has the memory of whoever called fork.)"""
    process = start(command, stdin, environment)
    peak, is_over = [(0, 0)], threading.Event()

    def watch():
        while not is_over.wait(SAMPLE_SECONDS):
            peak[0] = tuple(map(max, peak[0], resident(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    errors = process.communicate()[1]
    is_over.set()
    watcher.join()
    check(process, errors)
    return peak[0]
