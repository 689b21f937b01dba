# SPDX-License-Identifier: MIT
"""The time strip: a selected range, a thread, and the lane of garbage collections."""

import collections

from tests.profile import browser, cases, graphs

SECOND = 10**9
BEGIN = 7 * SECOND
WIDTH, GUTTER, AXIS, BARS, LANE = 1280, 170, 14, 43, 13
FRAMES = [cases.Frame(f'A.{name}()', module='a.dll', tier='QuickJitted') for name in ('Begin', 'Work', 'Wait', 'End')]
# (frame, thread, from, to, samples)
PHASES = [(0, ('main', 1), 0, 1, 51), (1, ('main', 1), 4, 5, 30), (2, ('pool', 2), 4.5, 5.5, 20), (3, ('pool', 2), 9.9, 10, 11)]
MARKERS = [(0, 1, 1, BEGIN + 2 * SECOND, BEGIN + 3 * SECOND, 'generation 2, <b>blocking</b>'),
           (1, 1, 1, BEGIN + 5 * SECOND // 2, BEGIN + 3 * SECOND, 'pause'),
           # Compilations, and markers before the first sample, are not shown.
           (2, 1, 1, BEGIN + 6 * SECOND, BEGIN + 8 * SECOND, 'A.Begin()'),
           (0, 1, 1, 0, SECOND, 'early')]


def samples():
    return [cases.Sample((FRAMES[frame],), comm, 1, tid, time=BEGIN + int((begin + (end - begin) * i / (n - 1)) * SECOND))
            for frame, (comm, tid), begin, end, n in PHASES for i in range(n)]


def wanted(phases):
    totals = collections.Counter()
    selves = collections.Counter()
    for frame, (comm, _), _, _, n in phases:
        for path in ((), (comm,), (comm, FRAMES[frame].name)):
            totals[path] += n
        selves[comm, FRAMES[frame].name] += n
    return {path: [(n, selves[path])] for path, n in totals.items()}


class Strip:
    def __init__(self, page):
        self.page = page
        self.top = page.run("document.getElementById('time').getBoundingClientRect().y")

    def x(self, second):
        return GUTTER + second / 10 * (WIDTH - GUTTER)

    def drag(self, begin, end, y=30):
        for kind, at in (('mouseMoved', begin), ('mousePressed', begin), ('mouseMoved', (begin + end) / 2),
                         ('mouseMoved', end), ('mouseReleased', end)):
            self.page.call('Input.dispatchMouseEvent', type=kind, x=self.x(at), y=self.top + y,
                           button='none' if kind == 'mouseMoved' else 'left', clickCount=1)
        self.page.settle()

    def colours(self, points):
        """Returns the colour "#rrggbb" at each of [(second, y)]."""
        places = [(round(self.x(second)), y) for second, y in points]
        return self.page.run(f"""(() => {{ const canvas = document.getElementById('time'), width = canvas.width;
            const all = canvas.getContext('2d').getImageData(0, 0, width, canvas.height).data;
            return {[list(place) for place in places]}.map(([x, y]) => '#' + [0, 1, 2].map((i) =>
                all[4 * (y * width + x) + i].toString(16).padStart(2, '0')).join('')); }})()""")


def check_range(tap, page, graph, strip):
    everything = wanted(PHASES)
    tap.equal(graph.walk(), everything, 'strip: all of the time')
    strip.drag(3, 7)
    tap.equal(graph.walk(), wanted(PHASES[1:3]), 'strip: a range has its samples, and no others')
    text = graph.text('range')
    tap.check('50 samples (44.6 %)' in text and text.endswith('shares are of these'), 'strip: and its numbers', text)
    page.key('m')
    rows = page.run("[...document.querySelectorAll('#rows tr')].map((row) => row.cells[0].textContent)")
    tap.equal(rows, ['30 60.0 %', '20 40.0 %'], 'strip: the table has the range')
    page.key('m')
    strip.drag(9.999, 8)
    tap.equal(graph.walk(), wanted(PHASES[3:]), 'strip: another range, from right to left')
    strip.drag(7, 7)
    tap.equal(graph.walk(), everything, 'strip: a click ends it')
    strip.drag(3, 7)
    page.run("document.getElementById('all').click()")
    tap.equal(graph.walk(), everything, 'strip: so does the button')
    strip.drag(2, 3)
    tap.equal((graph.walk(), graph.text('found')), ({(): [(0, 0)]}, ''), 'strip: a range without samples')
    page.key('Escape')
    tap.equal(graph.walk(), everything, 'strip: so does Escape')
    page.run("document.getElementById('time').focus()")
    page.key('ArrowRight')
    first = graph.text('range')
    page.key('ArrowRight')
    tap.check(first.startswith('0.0') and first != graph.text('range') and 'samples (' in first, 'strip: arrow keys move the range',
              first, graph.text('range'))
    page.key('Escape')


def check_thread(tap, page, graph, strip):
    page.click(30, strip.top + AXIS + BARS + LANE + 5)
    tap.equal(graph.walk(), wanted(PHASES[2:]), 'strip: a thread alone')
    strip.drag(3, 7)
    tap.equal(graph.walk(), wanted(PHASES[2:3]), 'strip: a thread, in a range')
    tap.check(', thread pool 2: 20 samples' in graph.text('range'), 'strip: that is written', graph.text('range'))
    page.key('Escape')


def check_markers(tap, page, graph, strip):
    y = AXIS + BARS + 2 * LANE
    tap.equal(strip.colours([(second, y + row) for second, row in ((2.2, 5), (2.8, 1), (2.8, 6), (6.5, 5))]),
              ['#d99a2b', '#d99a2b', '#d6453d', '#ffffff'], 'strip: collections and pauses')
    page.move(strip.x(2.2), strip.top + y + 5)
    tip = graph.text('tip')
    tap.check('generation 2, <b>blocking</b>' in tip and '1000.00 ms' in tip, 'strip: with their texts', tip)


def check_page(tap, tool, directory, page):
    path = tool.write(samples(), directory / 'strip.html', markers=MARKERS)
    page.open(path)
    graph, strip = graphs.Graph(page), Strip(page)
    for part in check_range, check_thread, check_markers:
        part(tap, page, graph, strip)
    graphs.quiet(tap, page, path, 'strip')
    page.open(tool.write([cases.Sample((FRAMES[0],))] * 3, path))
    tap.check(page.run("document.getElementById('strip').hidden"), 'strip: there is none without times')


def check(tap, tool, directory, program):
    with browser.Browser(program) as page:
        page.prefer('light')
        page.resize(WIDTH, 700)
        check_page(tap, tool, directory, page)
