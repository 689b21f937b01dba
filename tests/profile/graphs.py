# SPDX-License-Identifier: MIT
"""The graphs in a browser, used with mouse and keys."""

import dataclasses
import random
import re

from tests.profile import browser, cases


def quiet(tap, page, path, name):
    tap.equal(page.complaints, [], f'{name}: the browser has nothing to complain of')
    tap.equal(page.requests, [f'file://{path}'], f'{name}: nothing is loaded but the file')


class Svg:
    """The visible part of the open .svg."""

    def __init__(self, page):
        self.page = page

    def frames(self):
        """Returns name -> [(x, y, width, label, class)] of the visible frames."""
        result = {}
        for name, *place in self.page.run('''
                [...document.querySelectorAll('.f')].filter((f) => f.style.display !== 'none')
                .map((f) => { const box = f.querySelector('rect').getBoundingClientRect();
                    return [f.querySelector('title').textContent.split('\\n')[0], box.x, box.y,
                        box.width, f.querySelector('text')?.textContent ?? '',
                        f.getAttribute('class')]; })'''):
            result.setdefault(name, []).append(place)
        return result

    def overflows(self):
        """Returns labels that are wider than their frames."""
        return self.page.run('''
            [...document.querySelectorAll('.f')].filter((f) => f.style.display !== 'none'
                && f.querySelector('text')?.textContent
                && f.querySelector('text').getBoundingClientRect().right >
                   f.querySelector('rect').getBoundingClientRect().right + 1)
            .map((f) => f.querySelector('text').textContent)''')

    def click(self, name):
        x, y, width, *_ = self.frames()[name][0]
        self.page.click(x + width / 2, y + 8)

    def text(self):
        return self.page.run('document.documentElement.textContent')


def check_svg(tap, tool, directory, page):
    path = directory / 'graph.svg'
    tool.write(cases.program(), path, '--title', 'A program', '--event', 'cpu-clock')
    svg = Svg(page)
    main, run = 'App.Program.Main(string[])', \
        'App.Worker.Run(System.Collections.Generic.List<int>)'

    page.resize(1280, 700)
    page.open(path)
    quiet(tap, page, path, 'svg')
    frames = svg.frames()
    widths = {name: round(1260 * n / 1000) for name, n in
              (('all', 1000), ('app', 750), (main, 750), (run, 600), ('pool', 250))}
    tap.equal({name: round(frames[name][0][2] + .5) for name in widths}, widths,
              'svg: frames are as wide as their samples are many')
    tap.equal(frames[run][0][3], run, 'svg: a name that has room is whole')
    label = frames['System.Text.Json.JsonSerializer.Deserialize<App.Order>(string)'][0][3]
    tap.check('JsonSerializer.Deserialize'.startswith(label[:-1]) and len(label) > 20, 'svg: one that has not is Type.Method, cut')
    tap.equal(svg.overflows(), [], 'svg: labels are in their frames')
    text = svg.text()
    tap.check(all(words in text for words in (
        '1,000 samples of cpu-clock (1.00 s) in 3 threads', 'optimized (tier 1) 40.0 %',
        'quick JIT (tier 0) 10.0 %', 'kernel 20.0 %', '~ name not certain')), 'svg: legend', text)
    title = page.run('''[...document.querySelectorAll('.f title')].map((t) => t.textContent)
                        .find((t) => t.startsWith('App.Worker'))''')
    tap.equal(title.split('\n'), [
        run, 'managed, App.dll', 'OptimizedTier1: 75.0 %', 'QuickJitted: 16.7 %',
        'OptimizedTier1, name not certain: 8.3 %', '600 samples (60.0 %), itself 500 (50.0 %)'],
              'svg: a tip has the numbers, and the tiers')

    svg.click(main)
    frames = svg.frames()
    tap.check('pool' not in frames and round(frames[main][0][2]) >= 1259
              and frames['app'][0][4].endswith('dim') and frames['app'][0][2] >= 1259,
              'svg: a click zooms; callers stay', frames.keys())
    tap.equal(svg.overflows(), [], 'svg: labels are in their frames, zoomed')
    page.key('Escape')
    tap.check('pool' in svg.frames(), 'svg: Escape zooms out')

    page.key('/')
    page.type('worker')
    marked = {name for name, places in svg.frames().items() if places[0][4].endswith('match')}
    tap.equal((marked, page.run("document.querySelector('output').textContent")),
              ({run}, '60.0 % match'), 'svg: a search marks what it finds, and its share')
    page.run("document.querySelector('input').select()")
    page.type('/^mem|^do_/')
    tap.equal(page.run("document.querySelector('output').textContent"), '30.0 % match',
              'svg: a pattern, and what is above a match counts once')
    x, y, width, *_ = svg.frames()['memcpy'][0]
    page.move(x + width / 2, y + 8)
    tap.check('memcpy \u00b7 native' in svg.text(), 'svg: details of what the mouse is on')
    page.resize(900, 700)
    page.settle()
    tap.check(round(svg.frames()['all'][0][2] + .5) == 880 and not svg.overflows(),
              'svg: as wide as the window')
    quiet(tap, page, path, 'svg, used')


