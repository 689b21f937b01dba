# SPDX-License-Identifier: MIT
"""perf's filter and `clrsym perf` on a recording with known truth: each callchain address in a native body has that
body's name at the sample's time, no other address has one, and the rest is the output of plain `perf script`."""

import collections
import json
import pathlib
import re

from tests.perf import perftool
from tests.traces import recorded


# ns after the unload of bodies, at exit, in which other threads still run them.
LAST_MOMENTS = 20 * 10**6


class Bodies:
    """Finds the body at an address and time, by the table beside the trace."""

    def __init__(self, truth):
        self.by_page = collections.defaultdict(list)
        for row in truth.rows('bodies.tsv'):
            body = {
                'start': int(row['start'], 16), 'size': int(row['size']),
                'loaded': int(row['loaded_ns'] or 0),
                'unloaded': int(row['unloaded_ns'] or 1 << 63),
                'name': symbol(row),
            }
            for page in range(body['start'] >> 12, (body['start'] + body['size'] - 1 >> 12) + 1):
                self.by_page[page].append(body)

    def there(self, address):
        return [body for body in self.by_page.get(address >> 12, ())
                if body['start'] <= address < body['start'] + body['size']]

    def at(self, address, moment):
        alive = [body for body in self.there(address)
                 if body['loaded'] <= moment < body['unloaded']]
        assert len(alive) < 2
        return alive[0] if alive else None

    def just_ended(self, address, moment):
        """Bodies that ended shortly before."""
        return [body for body in self.there(address)
                if moment - LAST_MOMENTS < body['unloaded'] <= moment]


class Entries:
    """The begins of precompiled methods, from the trace's events; their sizes are not known."""

    def __init__(self, programs, trace, directory):
        path = pathlib.Path(directory) / 'dump.json'
        programs.dump(trace, path)
        self.by_address = collections.defaultdict(list)
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                if '"R2RGetEntryPoint"' not in line:
                    continue
                event = json.loads(line)
                fields = event['fields']
                seconds, ns = event['time'].split('.')
                name = symbol({'namespace': fields['MethodNamespace'],
                               'name': fields['MethodName'],
                               'signature': fields['MethodSignature']})
                # 0: the image has no code for the method.
                if address := int(fields['EntryPoint'], 16):
                    self.by_address[address].append((int(seconds) * perftool.NS + int(ns), name))

    def names(self, address, moment):
        return {name for known, name in self.by_address.get(address, ()) if known <= moment}


def symbol(row):
    """The symbol in the runtime's spelling; the arguments begin at the last opening parenthesis that is closed at
    the end."""
    signature, depth = row['signature'], 0
    for i in range(len(signature) - 1, -1, -1):
        depth += {')': 1, '(': -1}.get(signature[i], 0)
        if not depth:
            return f'{row["namespace"]}.{row["name"]}{signature[i:]}'
    return f'{row["namespace"]}.{row["name"]}()'


def read_chains(truth):
    rows = [line.split('\t') for line in truth.text('samples.tsv').splitlines()]
    return [(int(tid), int(moment), [int(address, 16) for address in chain.split(',')])
            for _, tid, moment, chain in rows]


def tid_width(head):
    """The tid has 5 columns in perf 6.1, 7 in later versions."""
    tid = re.match(r'.*?\S (?P<tid> *-?\d+) +(?:\[\d+\] +)?\d+\.\d{9}: ', head)['tid']
    return max(5, len(tid))


def widened(head, width):
    """A line of the filter in the columns of the installed perf."""
    tid = perftool.HEAD.fullmatch(head)['tid']
    return head.replace(f' {tid:>5} ', f' {tid:>{width}} ', 1)


