# SPDX-License-Identifier: MIT
"""Each listing verb of clrsym, as text and as JSON, for a process with known contents."""

import json
import os
import pathlib
import re

from tests.daemon import ingest
from tests.traces import recorded

NS = 10**9
LIB = 0x77000
QUICK, TIER1, OSR = 3, 4, 5
BODY_COLUMNS = ['ADDR', 'SIZE', 'VER', 'IL', 'TIER', 'JIT-MS', 'LOADED', 'UNLOADED', 'MODULE',
                'METHOD']
# Method ids of M, which is compiled three times, and of R, whose IL a profiler replaces.
M, R = 0xa000, 0xb000


def history():
    """Process 100: M at three tiers, R before and after the rewrite, five bodies at 0x9000."""
    reused = []
    for i in range(5):
        reused.append(ingest.body((30 + i) * NS, 0x9000, f'Dyn{i}', method=0xc000 + i, size=16 + i))
        if i < 4:
            reused.append(ingest.unload((30 + i) * NS + NS // 2, 0x9000, f'Dyn{i}',
                                        method=0xc000 + i, size=16 + i))
    return [
        ingest.runtime_start(9 * NS),
        ingest.module_load(9 * NS + 1, LIB, '/app/lib with blanks.dll'),
        ingest.module_load(9 * NS + 2, LIB + 1, '/app/gone.dll'),
        ingest.jitting(10 * NS - 2_499_500, M, 'M'),
        ingest.body(10 * NS, 0x1000, 'M', method=M, size=100, module=LIB),
        ingest.module_load(12 * NS, LIB + 1, '/app/gone.dll', event=153),
        ingest.jitting(20 * NS - 39_999_500, M, 'M'),
        ingest.body(20 * NS, 0x2000, 'M', method=M, size=300, tier=OSR, rejit=1, module=LIB),
        ingest.jitting(21 * NS - 999_500, M, 'M'),
        ingest.body(21 * NS, 0x3000, 'M', method=M, size=200, tier=TIER1, rejit=2, module=LIB),
        ingest.body(22 * NS, 0x4000, 'R', method=R, module=LIB),
        ingest.il_map(22 * NS + 1, R, 0, 0),
        ingest.body(23 * NS, 0x4100, 'R', method=R, rejit=1, module=LIB),
        ingest.il_map(23 * NS + 1, R, 1, 7),
        *reused]


OTHER = [ingest.runtime_start(15 * NS, pid=200, stream=1),
         ingest.body(16 * NS, 0x1000, 'Elsewhere', pid=200, stream=1)]


class Asker:
    def __init__(self, programs, daemon):
        self.programs, self.daemon = programs, daemon

    def run(self, *arguments):
        done = self.programs.run([self.programs.clrsym, *arguments, '--socket', self.daemon.query])
        if done.returncode or done.stderr:
            raise RuntimeError(f'{arguments}: exit {done.returncode}: {done.stderr}')
        return done.stdout

    def table(self, *arguments):
        """Returns the headings, and the rows as lists of words."""
        lines = self.run(*arguments).splitlines()
        return lines[0].split(), [line.split() for line in lines[1:]]

    def json(self, *arguments):
        return [json.loads(line) for line in self.run(*arguments, '--json').splitlines()]

    def starts(self, *arguments):
        """Returns the addresses that `methods` lists; text and JSON must agree."""
        rows = self.table('methods', *arguments)
        at = rows[0].index('ADDR')
        text = [row[at] for row in rows[1]]
        got = [row['start'] for row in self.json('methods', *arguments)]
        return got if got == text else ('text', text, 'json', got)


