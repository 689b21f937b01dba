# SPDX-License-Identifier: MIT
"""The hottest lines of methods, shown with their source in a page."""

import dataclasses
import hashlib
import json
import re

from tests.profile import browser, cases, graphs

HOT = 'Shop.Order.Total(int)'
WHY = {'changed': 'checksum differs', 'missing': 'cannot be read here', 'unverified': 'has no checksum',
       'pipe': 'cannot be read here', 'large': 'too much source', 'relative': 'cannot be read here'}


def make_sources(directory):
    """Returns name -> (path, checksum)."""
    lines = [f'\tint line{i} = {i}; // \x1b]é</script>' for i in range(1, 101)]
    text = ('\ufeff' + '\r\n'.join(lines) + '\r\n').encode()
    for name in 'sha256', 'sha1', 'changed', 'unverified', 'large':
        (directory / f'{name}.cs').write_bytes(text)
    (directory / 'changed.cs').write_bytes(text + b'x')
    (directory / 'large.cs').write_bytes(text + b' ' * (5 << 20))
    (directory / 'pipe.cs').unlink(missing_ok=True)
    (directory / 'pipe.cs').symlink_to('/dev/zero')
    sha256 = hashlib.sha256(text).hexdigest()
    known = {name: (str(directory / f'{name}.cs'), sha256)
             for name in ('sha256', 'changed', 'missing', 'pipe', 'large')}
    return {**known, 'sha1': (str(directory / 'sha1.cs'), hashlib.sha1(text).hexdigest()),
            'unverified': (str(directory / 'unverified.cs'), ''), 'relative': ('sha256.cs', sha256)}


def samples_of(sources):
    """20 samples end in line 10, 5 in line 50, and 30 in callees of line 51, among them the
    method itself."""
    def frame(source, line, **others):
        file, checksum = sources[source]
        return cases.Frame(HOT if source == 'sha256' else f'Other.{source}()', module='shop.dll',
                           tier='QuickJitted', file=file, line=line, checksum=checksum, **others)

    ten, fifty, calls = (frame('sha256', line) for line in (10, 50, 51))
    again = dataclasses.replace(calls, tier='OptimizedTier1', is_marked=True)
    leaf = cases.Frame('memcpy', 'native', module='libc.so.6')
    stacks = [((ten,), 20), ((fifty, calls), 5), ((leaf, calls, again), 25)]
    stacks += [((frame(name, 1),), 1) for name in sources if name != 'sha256']
    return [cases.Sample(frames, time=i) for frames, n in stacks for i in range(n)]


def check_data(tap, page, sources):
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                                page.read_text(encoding='utf-8'), re.DOTALL)[1])
    first, *_ = data['hot']
    tap.equal((data['frames'][first[0]][0], first[2:]), (HOT, [10, 20, 20, 50, 5, 5, 51, 0, 30]),
              "sources: a method's lines with their samples, a recursion once")
    got = {data['files'][source[0]]: source[1:] for source in data['sources']}
    for name in 'sha256', 'sha1':
        why, *pieces = got[sources[name][0]]
        texts = {begin + i: text for begin, *lines in pieces for i, text in enumerate(lines)}
        wanted = [*range(6, 15), *range(46, 56)] if name == 'sha256' else range(1, 6)
        tap.equal((why, texts), ('', {i: f'    int line{i} = {i}; // \\u{{1b}}]é</script>'
                                      for i in wanted}), f'sources: the lines around, by {name}')
    for name, words in WHY.items():
        why, *pieces = got[sources[name][0]]
        tap.check(words in why and not pieces, f'sources: no text, {name}', why, pieces)


def check_page(tap, page, path):
    page.resize(1280, 700)
    page.open(path)
    graph = graphs.Graph(page)
    page.key('s')
    tap.check('Select a method' in graph.text('lines'), 'sources: a key opens them')
    page.click(*graph.at(2, .2))
    rows = page.run("[...document.querySelectorAll('#lines tr')].map((row) => "
                    "[row.className, ...[...row.children].map((cell) => cell.textContent)])")
    tap.equal([row[:2] for row in rows if row[0]], [['hot', '10'], ['hot', '50'], ['hottest', '51']],
              'sources: the hot lines of the method that is selected are marked')
    tap.check(rows[0][1:] == ['Line', 'Self', 'Total', ''] and rows[5][1:] == ['10', '35.1 %', '35.1 %', '    int line10 = 10; // \\u{1b}]é</script>']
              and ['', '⋮', '', '', ''] in rows, 'sources: with their shares and their text', rows)
    graphs.quiet(tap, page, path, 'sources')


def check(tap, tool, directory, program):
    """PROGRAM: browser, or None."""
    sources = make_sources(directory)
    path = directory / 'sources.html'
    tool.write(samples_of(sources), path)
    check_data(tap, path, sources)
    if program:
        with browser.Browser(program) as page:
            check_page(tap, page, path)