class Graph:
    """The open .html, seen as a user sees it: by the pixels of the canvas, and by the details of
    the frame below the mouse."""

    def __init__(self, page):
        self.page = page
        self.box = page.run("""(() => { const box = document.getElementById('canvas')
            .getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()""")

    def details(self):
        return self.page.run("document.getElementById('details').innerText")

    def name(self):
        return self.details().split('\n')[0]

    def at(self, row, share):
        """Returns the point in a row at SHARE of the width from the left."""
        return self.box[0] + share * self.box[2], self.box[1] + row * 19 + 9

    def point(self, row, share):
        self.page.move(*self.at(row, share))
        return self.name()

    def colour(self, row, share):
        """Returns the colour of the frame there, beside its label: "#rrggbb"."""
        x, y = self.at(row, share)
        return self.page.run(f"""(() => {{
            const canvas = document.getElementById('canvas'), scale = canvas.width / {self.box[2]};
            const pixel = canvas.getContext('2d').getImageData(({x} - {self.box[0]}) * scale,
                ({y} - {self.box[1]} + 5) * scale, 1, 1).data;
            return '#' + [...pixel.slice(0, 3)].map((c) => c.toString(16).padStart(2, '0'))
                .join(''); }})()""")

    def text(self, name):
        return self.page.run(f"document.getElementById('{name}').innerText")

    def walk(self):
        """Walks through the graph with keys. Returns path of names from the root, below 'all' ->
        [(samples, own samples)]. A call with the name and the numbers of its caller is
        invisible."""
        rows = {}

        def visit(path):
            name, facts = self.details().split('\n')[:2]
            numbers = re.match(r'([\d,]+) (?:.*?itself ([\d,]+))?', facts)
            path = (*path, name)
            rows.setdefault(path[1:], []).append(tuple(int((text or '0').replace(',', '')) for text in numbers.groups()))
            if self.moves('ArrowDown'):
                visit(path)
                while self.moves('ArrowRight'):
                    visit(path)
                self.page.key('ArrowUp')

        self.page.move(5, 5)
        self.page.run("document.getElementById('canvas').focus()")
        self.page.key('Home')
        visit(())
        return rows

    def moves(self, key):
        before = self.details()
        self.page.key(key)
        return self.details() != before

    def press(self, name):
        self.page.run(f"document.getElementById('{name}').click()")
        self.page.settle()