def check_ps(tap, asker):
    heading, rows = asker.table('ps')
    tap.equal(heading, ['PID', 'NS', 'STATE', 'RUNTIME', 'BODIES', 'SINCE', 'GAP', 'COMMAND'],
              'ps: columns')
    tap.equal(rows, [['100', '0', 'running', '10.0.12', '10', '9.000000000', '-', 'app'],
                     ['200', '0', 'running', '10.0.12', '1', '15.000000000', '-', 'app']], 'ps: rows')
    tap.equal([row['pid'] for row in asker.json('ps')], [100, 200], 'ps --json')
    for arguments, pids in ((['-p', '200'], [200]), (['-p', '7'], []), (['-t', '14.0'], [100]),
                            (['-t', '15.0'], [100, 200]), (['--at=8.999999999'], []),
                            (['-p', '0:100'], [100]), (['-p', '5:100'], [])):
        tap.equal([row['pid'] for row in asker.json('ps', *arguments)], pids,
                  f'ps {" ".join(arguments)} --json')
        tap.equal([int(row[0]) for row in asker.table('ps', *arguments)[1]], pids,
                  f'ps {" ".join(arguments)}')


METHOD_ROWS = [
    # options, addresses in order
    ([], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100', '0x9000']),
    (['--all'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100'] + ['0x9000'] * 5),
    (['-t', '20.5'], ['0x1000', '0x2000']),
    (['-t', '30.25'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100', '0x9000']),
    (['-t', '30.5'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100']),
    (['--tier', 'QuickJitted'], ['0x1000', '0x4000', '0x4100', '0x9000']),
    (['--tier', 'optimizedtier1'], ['0x3000']),
    (['--tier', 'OptimizedTier1OSR'], ['0x2000']),
    (['--tier', 'ReadyToRun'], []),
    (['--min-versions', '2'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100']),
    (['--min-versions', '3'], ['0x1000', '0x2000', '0x3000']),
    (['--min-versions', '3', '-t', '20.5'], ['0x1000', '0x2000']),
    (['--min-versions', '4'], []),
    (['--rejitted'], ['0x4100']),
    (['--older', '10', '-t', '32.0'], ['0x1000', '0x2000', '0x3000', '0x4000']),
    (['--older', '10.000000001', '-t', '32.0'], ['0x1000', '0x2000', '0x3000']),
    (['--older', '1000000000'], []),
    (['--sort', 'jit'], ['0x2000', '0x1000', '0x3000', '0x4000', '0x4100', '0x9000']),
    (['--sort', 'size'], ['0x2000', '0x3000', '0x1000', '0x9000', '0x4000', '0x4100']),
    (['--sort', 'versions'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100', '0x9000']),
    (['--sort', 'reuse'], ['0x9000', '0x1000', '0x2000', '0x3000', '0x4000', '0x4100']),
    (['--sort', 'loaded'], ['0x9000', '0x4100', '0x4000', '0x3000', '0x2000', '0x1000']),
    (['N.T.M'], ['0x1000', '0x2000', '0x3000']),
    (['N.T.M()'], ['0x1000', '0x2000', '0x3000']),
    (['*.R'], ['0x4000', '0x4100']),
    (['N.T.?'], ['0x1000', '0x2000', '0x3000', '0x4000', '0x4100']),
    (['*Dyn*', '--all', '--sort', 'size'], ['0x9000'] * 5),
    (['M'], []),
    (['[NM].T.M'], []),
    (['--tier', 'QuickJitted', '--min-versions', '2', '--sort', 'loaded', '*T*'],
     ['0x4100', '0x4000', '0x1000']),
]


def check_methods(tap, asker):
    for arguments, want in METHOD_ROWS:
        tap.equal(asker.starts('-p', '100', *arguments), want, f'methods {" ".join(arguments)}')
    heading, rows = asker.table('methods', '-p', '100')
    tap.equal(heading, BODY_COLUMNS, 'methods: columns')
    tap.equal(rows[0], ['0x1000', '100', '0', '-', 'QuickJitted', '2.500', '10.000000000', '-', 'lib',
                        'with', 'blanks.dll', 'N.T.M()'], 'methods: a row')
    tap.equal(rows[4], ['0x4100', '16', '1', '7', 'QuickJitted', '-', '23.000000000', '-', 'lib',
                        'with', 'blanks.dll', 'N.T.R()'], 'methods: one of another IL')
    rows = asker.table('methods', '-p', '100', '--all', '*Dyn0')[1]
    tap.equal(rows, [['0x9000', '16', '0', '-', 'QuickJitted', '-', '30.000000000', '30.500000000',
                      '-', 'N.T.Dyn0()']], 'methods: one that is gone')
    heading, rows = asker.table('methods')
    tap.check(heading == ['PID', *BODY_COLUMNS] and {row[0] for row in rows} == {'100', '200'},
              'methods of several processes have a PID', heading)
    for arguments, column, want in (
            (['--sort', 'reuse'], 'REUSE', ['5', '1', '1', '1', '1', '1']),
            (['--sort', 'versions'], 'VERSIONS', ['3', '3', '3', '2', '2', '1']),
            (['--min-versions', '3'], 'VERSIONS', ['3', '3', '3'])):
        heading, rows = asker.table('methods', '-p', '100', *arguments)
        tap.equal([row[heading.index(column)] for row in rows], want,
                  f'methods {" ".join(arguments)}: {column}')
        key = column.lower()
        rows = asker.json('methods', '-p', '100', *arguments)
        tap.equal([str(row[key]) for row in rows], want, f'and as JSON: {key}')
        plain = {row['start']: row for row in asker.json('methods', '-p', '100')}
        tap.check(all({**plain[row['start']], key: row[key]} == row for row in rows),
                  'whose rows are else as the daemon gives them')
    tap.equal(asker.run('methods', '-p', '7'), '  '.join(BODY_COLUMNS) + '\n',
              'methods of an unknown process: none')
    tap.equal(asker.run('methods', '-p', '7', '-j'), '', 'and no JSON')


def check_history(tap, asker):
    heading, rows = asker.table('history', '-p', '100', '0x9008')
    tap.equal((heading, [row[-1] for row in rows]),
              (BODY_COLUMNS, [f'N.T.Dyn{i}()' for i in (4, 3, 2, 1, 0)]), 'history: newest first')
    rows = asker.json('history', '-p', '100', '9008')
    tap.equal([(row['symbol'], row['offset']) for row in rows],
              [(f'N.T.Dyn{i}()', 8) for i in (4, 3, 2, 1, 0)], 'history --json')
    heading, rows = asker.table('history', '0x1000')
    tap.equal((heading[0], sorted((row[0], row[-1]) for row in rows)),
              ('PID', [('100', 'N.T.M()'), ('200', 'N.T.Elsewhere()')]),
              'history in all processes')
    tap.equal(len(asker.json('history', '-p', '100', '0x9000', '0x1000')), 6, 'of two addresses')
    tap.equal(asker.json('history', '-p', '100', '0x8000'), [], 'of none')


def check_versions(tap, asker):
    for method in ('N.T.M', f'{M:#x}'):
        rows = asker.json('versions', '-p', '100', method)
        tap.equal([(row['start'], row['version']['rejit_id'], row['version']['tier'])
                   for row in rows],
                  [('0x1000', 0, 'QuickJitted'), ('0x2000', 1, 'OptimizedTier1OSR'),
                   ('0x3000', 2, 'OptimizedTier1')], f'versions {method} --json')
    heading, rows = asker.table('versions', 'N.T.R')
    tap.equal((heading, [row[:4] for row in rows]),
              (BODY_COLUMNS, [['0x4000', '16', '0', '0'], ['0x4100', '16', '1', '7']]), 'versions')
    for version, want in (('7', ['0x4100']), ('0', ['0x4000']), ('1', [])):
        tap.equal([row['start'] for row in asker.json('versions', 'N.T.R', '--il-version', version)],
                  want, f'versions --il-version {version}')


def check_modules(tap, asker):
    text = asker.run('modules', '-p', '100')
    tap.equal(text.splitlines(),
              ['PID  ID       BODIES  LIVE  BYTES       LOADED  UNLOADED  PATH',
               f'100  {LIB:#x}       5     5    632  9.000000001         -  '
               '/app/lib with blanks.dll'], 'modules')
    for arguments, want in (([], [LIB]), (['--all'], [LIB, LIB + 1]), (['-t', '10.0'], [LIB, LIB + 1]),
                            (['-t', '12.0'], [LIB]), (['-t', '9.000000001'], [LIB]),
                            (['-t', '8.0'], [])):
        tap.equal([row['id'] for row in asker.json('modules', '-p', '100', *arguments)],
                  [f'{number:#x}' for number in want], f'modules {" ".join(arguments)} --json')


def check_perfmap(tap, asker, directory):
    now = asker.run('perfmap', '-p', '100')
    tap.equal(now, '1000 64 N.T.M()\n2000 12c N.T.M()\n3000 c8 N.T.M()\n4000 10 N.T.R()\n'
              '4100 10 N.T.R()\n9000 14 N.T.Dyn4()\n', 'perfmap of now')
    tap.equal(asker.run('perfmap', '-p', '100', '--at', '31.25').splitlines()[-1],
              '9000 11 N.T.Dyn1()', 'perfmap of then')
    tap.equal(asker.run('perfmap', '-p', '100', '--at', '10.0'), '1000 64 N.T.M()\n',
              'perfmap of the beginning')
    path = os.path.join(directory, 'perf-100.map')
    pathlib.Path(path).write_text('old\n' * 1000, encoding='ascii')
    tap.equal((asker.run('perfmap', '-p', '100', '-o', path),
               pathlib.Path(path).read_text(encoding='utf-8')), ('', now), 'perfmap -o FILE')
    rows = [json.loads(line) for line in asker.run('perfmap', '-p', '100', '--json').splitlines()]
    tap.equal([f"{int(row['start'], 16):x} {max(row['size'] or 0, 1):x} {row['symbol']}\n" for row in rows],
              now.splitlines(True), 'perfmap --json: the same bodies')
    for arguments, words in ((['perfmap'], 'give --pid one of 0:100 0:200'),
                             (['perfmap', '-p', '7'], 'the process is not known'),
                             (['perfmap', '-p', '100', '-t', 'then'], 'then'),
                             (['perfmap', '-p', '100', '-o', directory], directory)):
        done = asker.programs.run([asker.programs.clrsym, *arguments, '--socket',
                                   asker.daemon.query])
        tap.check(done.returncode == 1 and words in done.stderr and done.stderr.count('\n') == 1 and
                  not done.stdout, f'{" ".join(arguments[:3])}: a line why not', done.stderr)


def check_jit(tap, asker):
    got, = asker.json('jit', '-p', '100')
    tap.equal({row['tier']: (row['bodies'], row['live'], row['live_bytes'], row['jit_ms'],
                             row['max_jit_ms']) for row in got['tiers']},
              {'QuickJitted': (8, 4, 152, 2.5, 2.5), 'OptimizedTier1': (1, 1, 200, 1, 1),
               'OptimizedTier1OSR': (1, 1, 300, 40, 40)}, 'jit --json: tiers')
    tap.equal([(row['symbol'], row['jit_ms'], row['start']) for row in got['longest']],
              [('N.T.M()', 40, '0x2000'), ('N.T.M()', 2.5, '0x1000'), ('N.T.M()', 1, '0x3000')],
              'jit --json: longest')
    steps = got['steps']
    tap.check(len(steps) == 10 and steps[0]['begin'] == '10.000000000' and
              steps[-1]['end'] == '34.000000001' and
              all(a['end'] == b['begin'] for a, b in zip(steps, steps[1:])),
              'jit --json: steps from the first load to the last', steps)
    loads = [sum(step['loads'].values()) for step in steps]
    starts = [float(step['begin']) for step in steps] + [float(steps[-1]['end'])]
    times = [10, 20, 21, 22, 23, 30, 31, 32, 33, 34]
    tap.equal(loads, [sum(a <= t < b for t in times) for a, b in zip(starts, starts[1:])],
              'jit --json: loads by step')
    stats, = got['processes']
    tap.equal((stats['inlining_succeeded'], stats['inlining_failed']),
              (2, [{'reason': 'too big', 'count': 3}, {'reason': 'no\u001bway', 'count': 1}]),
              'jit --json: inlining')
    text = asker.run('jit', '-p', '100')
    tap.check(re.search(r'^Inlining: 2 succeeded, 4 failed\nFAILED  REASON\n     3  too big\n'
                        r'     1  no\\u\{1b\}way\n', text, re.M) and
              re.search(r'^OptimizedTier1OSR +1 +1 +300 +40\.000 +40\.000$', text, re.M) and
              re.search(r'^ *10\.000000000 +1 +0 +0 +2\.500$', text, re.M), 'jit', text)
    text = asker.run('jit', '-p', '200')
    tap.check('no such events were read' in text, 'jit where nobody took such events', text)
    text = asker.run('jit', '-p', '7')
    tap.check(text.startswith('TIER  BODIES'), 'jit of nobody', text)


def check_status(tap, asker):
    lines = asker.run('status').splitlines()
    tap.check({'processes: 2', 'bodies: 11', 'method_loads: 11'} <= set(lines), 'status', *lines)
    status, = asker.json('status')
    tap.equal({f'{key}: {value}' for key, value in status.items()}, set(lines),
              'status --json says the same')
    text = asker.run('metrics')
    tap.check(text.endswith('\n# EOF\n') and '\nclrsym_processes 2\n' in text, 'metrics', text)
    metrics, = asker.json('metrics')
    tap.equal(metrics['text'].splitlines()[0], text.splitlines()[0], 'metrics --json')


def check_version(tap, asker, programs, directory):
    text = asker.run('--version')
    number = re.match(r'clrsym (\d+\.\d+\.\d+)\n', text)
    tap.check(number and text == f'clrsym {number[1]}\n'
              f'libclrsym {number[1]}: org.clrsym.Symbolizer, binary form 4\n'
              f'clrsymd {number[1]}: org.varlink.service, org.clrsym.Symbolizer, binary form 4, '
              f'ingest protocol {ingest.VERSION}\n', '--version', text)
    got, = asker.json('--version')
    tap.equal(got['clrsymd'], {'version': number[1], 'bulk_version': 4,
                               'ingest_version': ingest.VERSION,
                               'interfaces': ['org.varlink.service', 'org.clrsym.Symbolizer']},
              '--version --json')
    done = programs.run([programs.clrsym, '--version', '--socket', os.path.join(directory, 'none')])
    tap.check(done.returncode == 0 and done.stdout.startswith(f'clrsym {number[1]}\n') and
              '\nclrsymd: no daemon at ' in done.stdout and not done.stderr,
              '--version without a daemon', done.stdout)


def run(tap, programs, directory, _):
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), *history(),
                    *[ingest.inlining(40 * NS + i, reason) for i, reason in
                      enumerate([None, 'too big', 'too big', 'no\x1bway', None, 'too big'])],
                    ingest.stream_open(1, stream_id=1), *OTHER,
                    ingest.progress(50 * NS), ingest.progress(50 * NS, 1), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        asker = Asker(programs, daemon)
        check_ps(tap, asker)
        check_methods(tap, asker)
        check_history(tap, asker)
        check_versions(tap, asker)
        check_modules(tap, asker)
        check_perfmap(tap, asker, directory)
        check_jit(tap, asker)
        check_status(tap, asker)
        check_version(tap, asker, programs, directory)
        feeder.close()
    tap.equal(daemon.status, 0, 'the daemon ends with exit 0')


if __name__ == '__main__':
    recorded.main(run)
