# SPDX-License-Identifier: MIT
"""Profiles in each form, against independent readers; the graphs in a browser."""

import collections
import gzip
import html.parser
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tests.profile import browser, callers, cases, folds, graphs, messages, readers, sources, strip
from tests.traces.recorded import Tap

ENDINGS = ['.folded', '.speedscope.json', '.pb.gz', '.otlp.gz', '.firefox.json.gz', '.svg', '.html']
SVG = '{http://www.w3.org/2000/svg}'


class Tool:
    def __init__(self, program):
        self.program = program

    def run(self, samples, *arguments, **others):
        return subprocess.run([self.program, *map(str, arguments)], input=cases.text(samples, **others),
                              capture_output=True, check=False, timeout=120)

    def write(self, samples, path, *arguments, **others):
        """Writes a profile of SAMPLES. Returns its path. OTHERS: further arguments of
        cases.text()."""
        done = self.run(samples, path, *arguments, **others)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return path


def check_folded(tap, tool, directory, name, samples):
    for annotate in (False, True):
        path = directory / 'x.folded'
        tool.write(samples, path, *(['--annotate'] if annotate else []))
        tap.check(readers.read_folded(path.read_text()) == readers.folded(samples, annotate),
                  f'{name}: folded stacks{", annotated" if annotate else ""}')
    done = tool.run(samples, '-')
    tap.check(readers.read_folded(done.stdout.decode()) == readers.folded(samples),
              f'{name}: folded stacks to stdout')


def check_speedscope(tap, tool, directory, name, samples):
    path = directory / 'x.speedscope.json'
    for event, unit in (('cpu-clock:u', 'nanoseconds'), ('cycles', 'none')):
        tool.write(samples, path, '--event', event)
        file = json.loads(path.read_text())
        readers.check_speedscope(file)
        if file['profiles']:
            shown = file['profiles'][file['activeProfileIndex']]
            tap.equal(len(shown['samples']), max(len(profile['samples']) for profile in file['profiles']),
                      f'{name}: speedscope opens on the busiest thread')
        tap.check(all(profile['unit'] == unit for profile in file['profiles']),
                  f'{name}: speedscope by its schema, in {unit}')
        frames = [(frame['name'], frame.get('file')) for frame in file['shared']['frames']]
        tap.equal(len(frames), len(set(frames)) if name == 'program' else len(frames),
                  f'{name}: speedscope has each frame once, whatever its tier')
        got, want = {}, collections.defaultdict(list)
        for profile in file['profiles']:
            thread = profile['name'].rsplit(' ', 1)[1]
            got[thread] = [(tuple(frames[i] for i in stack), weight)
                           for stack, weight in zip(profile['samples'], profile['weights'])]
        for sample in sorted(samples, key=lambda sample: sample.time):
            stack = tuple((readers.shown(frame),
                           readers.printable(frame.module) if frame.module else None)
                          for frame in reversed(sample.frames))
            want[f'{sample.pid}/{sample.tid}'].append(
                (stack, sample.period if unit == 'nanoseconds' else 1))
        tap.check(got == want, f'{name}: speedscope has every sample, in its thread, in order')


def check_firefox(tap, tool, directory, name, samples):
    path = directory / 'x.firefox.json.gz'
    for event, weights in (('cpu-clock:u', 'samples'), ('off-cpu', 'tracing-ms'), ('alloc', 'bytes')):
        tool.write(samples, path, '--event', event)
        file = readers.read_firefox(path)
        threads = file['threads']
        tap.check(all(thread['samples']['weightType'] == weights for thread in threads) and
                  len({(thread['pid'], thread['tid']) for thread in threads}) == len(threads),
                  f'{name}: Firefox Profiler: the weights of {event}')
        first = min(sample.time for sample in samples)
        got = {(thread['pid'], thread['tid']): list(readers.firefox_samples(thread)) for thread in threads}
        want = collections.defaultdict(list)
        for sample in sorted(samples, key=lambda sample: sample.time):
            stack = tuple((readers.shown(frame), readers.printable(frame.module).rsplit('/', 1)[-1] if frame.module else None)
                          for frame in reversed(sample.frames))
            want[str(sample.pid), sample.tid].append((stack, round((sample.time - first) / 1e6, 6)))
        tap.check(got == want, f'{name}: Firefox Profiler has every sample of {event}, in its thread, in order')


