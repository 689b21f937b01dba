# SPDX-License-Identifier: MIT
"""Frames that the page folds: runs of unnamed frames, and frames that are not user code."""

import collections
import itertools
import random

from tests.profile import browser, cases, graphs

LIBRARY = '[libcoreclr.so]'
EXTERNAL = '[external code]'
MINE = [cases.Frame(f'Shop.{name}()', module='/app/shop.dll', tier='QuickJitted') for name in ('Main', 'Sell')]
# A package is user code, however its name begins.
MINE.append(cases.Frame('System.Reactive.Observe()', module='System.Reactive.dll', tier='ReadyToRun'))
THEIRS = [cases.Frame('System.Threading.Thread.StartCallback()', module='System.Private.CoreLib.dll', tier='ReadyToRun'),
          cases.Frame('System.Mine()', module='/dotnet/shared/Microsoft.Mine.App/1.0.0/Mine.dll', tier='ReadyToRun'),
          cases.Frame('memcpy', 'native', module='/lib/libc.so.6'), cases.Frame('do_fault', 'kernel', module='[kernel]')]
UNNAMED = cases.Frame('', 'native', module='/dotnet/libcoreclr.so')
MARK = cases.Frame('[continued after await]', 'unknown')


def samples_of(seed):
    """Returns samples with stacks in which only the unnamed frame calls itself."""
    choose = random.Random(seed)
    samples = []
    for _ in range(14):
        stack = []
        while len(stack) < 8 and choose.random() < .85:
            frame = choose.choice([*MINE, *THEIRS, *[UNNAMED] * 4, MARK])
            if frame is UNNAMED or stack[-1:] != [frame]:
                stack.append(frame)
        # The numbers of samples differ, so that a walk sees each stack.
        samples += [cases.Sample(tuple(reversed(stack)), comm=choose.choice(['main', 'pool']))] * choose.randrange(1, 900)
    return samples


def folded(stack, hides_external):
    """Returns [(name, frames)] of a stack, the root first."""
    names = [(LIBRARY if frame is UNNAMED else frame.name, frame in MINE, frame is MARK) for frame in reversed(stack)]
    last = max((i for i, row in enumerate(names) if row[1]), default=-1) if hides_external else -1
    keys = [EXTERNAL if i < last and not is_mine and not is_mark else name
            for i, (name, is_mine, is_mark) in enumerate(names)]
    return [(key, len(list(run))) for key, run in itertools.groupby(keys)]


def wanted(samples, hides_external):
    """Returns the expected result of graphs.Graph.walk()."""
    totals, selves, lengths = collections.Counter(), collections.Counter(), {}
    for sample in samples:
        rows = [(sample.comm, 1), *folded(sample.frames, hides_external)]
        path = ()
        for name, n in rows:
            path += (name,)
            totals[path] += 1
            lengths.setdefault(path, set()).add(n)
        selves[path] += 1

    def shown(path):
        known = lengths[path]
        times = max(known)
        return path[-1] + (f' x{min(known)}-{times}' if len(known) > 1 else f' x{times}' if times > 1 else '')

    found = {(): [(len(samples), 0)]}
    for path in totals:
        key = tuple(shown(path[:i + 1]) for i in range(len(path)))
        found[key] = [(totals[path], selves[path])]
    return found


def check_folds(tap, tool, directory, page):
    for seed in range(3):
        path, samples = directory / f'folds{seed}.html', samples_of(seed)
        tool.write(samples, path)
        page.open(path)
        graph = graphs.Graph(page)
        tap.equal(graph.walk(), wanted(samples, False), f'folds {seed}: runs of unnamed frames, with exact sums')
        page.key('y')
        tap.equal(graph.walk(), wanted(samples, True), f'folds {seed}: what is between your code, with exact sums')
        page.key('y')
        tap.equal(graph.walk(), wanted(samples, False), f'folds {seed}: unfolded again')
        graphs.quiet(tap, page, path, f'folds {seed}')


def check_switches(tap, tool, directory, page):
    path = directory / 'runs.html'
    run = (MINE[1], *[UNNAMED] * 3, MINE[0])
    tool.write([cases.Sample(run)] * 3 + [cases.Sample((THEIRS[2], *run))], path)
    page.open(path)
    graph = graphs.Graph(page)
    names = [graph.point(row, .1) for row in range(6)]
    tap.equal(names, ['all', 'app', 'Shop.Main()', f'{LIBRARY} x3', 'Shop.Sell()', 'memcpy'], 'folds: one frame for a run')
    page.click(*graph.at(4, .1))
    page.key('u')
    names = [graph.point(row, .1) for row in range(8)]
    tap.equal(names, ['all', 'app', 'Shop.Main()', *[LIBRARY] * 3, 'Shop.Sell()', 'memcpy'], 'folds: the switch unfolds')
    tap.equal(page.run("document.getElementById('unnamed').getAttribute('aria-pressed')"), 'false', 'folds: and shows it')
    page.key('y')
    page.key('/')
    page.type('libcoreclr')
    page.settle()
    tap.equal((graph.text('found'), graph.colour(3, .7)), ('100.0 % match', '#ff7ad9'), 'folds: a search finds what is folded')
    page.key('Escape')
    page.run('document.activeElement.blur()')
    page.key('m')
    rows = page.run("""[...document.querySelectorAll('#rows tr')].map((row) =>
        [...row.cells].slice(0, 3).map((cell) => (cell.querySelector('button') ?? cell).textContent))""")
    tap.equal(rows, [['0 0 %', '4 100.0 %', 'Shop.Main()'], ['3 75.0 %', '4 100.0 %', 'Shop.Sell()']],
              'folds: the table has methods of your code only, with what they called')
    graphs.quiet(tap, page, path, 'folds')


def check(tap, tool, directory, program):
    with browser.Browser(program) as page:
        page.resize(1280, 700)
        check_folds(tap, tool, directory, page)
        check_switches(tap, tool, directory, page)
