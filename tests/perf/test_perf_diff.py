# SPDX-License-Identifier: MIT
"""`clrsym perf --diff`: the differences of two recordings, computed again here."""

import collections
import math
import pathlib
import re

from tests.perf import perftool
from tests.profile import browser
from tests.traces import recorded

STEPS = 4  # colours for more samples than before, and as many for fewer


def write(path, stacks):
    path.write_text(''.join(f'{";".join(stack)} {n}\n' for stack, n in stacks.items() if n),
                    encoding='utf-8')
    return path


def compare(programs, before, after, output, *arguments):
    return perftool.clrsym_perf(programs, '--diff', before, after, '-o', output, *arguments)


# Appended to the page's script: prints the data that the script has computed.
READ = """
const rows = [];
for (let i = 1; i < view.n; i++)
  rows.push([view.depth[i], nameOf(view.key[i]), view.self[i], view.other[i], view.change[i]]);
return rows; })()"""


def tree_of(view, path):
    """Path of names -> [samples after, samples before, colour], from the page."""
    view.open(path)
    script = view.run("document.scripts[document.scripts.length - 1].textContent")
    found, at = {}, []
    for depth, name, own, before, change in view.run(script.removesuffix('})();') + READ):
        at = at[:depth - 1] + [name]
        found[tuple(at)] = [own, before, change - STEPS]
    return found


def totals(stacks):
    """Path -> samples in it and below."""
    sums = collections.Counter()
    for stack, n in stacks.items():
        for depth in range(len(stack) + 1):
            sums[stack[:depth]] += n
    return sums


def wrong_changes(found, before, after):
    """Nodes whose colour contradicts the two shares and their significance."""
    a, b = totals(after), totals(before)
    wrong = []
    for path, (_, _, change) in found.items():
        shares = a[path] / a[()], b[path] / b[()]
        # With one more sample of each kind (Agresti and Caffo).
        adjusted = [(part + 1) / (whole + 2) for part, whole in ((a[path], a[()]), (b[path], b[()]))]
        error = math.sqrt(sum(p * (1 - p) / (n + 2) for p, n in zip(adjusted, (a[()], b[()]))))
        difference = adjusted[0] - adjusted[1]
        if abs(abs(difference) - 2 * error) < 1e-12:
            continue
        sign = 0 if abs(difference) <= 2 * error else 1 if difference > 0 else -1
        if (change > 0) - (change < 0) != sign or abs(change) > STEPS:
            wrong.append((path, shares, error, change))
    return wrong


def labels(stacks):
    """Names without marks and the suffixes of --annotate. Comparisons leave out the work of a diagnostic session."""
    found = collections.Counter()
    for stack, n in stacks.items():
        if '[clrsym session]' not in stack:
            found[tuple(re.sub(r'( ~)?(_\[[jk]\])?$', '', name) for name in stack)] += n
    return found


def check_tree(tap, programs, directory, view, name, before, after):
    page = directory / f'{name}.html'
    done = compare(programs, write(directory / 'before.folded', before),
                   write(directory / 'after.folded', after), page)
    found = tree_of(view, page) if done.returncode == 0 else {}
    selves = [{path: row[i] for path, row in found.items() if row[i]} for i in (0, 1)]
    tap.equal(selves, [{stack: n for stack, n in labels(side).items() if n}
                       for side in (after, before)],
              f'{name}: each path has its samples, before and after')
    wrong = wrong_changes(found, labels(before), labels(after))
    coloured = sum(row[2] != 0 for row in found.values())
    tap.check(found and not wrong, f'{name}: {coloured} of {len(found)} paths have changed', *wrong[:5])
    return page, found


def table(view):
    """The heads and the rows of the table of methods."""
    heads = view.run("[...document.querySelectorAll('th')].filter((th) => !th.hidden).map((th) => th.textContent)")
    return heads, view.run("[...document.querySelectorAll('#rows tr')].map((row) =>"
                           " [...row.cells].map((cell) => cell.innerText.trim()))")


def check_page(tap, view, page):
    view.open(page)
    view.key('b')
    tap.equal(view.run("[document.getElementById('before').getAttribute('aria-pressed'),"
                       " document.getElementById('before').hidden]"), ['true', False],
              'the widths of before, by a key')
    view.key('m')
    tap.equal(table(view)[0], ['Self', 'Total', 'Change', 'Method', 'Module'], 'methods by their change')
    tap.equal(view.complaints, [], 'the browser has nothing to complain of')


def check_seconds(tap, programs, view, page, data, snapshot):
    """The page shows the time of both recordings if the event is time."""
    view.open(page)
    numbers = re.match(r'([\d,]+) samples \(([\d.]+) s\), before', view.run("document.getElementById('subtitle').innerText"))
    each = float(numbers[2]) / int(numbers[1].replace(',', ''))
    view.key('m')
    heads, rows = table(view)
    texts = [row[heads.index('Seconds')] for row in rows[:20]]
    times = [[float(text) for text in re.fullmatch(r'([\d.]+) s \u2192 ([\d.]+) s', text).groups()] for text in texts]
    wrong = [row for row, (before, after) in zip(rows, times)
             if before != after or abs(after - each * int(row[1].split()[0].replace(',', ''))) > .02]
    tap.check(len(times) > 10 and not wrong, 'a table of methods with the seconds of both', wrong, texts[:3])
    picture = page.with_suffix('.svg')
    compare(programs, data, data, picture, '--trace', snapshot)
    words = re.findall(r'before [\d,]+ \([\d.]+ %, ([\d.]+) s\), itself [\d,]+ \([\d.]+ %, ([\d.]+) s\): \+0.00 points, '
                       r'itself \+0.00, now ([\d.]+) s, itself ([\d.]+) s', picture.read_text(encoding='utf-8'))
    tap.check(len(words) > 10 and all(row[:2] == row[2:] for row in words), 'a picture, too', words[:3])