def programs_of(samples):
    """Returns the modules in which most managed stacks of first threads begin; without such
    stacks, of all threads."""
    def counted(samples):
        starts = [[frame.module for frame in sample.frames if frame.kind == 'managed' and frame.module]
                  for sample in samples]
        return collections.Counter(readers.printable(start[-1]) for start in starts if start)

    counts = counted([sample for sample in samples if sample.pid == sample.tid]) or counted(samples)
    return {module for module, n in counts.items() if n == max(counts.values())}


def pprof_wanted(samples):
    want = collections.Counter()
    for sample in samples:
        stack = tuple((readers.shown(frame),
                       readers.printable(frame.module) if frame.module else None)
                      for frame in sample.frames)
        labels = {'thread': readers.printable(sample.comm), 'pid': sample.pid, 'tid': sample.tid}
        if sample.frames and sample.frames[0].tier:
            labels['tier'] = readers.printable(sample.frames[0].tier)
        key = stack, tuple(sorted(labels.items()))
        want[key, 'samples'] += 1
        want[key, 'period'] += sample.period
    return want


def check_decoder(tap):
    def refuses(data):
        try:
            messages.decode('pprof.Profile', data)
        except (ValueError, messages.DecodeError):
            return True
        return False

    good = messages.CLASSES['pprof.Profile'](sample_type=[{'type': 1}], time_nanos=1).SerializeToString()
    tap.equal([refuses(data) for data in (good, good + b'\xf8\x01\x01', good + b'\x0a\x03\xf8\x01\x01',
                                          good + b'\x4a\x01x', good[:-1])], [False, True, True, True, True],
              'the decoder refuses unknown fields, of inner messages, too, wrong wire types and truncated messages')


def check_pprof(tap, tool, directory, name, samples):
    path = directory / 'x.pb.gz'
    offset = 1700000000 * 10**9
    for arguments, types in (
            (['--event', 'cpu-clock', '--offset', offset],
             [('samples', 'count'), ('cpu', 'nanoseconds')]),
            (['--event', 'cycles:u'], [('samples', 'count'), ('cycles:u', 'count')]),
            ([], [('samples', 'count')])):
        tool.write(samples, path, *arguments)
        profile = readers.Pprof(path)
        tap.equal((profile.types, profile.period_type), (types, types[1:]),
                  f'{name}: pprof has the types {types}')
        got = collections.Counter()
        for stack, values, labels in profile.samples:
            key = stack, tuple(sorted(labels.items()))
            got[key, 'samples'] += values[0]
            got[key, 'period'] += values[1] if len(types) > 1 else 0
        want = pprof_wanted(samples)
        if len(types) == 1:
            want = collections.Counter({key: 0 if key[1] == 'period' else n
                                        for key, n in want.items()})
        tap.check(dict(got) == dict(want), f'{name}: pprof has every sample with its thread')
        programs = programs_of(samples)
        tap.check(not programs or profile.mappings[1] in programs, f'{name}: the first mapping of pprof is the program',
                  profile.mappings.get(1), programs)
        times = [sample.time for sample in samples]
        tap.equal((profile.time, profile.duration),
                  (min(times) + offset if '--offset' in arguments else 0, max(times) - min(times)),
                  f'{name}: pprof knows when')


