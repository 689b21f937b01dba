# SPDX-License-Identifier: MIT
"""Callers of a method: merged callers, with a recursion counted once."""

import collections
import random

from tests.profile import browser, cases, graphs

A, B, C = (cases.Frame(f'Shop.{name}()', module='shop.dll', tier='QuickJitted') for name in 'ABC')
POOL = cases.Frame('System.Threading.ThreadPoolWorkQueue.Dispatch()', module='System.Private.CoreLib.dll', tier='ReadyToRun')


def samples_of(seed):
    choose = random.Random(seed)
    samples = []
    for _ in range(12):
        stack = []
        while len(stack) < 6 and choose.random() < .85:
            frame = choose.choice([A, B, C, POOL])
            if stack[-1:] != [frame]:
                stack.append(frame)
        samples += [cases.Sample(tuple(reversed(stack)), choose.choice(['main', 'pool']),
                                 choose.choice([1, 2]))] * choose.randrange(1, 900)
    return samples


def wanted(samples, frame):
    totals = collections.Counter()
    for sample in samples:
        stack = sample.frames[::-1]
        if frame not in stack:
            continue
        names = [other.name for other in reversed(stack[:stack.index(frame)])] + [sample.comm, f'process {sample.pid}']
        for i in range(len(names) + 1):
            totals[tuple(names[:i])] += 1
    return {path: [(n, 0)] for path, n in totals.items()}


def check_random(tap, tool, directory, page):
    for seed in range(3):
        path, samples = directory / f'callers{seed}.html', samples_of(seed)
        page.open(tool.write(samples, path, commands={1: 'process 1', 2: 'process 2'}))
        graph = graphs.Graph(page)
        tree = graph.walk()
        for frame in (A, POOL):
            page.key('m')
            page.run(f"""[...document.querySelectorAll('#rows tr')].find((row) => row.innerText.includes({frame.name!r}))
                .querySelector('.callers').click()""")
            page.settle()
            tap.equal((graph.name(), graph.walk()), (frame.name, wanted(samples, frame)),
                      f'callers {seed}: of {frame.name}, with exact sums')
        page.key('Escape')
        tap.check(graph.walk() == tree, f'callers {seed}: Escape shows the calls again')
        graphs.quiet(tap, page, path, f'callers {seed}')


def check_keys(tap, tool, directory, page):
    """Callers by button and by key, and with folded frames."""
    page.open(tool.write([cases.Sample((B, A, POOL, A, POOL))] * 3 + [cases.Sample((B, C))], directory / 'keys.html'))
    graph = graphs.Graph(page)
    is_off = "document.getElementById('callers').disabled"
    off = page.run(is_off)
    page.click(*graph.at(6, .1))
    tap.equal((off, page.run(is_off)), (True, False), 'callers: a method has to be selected')
    page.key('c')
    tap.equal([graph.point(row, .1) for row in range(6)], [B.name, A.name, POOL.name, A.name, POOL.name, 'app'],
              'callers: of the selected method, by a key')
    page.key('y')
    tap.equal([graph.point(row, .1) for row in range(6)], [B.name, A.name, '[external code]', A.name, '[external code]', 'app'],
              'callers: folded')
    graph.point(1, .1)
    tap.check('3 samples (75.0 %) of Shop.B() by this caller \u00b7 75.0 % of its samples' in graph.details(),
              'callers: with their share', graph.details())
    page.key('c')
    tap.equal(graph.point(0, .5), 'all', 'callers: the key shows the calls again')


def check(tap, tool, directory, program):
    with browser.Browser(program) as page:
        page.resize(1280, 700)
        check_random(tap, tool, directory, page)
        check_keys(tap, tool, directory, page)