def check_html(tap, tool, directory, page):
    path = directory / 'graph.html'
    tool.write(cases.program(), path, '--title', 'A program', '--event', 'cpu-clock')
    main = 'App.Program.Main(string[])'
    run = 'App.Worker.Run(System.Collections.Generic.List<int>)'
    parse = 'System.Text.Json.JsonSerializer.Deserialize<App.Order>(string)'

    page.prefer('light')
    page.resize(1280, 700)
    page.open(path)
    quiet(tap, page, path, 'html')
    graph = Graph(page)
    tap.equal(graph.text('subtitle'),
              '1,000 samples of cpu-clock (1.00 s) in 3 threads, over 999.00 ms', 'html: heading')
    legend = graph.text('legend').split('\n')
    tap.equal(legend, ['optimized (tier 1)', '40.0 %', 'quick JIT (tier 0)', '10.0 %',
                       'precompiled (R2R)', '15.0 %', 'native', '10.0 %', 'kernel', '20.0 %',
                       'unknown', '3.0 %', '~ name not certain'], 'html: legend')
    tap.equal([graph.point(row, share) for row, share in
               ((0, .5), (1, .1), (1, .9), (2, .1), (3, .3), (3, .65), (2, .97), (4, .05))],
              ['all', 'app', 'pool', main, run, parse, '[unknown]', 'memcpy'],
              'html: frames are where their samples put them')
    tip = page.run("document.getElementById('tip').innerText")
    tap.check('memcpy' in tip and '100 samples (10.0 %)' in tip and 'libc.so.6' in tip,
              'html: tip', tip)
    graph.point(3, .3)
    tap.equal(graph.details().split('\n')[1],
              '600 samples (60.0 %) \u00b7 itself 500 (50.0 %) \u00b7 managed \u00b7 App.dll '
              '\u00b7 OptimizedTier1 75.0 % \u00b7 QuickJitted 16.7 % '
              '\u00b7 OptimizedTier1, name not certain 8.3 %', 'html: details, with the tiers')

    page.click(*graph.at(2, .1))
    tap.equal((graph.point(3, .79), graph.point(3, .81), graph.point(0, .99)), (run, parse, 'all'),
              'html: a click zooms')
    page.key('Escape')
    tap.equal(graph.point(1, .9), 'pool', 'html: Escape zooms out')

    page.key('/')
    page.type('worker.run')
    page.settle()
    tap.equal((graph.text('found'), graph.colour(3, .55), graph.colour(3, .7) == '#ff7ad9'),
              ('60.0 % match', '#ff7ad9', False), 'html: a search marks what it finds')
    page.run("document.getElementById('search').select()")
    page.type('/^mem|^do_/')
    page.settle()
    tap.equal(graph.text('found'), '30.0 % match', 'html: a pattern')
    page.run("document.getElementById('search').select()")
    page.type('/(/')
    page.settle()
    tap.check(graph.text('found').startswith('No match, and not a pattern: '), 'html: an invalid pattern', graph.text('found'))
    for words, found in (('MEMCPY', '30.0 % match'), ('^mem|^do_', '30.0 % match the pattern'),
                         # In a plain-text search, a point is a point.
                         ('Worker.Run(', '60.0 % match'), ('m.mcpy', '30.0 % match the pattern'), ('zzz', '0 % match the pattern')):
        page.run("document.getElementById('search').select()")
        page.type(words)
        page.settle()
        tap.equal(graph.text('found'), found, f'html: a search for {words}')
    page.run("document.getElementById('search').select()")
    page.type('zzz(')
    page.settle()
    tap.check(graph.text('found').startswith('No match, and not a pattern: Unterminated group'),
              'html: neither text nor a pattern', graph.text('found'))
    page.key('Escape')
    tap.equal(graph.text('found'), '', 'html: Escape ends a search')

    check_keys(tap, page, graph, main, run, parse)
    check_controls(tap, page, graph, main, run)
    quiet(tap, page, path, 'html, used')


def check_keys(tap, page, graph, main, run, parse):
    """All actions without a mouse."""
    page.move(5, 5)
    page.run("document.activeElement.blur()")
    seen = []
    while len(seen) < 40 and not (seen[-1:] == ['canvas'] and 'search' in seen):
        page.key('Tab')
        seen.append(page.run("document.activeElement.id || document.activeElement.textContent"))
    tap.check({'search', 'flip', 'table', 'theme', 'canvas'} <= set(seen),
              'html: Tab goes to every control and to the graph', seen)
    page.key('Home')
    walk = []
    for key in ('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowLeft',
                'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight'):
        page.key(key)
        walk.append(graph.name())
    tap.equal(walk, ['app', main, run, parse, run, run, 'memcpy', 'memcpy', run, main, 'app',
                     'pool'], 'html: arrow keys go through the calls')
    tap.equal(page.run("document.getElementById('details').getAttribute('aria-live')"), 'polite',
              'html: the details are read out')
    page.key('Enter')
    tap.equal(graph.point(1, .1), 'pool', 'html: Enter zooms')
    page.move(5, 5)
    page.key('ArrowUp')
    page.key('ArrowDown')
    tap.equal(graph.name(), 'app', 'html: keys go out of the zoom')
    page.key('Escape')