def check_otlp(tap, tool, directory, name, samples):
    path = directory / 'x.otlp.gz'
    offset = 1700000000 * 10**9
    for arguments, kind in ((['--event', 'cpu-clock', '--offset', offset], ('cpu', 'nanoseconds')),
                            (['--event', 'off-cpu'], ('off-cpu', 'nanoseconds')), (['--event', 'cycles'], ('samples', 'count'))):
        tool.write(samples, path, *arguments)
        profile = readers.Otlp(gzip.decompress(path.read_bytes()))
        tap.equal(profile.type, kind, f'{name}: OTLP has the type {kind}')
        got, want = collections.Counter(), collections.Counter()
        for stack, value, attributes in profile.samples:
            key = tuple((function, module) for function, _, module, _ in stack)
            got[key, attributes['thread.name'], attributes['process.pid'], attributes['thread.id']] += value
        for sample in samples:
            key = tuple((readers.shown(frame), readers.printable(frame.module) if frame.module else None)
                        for frame in sample.frames)
            want[key, readers.printable(sample.comm), sample.pid, sample.tid] += sample.period if kind[1] == 'nanoseconds' else 1
        tap.check(dict(got) == dict(want), f'{name}: OTLP has every sample with its thread, in {kind[1]}')
        times = [sample.time for sample in samples]
        tap.equal((profile.time, profile.duration),
                  (min(times) + offset if '--offset' in arguments else 0, max(times) - min(times)), f'{name}: OTLP knows when')