def check_frames(tap, bodies, entries, plain, named, chains):
    """Frame by frame: the filter's name against the table, the rest against plain perf."""
    counts, wrong, differing = collections.Counter(), [], []
    width = tid_width(plain[0].head)
    tap.check(width in (5, 7), f'perf gives the tid {width} columns', plain[0].head)
    for before, after, (_, moment, chain) in zip(plain, named, chains):
        # The caller of a method replaced by OSR is an additional frame where perf lacks the method itself.
        frames = perftool.frames_of_perf(after)
        counts['added'] += len(after.frames) - len(frames)
        # A caller in no mapping ends the stack.
        is_ended = len(frames) < len(chain) and before.frames[len(frames)].module == '[unknown]'
        counts['no mapping'] += len(chain) - len(frames)
        if before.head != widened(after.head, width) or [frame.address for frame in frames] != (
                chain[:len(frames)] if is_ended else chain):
            differing.append((before.head, after.head))
            continue
        callee = None
        for one, other, address in zip(before.frames, frames, perftool.looked_up(chain)):
            body = bodies.at(address, moment)
            ended = [] if body else bodies.just_ended(address, moment)
            if other.symbol == perftool.OSR_UNKNOWN + '+0x0':
                counts['hidden'] += 1
                if not body or body['name'] != callee:
                    wrong.append(f'{moment} {address:#x}: {other}, not {body} above {callee}')
            elif body or ended:
                want = {f'{each["name"]}+{other.address - each["start"]:#x}'
                        for each in ([body] if body else ended)}
                mark = ' ~' if ended else ''
                counts['ended' if ended else 'alive'] += 1
                if other.symbol not in want or other.tail != mark:
                    wrong.append(f'{moment} {address:#x}: {other.symbol}{other.tail}, not {want}')
            elif names := entries.names(address, moment):
                counts['entries'] += 1
                if (str(other.symbol).rsplit('+', 1)[0] not in names or other.tail
                        or other.module != one.module.rsplit('/', 1)[-1]):
                    wrong.append(f'{moment} {address:#x}: {other}, not {names}')
            else:
                counts['others'] += 1
                counts['jitted, unknown'] += 'doublemapper' in other.module
                # perf looks up the return address, which is in another function after a call that does not return.
                is_beyond = address < other.address and str(one.symbol).endswith('+0x0')
                counts['beyond'] += is_beyond
                if ((one.symbol == other.symbol) == is_beyond or one.module != other.module or other.tail):
                    wrong.append(f'{moment} {address:#x}: {other}, perf: {one}')
            callee = str(other.symbol).rsplit('+', 1)[0]
    tap.check(not differing and len(plain) == len(named) == len(chains),
              f'{len(chains)} samples with perf\'s lines and the recorded addresses',
              len(plain), len(named), *differing[:3])
    tap.check(counts['alive'] + counts['hidden'] > 10000 and counts['others'] > 100000 and not wrong,
              f'{counts["alive"]} frames in bodies have their names, {counts["ended"]} in bodies '
              f'that had just ended, {counts["entries"]} at entry points, and {counts["others"]} '
              'others are as perf has them', counts, *wrong[:5])
    tap.note(', '.join(f'{n} {what}' for what, n in sorted(counts.items())))
    return counts


def check_text(tap, programs, trace, snapshot, data, directory):
    truth = recorded.Truth('perf')
    bodies, chains = Bodies(truth), read_chains(truth)
    entries = Entries(programs, trace, directory)
    plain = perftool.script(programs, data, '--ns', '--no-inline')
    named = perftool.script(programs, data, settings=[f'trace={trace}', 'names=clr'])
    tap.check(plain.returncode == 0 and named.returncode == 0, 'perf script, with and without',
              plain.stderr, named.stderr)
    named_samples = perftool.samples(named.stdout)
    counts = check_frames(tap, bodies, entries, perftool.samples(plain.stdout), named_samples, chains)
    said = re.search(r'clrsym: (\d+) samples, (\d+) managed frames: .*; (\d+) marked ~\)',
                     named.stderr)
    tap.equal(said and (int(said[1]), int(said[3])), (len(chains), counts['ended']),
              'what the filter says at its end is what it did')

    tiers = perftool.script(programs, data, settings=[f'trace={snapshot}', 'names=clr', 'tier'])
    lines, without = tiers.stdout.split('\n'), named.stdout.split('\n')
    tap.check(len(lines) == len(without) and
              all(re.sub(r' \[\w+\]( ~)?$', r'\1', line) == other or line == other
                  for line, other in zip(lines, without)) and
              {'OptimizedTier1', 'OptimizedTier1OSR', 'QuickJitted'} <=
              set(re.findall(r'\) \[(\w+)\]', tiers.stdout)), 'tier: the same, with tiers')
    return named_samples