def check_refusals(tap, programs, directory):
    good = write(directory / 'good.folded', {('main', 'A.B()'): 3})
    for text, words in (('', 'has no samples'), ('\n', 'has no samples'),
                        ('no number\n', 'line 1 is not of folded stacks'),
                        ('a;b 1\na;b\x00c 2\n', 'line 2 is not of folded stacks'),
                        ('a;b 99999999999999999999999\n', 'line 1 is not of folded stacks')):
        bad = directory / 'bad.folded'
        bad.write_text(text, encoding='utf-8')
        done = compare(programs, bad, good, directory / 'bad.svg')
        tap.check(done.returncode == 1 and words in done.stderr and
                  not (directory / 'bad.svg').exists(), f'{text!r}: {done.stderr.strip()}')
    for output, words in (('x.pb.gz', '-o FILE.html or -o FILE.svg'), ('x.folded', '-o FILE.html')):
        done = compare(programs, good, good, directory / output)
        tap.check(done.returncode == 1 and words in done.stderr, f'{output}: {done.stderr.strip()}')
    done = compare(programs, good, directory / 'perf.data', directory / 'x.svg')
    tap.check(done.returncode == 1 and 'with folded stacks' in done.stderr,
              'folded stacks and a recording are not compared', done.stderr)
    huge = directory / 'huge.folded'
    huge.write_text('main;A.B() 9999999999999999999\nmain;C.D() 1\n' * 3000, encoding='utf-8')
    done = compare(programs, huge, good, directory / 'huge.svg')
    tap.equal(done.returncode, 0, 'counts without end are counted up to a limit')


def run(tap, programs, directory, _):
    program = browser.find()
    if program is None:
        tap.skip('comparisons', 'there is no chromium: tests/install')
        return
    with browser.Browser(program) as view:
        check(tap, programs, pathlib.Path(directory), view)


def check(tap, programs, directory, view):
    before = {('main', 'P.Main()_[j]', 'A.Slow(int)_[j]', 'B.X()_[j]'): 800,
              ('main', 'P.Main()_[j]', 'C.Other()_[j]'): 200,
              ('main', 'P.Main()_[j]', 'Gone.Now()_[j]'): 100, ('pool', '[libcoreclr.so]'): 50}
    after = {('main', 'P.Main()_[j]', 'A.Slow(int)_[j]', 'B.X()_[j]'): 300,
             ('main', 'P.Main()_[j]', 'C.Other()_[j]'): 210,
             ('main', 'P.Main()_[j]', 'New.Thing(string)_[j]'): 400, ('pool', '[libcoreclr.so]'): 52}
    page, _ = check_tree(tap, programs, directory, view, 'small', before, after)
    check_page(tap, view, page)
    svg = directory / 'small.svg'
    compare(programs, directory / 'before.folded', directory / 'after.folded', svg)
    text = svg.read_text(encoding='utf-8')
    tap.check('before 800 (69.6 %), itself 0 (0 %): -38.38 points, itself +0.00' in text and
              'Gone.Now' not in text and 'less than before' in text,
              'the picture has both shares, and nothing that has no width')
    check_refusals(tap, programs, directory)
    reason = perftool.missing(programs)
    if reason:
        tap.skip('a recording', reason)
        return
    _, data, snapshot = perftool.unpack(programs, directory)
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '--annotate',
                                '-o', directory / 'real.folded')
    real = perftool.folded((directory / 'real.folded').read_text(encoding='utf-8'))
    # One method became faster: half of the samples that ended in it are dropped.
    leaf, _ = collections.Counter(
        {name: sum(n for stack, n in real.items() if stack[-1] == name)
         for name in {stack[-1] for stack in real} if name.endswith('_[j]')}).most_common(1)[0]
    quicker = {stack: n // 2 if stack[-1] == leaf else n for stack, n in real.items()}
    _, found = check_tree(tap, programs, directory, view, 'a method is quicker', real, quicker)
    tap.check(any(row[2] < 0 for path, row in found.items() if path[-1] == leaf[:-4]),
              f'{leaf}: less than before', done.stderr)
    own = directory / 'own.html'
    done = compare(programs, data, data, own, '--trace', snapshot)
    found = tree_of(view, own) if done.returncode == 0 else {}
    tap.check(len(found) > 1000 and all(row[0] == row[1] and row[2] == 0 for row in found.values()),
              f'a recording and itself: the same in {len(found)} paths', done.stderr)
    check_seconds(tap, programs, view, own, data, snapshot)


if __name__ == '__main__':
    recorded.main(run)