def check_go_pprof(tap, tool, directory):
    go = shutil.which('go')
    if not go:
        if os.environ.get('CI'):
            tap.check(False, 'go tool pprof', 'there is no go: tests/install')
        else:
            tap.skip('go tool pprof', 'there is no go: tests/install')
        return
    environment = {**os.environ, 'HOME': str(directory), 'PPROF_TMPDIR': str(directory)}

    def ask(path, *arguments):
        # Newer versions of go compile pprof at its first use.
        done = subprocess.run([go, 'tool', 'pprof', *arguments, path], capture_output=True,
                              check=False, timeout=600, env=environment, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    path = directory / 'go.pb.gz'
    tool.write(cases.program(), path, '--event', 'cpu-clock', '--title', 'program')
    rows = {}
    for line in ask(path, '-top', '-nodecount=0', '-nodefraction=0', '-unit=ms').splitlines():
        row = re.match(r' *([0-9.]+)m?s? +\S+ +\S+ +([0-9.]+)m?s? +\S+ +(.*)', line)
        if row:
            rows[row[3]] = float(row[1]), float(row[2])
    want = {'App.Program.Main(string[])': (0, 750), 'do_syscall_64': (200, 200),
            'memcpy': (100, 300), '[unknown]': (30, 30),
            'App.Worker.Run(System.Collections.Generic.List<int>)': (450, 550),
            'App.Worker.Run(System.Collections.Generic.List<int>) ~': (50, 50),
            'System.Text.Json.JsonSerializer.Deserialize<App.Order>(string)': (150, 150)}
    tap.equal(rows, want, 'go tool pprof -top: self and total of each method')
    tags = ask(path, '-tags')
    tap.check(all(word in tags for word in ('thread', 'tid', 'tier', 'OptimizedTier1', 'pool')),
              'go tool pprof -tags: threads and tiers', tags)
    path = directory / 'hostile.pb.gz'
    samples = cases.hostile(1)
    tool.write(samples, path)
    total = re.search(r'of (\d+) total', ask(path, '-top', '-sample_index=samples'))
    tap.equal(int(total[1]), len(samples),
              'go tool pprof takes hostile names')


class Page(html.parser.HTMLParser):
    """All tags of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.is_script = [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == 'script':
            self.scripts.append('')
            self.is_script = True

    def handle_endtag(self, tag):
        self.is_script = False

    def handle_data(self, data):
        if self.is_script:
            self.scripts[-1] += data


def check_graph_files(tap, tool, directory, name, samples, title):
    svg, page = directory / 'x.svg', directory / 'x.html'
    tool.write(samples, svg, page, '--title', title)
    root = xml.etree.ElementTree.parse(svg).getroot()
    tap.equal(root.find(SVG + 'title').text, readers.printable(title), f'{name}: svg is XML')
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    tap.equal(kinds, {'svg', 'title', 'style', 'rect', 'text', 'g', 'script'},
              f'{name}: svg has only its own elements')
    attributes = {attribute for element in root.iter() for attribute in element.attrib}
    tap.check(not [a for a in attributes if a.startswith('on') or 'href' in a],
              f'{name}: svg has no handlers and no links', attributes)
    frames = root.find(SVG + "g[@id='frames']")
    tops = collections.defaultdict(list)
    n_names, known = 0, {readers.shown(frame) for sample in samples for frame in sample.frames}
    known |= {readers.printable(sample.comm) for sample in samples} | {'all'}
    for group in frames:
        shown = group.find(SVG + 'title').text.split('\n')[0]
        rect = {key: float(value) for key, value in group.find(SVG + 'rect').items()
                if key != 'class'}
        label = group.find(SVG + 'text')
        tops[rect['y']].append((rect['x'], rect['x'] + rect['width']))
        n_names += shown in known
        if label is not None:
            # Monospaced text has at least 7.2 a character.
            width = sum(7.2 if ord(c) < 0x2e80 else 14.4 for c in label.text)
            if width > rect['width'] or not (label.text.rstrip('…') in shown):
                tap.check(False, f'{name}: svg label', label.text, shown)
    tap.equal(n_names, len(frames), f'{name}: svg has {len(frames)} frames, all with their names')
    overlaps = 0
    for row in tops.values():
        row.sort()
        overlaps += sum(a[1] > b[0] + .02 for a, b in zip(row, row[1:]))
    tap.equal(overlaps, 0, f'{name}: svg frames do not overlap')

    text = page.read_text()
    parsed = Page(text)
    tap.equal([tag for tag, attrs in parsed.tags if tag in ('script', 'img', 'svg', 'b', 'a')],
              ['script', 'script'], f'{name}: html has only its own elements')
    tap.check(not [attrs for _, attrs in parsed.tags if {'src', 'href'} & set(attrs)],
              f'{name}: html refers to nothing')
    data = json.loads(parsed.scripts[0])
    tap.equal((data['title'], sum(sum(cells[2::3]) for cells in data['cells'])), (readers.printable(title), len(samples)),
              f'{name}: html has all samples')


def check_framework(tap, tool, directory):
    """Assemblies of the installed runtimes are not user code, wherever they are."""
    hosts = [pathlib.Path(os.path.realpath(path)).parent for path in [shutil.which('dotnet')] if path]
    assemblies = sorted({path.name for host in hosts for path in host.glob('shared/*/*/*.dll')})
    if not assemblies:
        tap.skip("the framework's assemblies", 'there is no dotnet')
        return
    path = directory / 'framework.html'
    tool.write([cases.Sample(tuple(cases.Frame('A.B()', module='/app/' + name) for name in [*assemblies, 'Mine.dll']))], path)
    data = json.loads(Page(path.read_text()).scripts[0])
    tap.equal([data['modules'][row[3]] for row in data['frames'] if row[9]], ['/app/Mine.dll'],
              f"the framework's {len(assemblies)} assemblies are not your code")


def check_files(tap, tool, directory):
    samples = cases.program()
    home = directory / 'files'
    home.mkdir()

    def names():
        return sorted(path.name for path in home.iterdir())

    os.umask(0o027)
    for ending in ENDINGS:
        path = home / ('x' + ending)
        path.write_text('old')
        tool.write(samples, path)
        tap.check(path.stat().st_size > 100 and names() == [path.name], f'{ending} replaces a file')
        link = home / ('link' + ending)
        link.symlink_to(path.name)
        path.write_text('old')
        tool.write(samples, link)
        tap.check(link.is_symlink() and path.stat().st_size > 100, f'{ending} through a link')
        tap.equal(stat.S_IMODE(path.stat().st_mode), 0o640, f'{ending} has the mode of new files')
        link.unlink()

        done = tool.run(samples, home / 'none' / path.name)
        tap.equal((done.returncode, done.stderr.decode()),
                  (1, f'cannot write {home}/none/x{ending}: No such file or directory\n'),
                  f'{ending} in no directory')
        path.unlink()
        done = tool.run([], path)
        tap.check(done.returncode == 0 and path.exists(), f'{ending} of no samples')
        path.unlink()
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([tool.program, '-'], input=cases.text(samples), stdout=full,
                              stderr=subprocess.PIPE, check=False, timeout=120)
    tap.equal((done.returncode, done.stderr.decode()),
              (1, 'cannot write to standard output: No space left on device\n'), 'a full stdout')
    fifo = home / 'fifo.svg'
    os.mkfifo(fifo)
    with subprocess.Popen(['cat', fifo], stdout=subprocess.PIPE) as reader:
        tool.write(samples, fifo)
        tap.check(reader.communicate()[0].endswith(b'</svg>\n') and fifo.is_fifo(),
                  'a pipe is written to and stays one')
    fifo.unlink()
    done = tool.run(samples, home / 'x.txt')
    tap.equal((done.returncode, done.stderr.decode(), names()),
              (1, f'unknown output format: {home}/x.txt ends in none of '
               + ', '.join(ENDINGS) + '\n', []), 'an unknown ending')


def check_full_disk(tap, tool, directory):
    """A limit on the size of files, as on a full disk: the write fails."""
    home = directory / 'full'
    home.mkdir()
    for ending in ENDINGS:
        path = home / ('x' + ending)
        path.write_text('old')
        script = 'trap "" XFSZ; ulimit -f 1; exec "$@"'
        done = subprocess.run(['sh', '-c', script, 'sh', tool.program, path],
                              input=cases.text(cases.hostile(2, 20000)), capture_output=True,
                              check=False, timeout=120)
        tap.equal((done.returncode, done.stderr.decode(), path.read_text(), os.listdir(home)),
                  (1, f'cannot write {path}: File too large\n', 'old', [path.name]),
                  f'{ending}: a write that fails says so and leaves what was there')
        path.unlink()


def main():
    # A sanitizer preloaded into this process must not be preloaded into the browser and go.
    os.environ.pop('LD_PRELOAD', None)
    tap = Tap()
    tool = Tool(sys.argv[1])
    check_decoder(tap)
    with tempfile.TemporaryDirectory(prefix='clrsym-profile-') as name:
        directory = pathlib.Path(name)
        for label, samples, title in (
                ('program', cases.program(), 'A program'),
                ('hostile', cases.hostile(1), '</title><script>alert("title")</script>]]>\x1b')):
            check_folded(tap, tool, directory, label, samples)
            check_speedscope(tap, tool, directory, label, samples)
            check_firefox(tap, tool, directory, label, samples)
            check_pprof(tap, tool, directory, label, samples)
            check_otlp(tap, tool, directory, label, samples)
            check_graph_files(tap, tool, directory, label, samples, title)
        check_go_pprof(tap, tool, directory)
        check_framework(tap, tool, directory)
        check_files(tap, tool, directory)
        check_full_disk(tap, tool, directory)
        program = browser.find()
        sources.check(tap, tool, directory, program)
        if program:
            graphs.check(tap, tool, directory, program)
            folds.check(tap, tool, directory, program)
            callers.check(tap, tool, directory, program)
            strip.check(tap, tool, directory, program)
        elif os.environ.get('CI'):
            tap.check(False, 'the graphs in a browser', 'there is no chromium: tests/install')
        else:
            tap.skip('the graphs in a browser', 'there is no chromium: tests/install')
    tap.finish()


if __name__ == '__main__':
    main()