def check_names(tap, programs, snapshot, data, clr):
    """Other styles name the same frames, and each body has one name."""
    for form in ('full', 'short'):
        done = perftool.script(programs, data, settings=[f'trace={snapshot}', f'names={form}'])
        names, odd = collections.defaultdict(set), 0
        for one, other in zip(clr, perftool.samples(done.stdout)):
            for before, after in zip(one.frames, other.frames):
                if perftool.is_managed(before):
                    name, offset = before.symbol.rsplit('+', 1)
                    names[name].add(after.symbol.rsplit('+', 1)[0])
                    odd += after.symbol.rsplit('+', 1)[1] != offset
                else:
                    odd += before != after
        several = [name for name, others in names.items() if len(others) != 1]
        tap.check(len(names) > 100 and not several and not odd,
                  f'names={form}: {len(names)} methods, each under one other name',
                  odd, *several[:5])
        texts = {other for others in names.values() for other in others}
        tap.check(('W.HotLoop(int)' if form == 'full' else 'W.HotLoop') in texts,
                  f'names={form}: as expected', *sorted(texts)[:5])


def label(frame):
    if frame.symbol:
        return frame.symbol.rsplit('+', 1)[0].replace(';', ':')
    name = frame.module.rsplit('/', 1)[-1]
    return name if name.startswith('[') else f'[{name}]'


def check_folded(tap, programs, snapshot, data, named):
    want = collections.Counter()
    for sample in named:
        comm = perftool.HEAD.fullmatch(sample.head)['comm']
        want[(comm, *(label(frame) for frame in reversed(sample.frames)))] += 1
    done = perftool.script(programs, data, settings=[f'trace={snapshot}', 'names=clr',
                                                     'format=folded'])
    got = perftool.folded(done.stdout)
    tap.check(done.returncode == 0 and got == want,
              f'folded: {len(want)} stacks, {sum(want.values())} samples, as the text has them',
              *list((want - got).items())[:2], *list((got - want).items())[:2])
    tap.equal(len(done.stdout.splitlines()), len(want), 'folded: each stack once')
    done = perftool.script(programs, data, settings=[f'trace={snapshot}', 'names=clr',
                                                     'format=folded', 'annotate'])
    bare = collections.Counter()
    for stack, count in perftool.folded(done.stdout).items():
        bare[tuple(re.sub(r'_\[[jk]\]$', '', name) for name in stack)] += count
    tap.check(bare == want and 'W.HotLoop(int32)_[j]' in done.stdout, 'folded, annotated')


# The text that --explain adds to a frame.
SOURCE = re.compile(r' \{([^{}]+)\}$')


def check_explained(tap, programs, snapshot, data, plain):
    """--explain prints the source of each frame's name."""
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '--explain')
    pairs = [(one, SOURCE.search(other), other) for one, other in zip(plain.split('\n'), done.stdout.split('\n'))]
    frames = [(one, source and source[1]) for one, source, _ in pairs if one.startswith('\t')]
    tap.check([SOURCE.sub('', line) for line in done.stdout.split('\n')] == plain.split('\n') and frames and
              all(source for _, source in frames), 'explain: the same text, with sources', done.stderr)
    counts = collections.Counter(source for _, source in frames)
    # Native frames have symbols only if the recording machine's files are here.
    tap.check({'event', 'mark', 'none'} <= counts.keys(),
              f'explain: {dict(counts)}', done.stderr)
    wrong = [frame for frame in frames if (frame[1] == 'none') != ('[unknown] (' in frame[0]) or
             ('W.HotLoop' in frame[0] and frame[1] != 'event')]
    tap.equal(wrong[:5], [], 'explain: names of the program are by events, and unknown frames by none')