def check_controls(tap, page, graph, main, run):
    graph.press('flip')
    rows = int((graph.box[3] - 4) // 19)
    bottom = page.run("""(() => { const graph = document.getElementById('graph');
        return (document.getElementById('space').offsetHeight - graph.scrollTop) / 19; })()""")
    tap.check(bottom >= 5 and rows > 5 and graph.point(4, .5) == 'all',
              'html: flipped, the root is below', bottom, graph.name())
    graph.press('flip')

    graph.press('table')
    cells = page.run("""[...document.querySelectorAll('#rows tr')].map((row) =>
        [...row.cells].map((cell) => (cell.querySelector('button') ?? cell).textContent))""")
    tap.equal(cells[0], ['500 50.0 %', '600 60.0 %', run, 'App.dll'], 'html: methods, by self')
    page.run("document.querySelector('th button[data-key=total]').click()")
    cells = page.run("""[...document.querySelectorAll('#rows tr')].map((row) =>
        [...row.cells].map((cell) => (cell.querySelector('button') ?? cell).textContent))""")
    tap.equal((len(cells), cells[0][2], [int(row[1].split()[0]) for row in cells]),
              (6, main, [750, 600, 300, 200, 150, 30]), 'html: methods, by total')
    page.run(f"[...document.querySelectorAll('#rows button')].find("
             f"(button) => button.textContent === {run!r}).click()")
    page.settle()
    tap.equal((graph.text('found'), graph.colour(3, .55)), ('60.0 % match', '#ff7ad9'),
              'html: a method is searched for in the graph')
    page.key('Escape')

    before = graph.colour(3, .55)
    page.run("document.querySelector('#legend button').click()")
    page.settle()
    after = graph.colour(3, .7)
    page.run("document.querySelector('#legend button').click()")
    page.settle()
    tap.check(graph.colour(3, .55) == before and after != graph.colour(3, .7),
              'html: the legend shows one colour alone', before, after)

    light = graph.colour(5, .9)
    graph.press('theme')
    dark = graph.colour(5, .9)
    page.prefer('dark')
    page.open(page.run('location.pathname'))
    tap.equal((light, dark, Graph(page).colour(5, .9)), ('#ffffff', '#1b1d21', '#1b1d21'),
              'html: light and dark, by choice and as the system is')
    page.prefer('light')


def check_processes(tap, tool, directory, page):
    """A row of processes, with their command lines, or with the name of the first thread."""
    path = directory / 'processes.html'
    work, wait = cases.Frame('A.Work()'), cases.Frame('A.Wait()')
    samples = [cases.Sample((work,), 'app', 9, 9)] * 6 + [cases.Sample((work,), 'pool', 9, 11)] * 5 + \
        [cases.Sample((wait,), 'pool', 7, 8)] * 4 + [cases.Sample((work,), 'other', 7, 7)] * 3 + \
        [cases.Sample((), 'app', 5, 5)] * 2
    page.open(tool.write(samples, path, commands={9: 'dotnet <b>app.dll</b>', 100: 'not there'}))
    graph = Graph(page)
    command = 'dotnet <b>app.dll</b>'
    tap.equal(graph.walk(), {
        (): [(20, 0)], (command,): [(11, 0)], (command, 'app'): [(6, 0)], (command, 'app', 'A.Work()'): [(6, 6)],
        (command, 'pool'): [(5, 0)], (command, 'pool', 'A.Work()'): [(5, 5)], ('other',): [(7, 0)],
        ('other', 'pool'): [(4, 0)], ('other', 'pool', 'A.Wait()'): [(4, 4)], ('other', 'other'): [(3, 0)],
        ('other', 'other', 'A.Work()'): [(3, 3)], ('app',): [(2, 0)], ('app', 'app'): [(2, 2)]}, 'processes: a row')
    graph.point(1, .1)
    tap.check('process 9' in graph.details(), 'processes: with their pid', graph.details())
    page.key('/')
    page.type('app.dll')
    page.settle()
    tap.equal(graph.text('found'), '55.0 % match', 'processes: are found by their command line')
    page.key('Escape')
    page.run('document.activeElement.blur()')
    page.key('p')
    tap.equal(graph.walk(), {
        (): [(20, 0)], ('app',): [(8, 2)], ('app', 'A.Work()'): [(6, 6)], ('pool',): [(9, 0)],
        ('pool', 'A.Work()'): [(5, 5)], ('pool', 'A.Wait()'): [(4, 4)], ('other',): [(3, 0)],
        ('other', 'A.Work()'): [(3, 3)]}, 'processes: folded')
    quiet(tap, page, path, 'processes')
    page.open(tool.write(samples[:3], path))
    tap.check(Graph(page).point(1, .1) == 'app' and page.run("document.getElementById('processes').hidden"),
              'processes: no row for one of them')


def check_physical(tap, tool, directory, page):
    """Awaiting methods take the place of the thread pool's frames, or the stacks stay as they
    are."""
    main, handle, work = (cases.Frame(f'App.{name}()', module='app.dll') for name in ('Main', 'Handle', 'Work'))
    pool = cases.Frame('Pool.Dispatch()', module='System.Private.CoreLib.dll')
    mark = cases.Frame('[continued after await]', 'unknown')
    samples = [cases.Sample((work, handle, main), physical=(work, pool))] * 5 + \
        [cases.Sample((work, handle, main), physical=(work, handle, pool))] * 4 + \
        [cases.Sample((work, mark, pool), physical=(work, pool))] * 3 + [cases.Sample((work, main))] * 2
    names = [frame.name for frame in (main, handle, work, pool, mark)]
    main, handle, work, pool, mark = names
    physical = {(): [(14, 0)], ('app',): [(14, 0)], ('app', pool): [(12, 0)], ('app', pool, work): [(8, 8)],
                ('app', pool, handle): [(4, 0)], ('app', pool, handle, work): [(4, 4)], ('app', main): [(2, 0)],
                ('app', main, work): [(2, 2)]}
    logical = {(): [(14, 0)], ('app',): [(14, 0)], ('app', main): [(11, 0)], ('app', main, handle): [(9, 0)],
               ('app', main, handle, work): [(9, 9)], ('app', main, work): [(2, 2)], ('app', pool): [(3, 0)],
               ('app', pool, mark): [(3, 0)], ('app', pool, mark, work): [(3, 3)]}
    path = tool.write(samples, directory / 'physical.html')
    page.open(path)
    graph = Graph(page)
    tap.equal(graph.walk(), logical, 'physical: the methods that await, first')
    page.key('k')
    tap.equal(graph.walk(), physical, 'physical: the stacks of threads, by a key')
    page.key('k')
    tap.equal(graph.walk(), logical, 'physical: and back')
    quiet(tap, page, path, 'physical')
    # Other forms have only the first view.
    for ending in '.svg', '.folded':
        text = tool.write(samples, directory / f'physical{ending}').read_text()
        alone = tool.write([dataclasses.replace(sample, physical=None) for sample in samples],
                           directory / f'alone{ending}').read_text()
        tap.equal(text, alone, f'physical: {ending} has none of it')
    page.open(tool.write(samples[-2:], path))
    tap.check(page.run("document.getElementById('physical').hidden"), 'physical: no switch where stacks are the same')


def check_hostile(tap, tool, directory, page):
    """Nothing in a name is executed."""
    samples = cases.hostile(3)
    for ending in ('svg', 'html'):
        path = directory / f'hostile.{ending}'
        tool.write(samples, path, '--title', '"><script>alert(0)</script>', '--event',
                   '<img src=x onerror=alert(9)>')
        page.open(path)
        for y in range(120, 640, 26):
            page.move(20 + y, y)
        if ending == 'html':
            page.run("document.getElementById('table').click()")
            page.settle()
            tap.check('<script>alert(1)</script>' in
                      page.run("document.getElementById('rows').textContent"),
                      'html: hostile names are shown as they are')
        tap.equal(page.run("[...document.querySelectorAll("
                           "'img, a, [onload], [onerror], svg svg, script')].length"),
                  1 if ending == 'svg' else 2,
                  f'{ending}: hostile names are no elements')
        quiet(tap, page, path, f'{ending}, hostile')


def check_large(tap, tool, directory, page):
    """A page of 100,000 samples opens, redraws, and searches."""
    choose = random.Random(5)
    frames = [cases.Frame(f'Ns{i % 17}.Type{i % 97}.Method{i}(int)', tier='QuickJitted')
              for i in range(3000)]
    stacks = []
    for _ in range(20000):
        at, stack = 0, []
        for _ in range(40):
            at = (at * 31 + choose.choice((1, 1, 1, 1, 2, 5))) % len(frames)
            stack.append(frames[at])
        stacks.append(tuple(reversed(stack)))
    path = directory / 'large.html'
    tool.write([cases.Sample(choose.choice(stacks), time=i) for i in range(100000)], path)
    page.open(path)
    times = page.run("""(async () => {
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const timing = performance.getEntriesByType('navigation')[0];
        const times = [timing.loadEventEnd - timing.startTime];
        const search = document.getElementById('search');
        for (const act of [
            () => document.getElementById('flip').click(),
            () => { search.value = 'Type9'; search.dispatchEvent(new Event('input')); }]) {
          const begin = performance.now();
          act();
          await frame();
          await frame();
          times.push(performance.now() - begin);
        }
        await new Promise((done) => setTimeout(done, 400));
        return [...times, document.getElementById('found').textContent]; })()""")
    nodes = page.run("JSON.parse(document.getElementById('data').textContent).frame.length")
    tap.note(f'html of 100,000 samples, {nodes} nodes, {path.stat().st_size / 1e6:.1f} MB: '
             f'open {times[0]:.0f} ms, drawn again {times[1]:.0f} ms, search {times[2]:.0f} ms')
    tap.check(times[3].endswith('match'), 'html: 100,000 samples', times)
    quiet(tap, page, path, 'html, large')


def check(tap, tool, directory, program):
    with browser.Browser(program) as page:
        for part in (check_svg, check_html, check_processes, check_physical, check_hostile, check_large):
            part(tap, tool, directory, page)