KERNEL_FRAME = re.compile(r'^(\t *ffff[0-9a-f]{12}) (.*)$', re.M)


def without_kernel(text):
    """Removes names of kernel code: if the kernel was restarted, perf finds its names elsewhere."""
    return KERNEL_FRAME.sub(r'\1', perftool.without_linkage(text))


def check_verb(tap, programs, trace, snapshot, data, directory):
    """`clrsym report` reads the recording itself, and prints the same as the filter."""
    direct = perftool.script(programs, data, settings=[f'trace={snapshot}'])
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', trace)
    tap.check(done.returncode == 0 and without_kernel(done.stdout) == without_kernel(direct.stdout),
              'clrsym perf: text, as by the filter', done.stderr)
    own = done.stdout
    tap.check(re.search(r'^clrsym: 8213 samples, \d+ managed frames: \d+\.\d\d% named .*'
                        r'0 events lost by perf\n\Z', done.stderr, re.M), 'clrsym perf: ends with a summary',
              done.stderr)
    # The kernel of the recording may be running here.
    unnamed = [frame for frame in KERNEL_FRAME.findall(own) if frame[1].startswith('[unknown] ')]
    tap.check(bool(unnamed) == ('clrsym: kernel code has no names: another kernel runs now' in done.stderr),
              f'kernel code, {len(unnamed)} frames without names: the reason', done.stderr)
    check_explained(tap, programs, snapshot, data, own)
    path = pathlib.Path(directory) / 'out.folded'
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '-o', path, '--names',
                                'short')
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    tap.check(done.returncode == 0 and sum(perftool.folded(text).values()) == 8213 and
              ';W.HotLoop ' in text.replace(';', ' ;').replace(' ;W', ';W') and not done.stdout,
              'clrsym perf -o FILE.folded', done.stderr, text[:300])
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '--names', 'short', '--format', 'folded')
    tap.equal(done.stdout, text, '--format folded: the same on the standard output')
    path = pathlib.Path(directory) / 'named-by.txt'
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '--format', 'svg', '-o', path)
    tap.check(done.returncode == 0 and '<svg' in path.read_text(encoding='utf-8')[:500],
              '--format svg: whatever the name of the file is', done.stderr)
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '--format', 'png')
    tap.equal((done.returncode, done.stderr), (1, 'clrsym: --format png: not one of text, folded, speedscope, pprof, '
                                                  'otlp, firefox, svg, html, clrsym\n'), '--format png')
    for link in ('link.svg', 'link.folded', 'link.txt'):
        target, link = pathlib.Path(directory) / f'target-of-{link}', pathlib.Path(directory) / link
        target.write_text('old', encoding='ascii')
        target.chmod(0o640)
        link.symlink_to(target.name)
        done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot, '-o', link)
        tap.check(done.returncode == 0 and link.is_symlink() and target.stat().st_size > 1000 and
                  target.stat().st_mode & 0o777 == 0o640,
                  f'clrsym perf -o {link.name}: the link stays, its file is replaced', done.stderr)
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', snapshot)
    tap.check(done.stdout == own, 'clrsym perf: the same of a snapshot', done.stderr)
    with recorded.Daemon(programs, directory) as daemon:
        programs.feed(trace, daemon.ingest)
        done = perftool.clrsym_perf(programs, '-i', data, *daemon.source)
    tap.check(done.stdout == own, 'clrsym perf: the same of a daemon', done.stderr)


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('perf', reason)
        return
    trace, data, snapshot = perftool.unpack(programs, directory)
    named = check_text(tap, programs, trace, snapshot, data, directory)
    check_names(tap, programs, snapshot, data, named)
    check_folded(tap, programs, snapshot, data, named)
    check_verb(tap, programs, trace, snapshot, data, directory)


if __name__ == '__main__':
    recorded.main(run)
