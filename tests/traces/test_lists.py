# SPDX-License-Identifier: MIT
"""clrsym's lists of every recorded trace, against the sinks, the events, and the truth."""

import collections
import json
import os

from tests.traces import recorded
from tests.traces.test_traces import NOT_WHOLE, PERF_MAP_LINE, nanoseconds


# The runtime's perf map lacks code loaded before it, or lines after a name that is not ASCII.
NO_PERF_MAP = (*NOT_WHOLE, 'dynamic')


# Bodies; above it, a list takes seconds, so only one list of each kind is tested.
LARGE = 4_000
# Events.
LARGE_DUMP = 60_000

NO_GUID = '00000000-0000-0000-0000-000000000000'
# Bit -> name, as in eventtracebase.h of the runtime.
METHOD_FLAGS = ('dynamic', 'generic', 'shared', 'jitted', 'helper', 'profiler-rejected',
                'ready-to-run-rejected')
MODULE_FLAGS = ('domain-neutral', 'native', 'dynamic', 'manifest', 'ibc-optimized', 'ready-to-run',
                'partly-ready-to-run')
TIERING = ('quick-jit', 'osr', 'pgo', 'ready-to-run')
ASSEMBLY_FLAGS = ('domain-neutral', 'dynamic', 'native', 'collectible', 'ready-to-run',
                  'partly-ready-to-run')


class Trace:
    """A trace, and its snapshot, which loads faster."""

    def __init__(self, programs, name, path, directory):
        self.programs, self.name, self.path = programs, name, path
        self.snapshot = os.path.join(directory, f'{name}.snapshot')
        done = programs.run([programs.clrsym, 'save', '--jit-events', '--trace', path, '-o',
                             self.snapshot])
        if done.returncode or done.stdout or done.stderr:
            raise RuntimeError(f'{name}: save: exit {done.returncode}: {done.stderr}')

    def run(self, verb, *arguments, source=None):
        done = self.programs.run([self.programs.clrsym, verb, '--trace', source or self.snapshot,
                                  *arguments])
        if done.returncode or done.stderr:
            raise RuntimeError(f'{self.name}: {verb}: exit {done.returncode}: {done.stderr}')
        return done.stdout

    def lines(self, verb, *arguments, source=None):
        return self.run(verb, *arguments, '--json', source=source).splitlines()

    def rows(self, verb, *arguments):
        return [json.loads(line) for line in self.lines(verb, *arguments)]


def sink_map(programs, trace, process, time):
    """The sink's perf map of a process, at TIME or by default."""
    at = f',at="{time}"' if time else ''
    done = programs.babeltrace(trace.path, '-c', 'sink.clrsym.dump', '-p',
                               f'format="perfmap",pid={process["pid"]},'
                               f'pid_ns={process["pid_ns"]}{at}')
    return done.stdout if done.returncode == 0 else done


def check_perfmap(tap, programs, trace, processes):
    """The lines are those of the sink, for a trace, a snapshot and a daemon, at any time."""
    names = {(process['pid_ns'], process['pid']) for process in processes}
    maps = {}  # of the last process, by share of its time
    for process in processes:
        first, last = int(nanoseconds(process['since'])), int(nanoseconds(process['last']))
        is_large = process['bodies'] > LARGE
        for part in (None, 0.5) if is_large else (None, 0.1, 0.5, 0.9, 1):
            time = None if part is None else \
                '%d.%09d' % divmod(first + int((last - first) * part), 10**9)
            options = ['-p', f'{process["pid_ns"]}:{process["pid"]}', *(['-t', time] if time else [])]
            got, want = trace.run('perfmap', *options), sink_map(programs, trace, process, time)
            maps[part] = got
            tap.check(got == want and (part in (None, 1) or got.count('\n') > 20),
                      f'{trace.name}: perf map of {process["pid"]} at {time}: '
                      f'{got.count(chr(10))} lines', got[:300], str(want)[:300])
            check_map(tap, trace, got, time)
    if len(names) == 1:
        tap.equal(trace.run('perfmap', source=trace.path), maps[None],
                  f'{trace.name}: perf map of the one process, from the trace itself')


def check_map(tap, trace, text, time):
    lines = [line.split(' ', 2) for line in text.splitlines()]
    ranges = [(int(start, 16), int(size, 16)) for start, size, _ in lines]
    tap.check(all(a[0] + a[1] <= b[0] for a, b in zip(ranges, ranges[1:])) and
              all(name.isprintable() for _, _, name in lines),
              f'{trace.name}: at {time} sorted, without overlaps, printable')
    runtime = recorded.Truth(trace.name).text('perf.map')
    if runtime is None or trace.name in NO_PERF_MAP:
        return
    known = {(int(match[1], 16), int(match[2], 16))
             for match in map(PERF_MAP_LINE.fullmatch, runtime.split('\n')) if match}
    missing = [extent for extent in ranges if extent[1] > 1 and extent not in known]
    tap.check(not missing, f'{trace.name}: at {time} all jitted code is in the runtime\'s perf map',
              len(missing), *missing[:5])


def check_methods(tap, trace, bodies, lines):
    """LINES are the bodies' texts. Each list has them unchanged, except for the list's own counts."""
    name = trace.name
    versions = collections.Counter(version_key(body) for body in bodies)
    reuse = collections.Counter(reuse_key(body) for body in bodies)
    is_large = len(bodies) > LARGE
    for key, options, value in (
            ('size', [], lambda body: body['size'] or 0),
            ('jit', [], lambda body: body['jit_ms'] or 0),
            ('il-size', [], lambda body: body['method']['il_size'] or 0),
            ('loaded', [], lambda body: int(nanoseconds(body['loaded']) or 0)),
            ('versions', ['--min-versions', '2'], lambda body: versions[version_key(body)]),
            ('reuse', [], lambda body: reuse[reuse_key(body)]))[:2 if is_large else None]:
        rows = trace.lines('methods', '--all', '--sort', key, *options)
        chosen = sorted((i for i, body in enumerate(bodies)
                         if not options or versions[version_key(body)] >= 2),
                        key=lambda i: -value(bodies[i]))
        if key in ('versions', 'reuse'):
            parsed = [json.loads(line) for line in rows]
            is_same = ([identity(row) for row in parsed] == [identity(bodies[i]) for i in chosen] and
                       all(row[key] == value(row) for row in parsed))
        else:
            is_same = rows == [lines[i] for i in chosen]
        tap.check(is_same, f'{name}: {len(rows)} methods sorted by {key}', rows[:1],
                  [lines[i] for i in chosen[:1]])
    flags = {flag: [line for line, body in zip(lines, bodies) if (body['flags'] or 0) >> bit & 1]
             for bit, flag in enumerate(METHOD_FLAGS)}
    for flag in METHOD_FLAGS[:1 if is_large else None]:
        tap.equal(trace.lines('methods', '--all', '--flag', flag), flags[flag],
                  f'{name}: {len(flags[flag])} methods with flag {flag}')
    tap.check(all(body['flag_names'] == (None if body['flags'] is None else
                                         words(body['flags'], METHOD_FLAGS)) for body in bodies),
              f'{name}: the flags of methods by name')
    for tier in ('OptimizedTier1', 'QuickJitted', 'Optimized', 'ReadyToRun')[:1 if is_large else None]:
        tap.equal(trace.lines('methods', '--all', '--tier', tier),
                  [line for line, body in zip(lines, bodies) if body['version']['tier'] == tier],
                  f'{name}: methods of tier {tier}')
    rewritten = [line for line, body in zip(lines, bodies) if body['version']['il_version']]
    tap.check(trace.lines('methods', '--all', '--rejitted') == rewritten and
              (not name.startswith('rejit') or len(rewritten) >= 20),
              f'{name}: {len(rewritten)} rejitted')
    text = trace.run('methods', '--all', '--style=clr').splitlines()
    tap.check(len(text) == len(bodies) + 1 and
              all(line.endswith(body['symbol']) and body['start'] in line
                  for line, body in zip(text[1:], bodies)), f'{name}: the same as text')


def identity(body):
    return body['pid_ns'], body['pid'], body['start'], body['method']['id'], body['loaded'], \
        body['unloaded'], body['version']['rejit_id']


def version_key(body):
    return body['pid_ns'], body['pid'], body['generation'], body['method']['id']


def reuse_key(body):
    return body['pid_ns'], body['pid'], body['generation'], body['start']


def check_dump(tap, programs, trace, directory):
    """Checks the sink's own lines. Returns the events."""
    output = os.path.join(directory, f'{trace.name}.jsonl')
    sink = programs.dump(trace.path, output)
    with open(output, encoding='utf-8') as lines:
        want = lines.read()
    done = programs.run([programs.clrsym, 'dump', trace.path])
    tap.check(done.returncode == 0 and done.stdout == want and done.stderr == sink.stderr,
              f'{trace.name}: dump: {want.count(chr(10))} lines', done.stdout[:300], done.stderr)
    lines = want.splitlines()
    records = [json.loads(line) for line in lines]
    for glob, test in (('MethodLoadVerbose*', lambda r: r['event'].startswith('MethodLoadVerbose')),
                       ('DotNETRuntime:*Unload*', lambda r: r.get('provider') == 'DotNETRuntime' and
                        'Unload' in r['event']),
                       ('(discarded events)', lambda r: r['event'] == '(discarded events)'),
                       ('NoSuchEvent', lambda r: False))[:1 if len(lines) > LARGE_DUMP else None]:
        done = programs.run([programs.clrsym, 'dump', trace.path, '--event', glob])
        tap.check(done.returncode == 0 and done.stdout.splitlines() ==
                  [line for line, record in zip(lines, records) if test(record)],
                  f'{trace.name}: dump --event {glob}: {done.stdout.count(chr(10))} lines',
                  done.stdout[:300])
    first = next(record for record in records if 'pid' in record)
    for option, test in ((f'{first["pid"]}', lambda r: r['pid'] == first['pid']),
                         (f'{first["pid_ns"]}:{first["pid"]}', lambda r: (r['pid_ns'], r['pid']) ==
                          (first['pid_ns'], first['pid']))):
        done = programs.run([programs.clrsym, 'dump', '-p', option, trace.path])
        tap.check(done.stdout.splitlines() == [line for line, record in zip(lines, records)
                                               if 'pid' not in record or test(record)],
                  f'{trace.name}: dump -p {option}')
    return [record for record in records if 'pid' in record]


def check_lookups(tap, name, processes, events):
    """Lookups of precompiled code, each from start to end on one thread; and pauses."""
    begun, want, pauses = {}, [0, 0, 0], {}
    paused = [0, 0]
    for event in events:
        thread = event['pid_ns'], event['pid'], event['tid']
        fields, time = event['fields'], int(nanoseconds(event['time']))
        if event['event'] == 'R2RGetEntryPointStart':
            begun[thread] = fields['MethodID'], time
        elif event['event'] == 'R2RGetEntryPoint' and begun.get(thread, (0,))[0] == fields['MethodID']:
            want = [want[0] + 1, want[1] + (fields['EntryPoint'] != '0x0'),
                    want[2] + time - begun.pop(thread)[1]]
        elif event['event'] == 'TieredCompilationPause':
            pauses[thread[:2]] = time
        elif event['event'] == 'TieredCompilationResume':
            paused = [paused[0] + time - pauses.pop(thread[:2], time),
                      paused[1] + fields['NewMethodCount']]
    found = [process['precompiled_lookups'] or {'count': 0, 'found': 0, 'ms': 0}
             for process in processes]
    tap.equal([sum(row['count'] for row in found), sum(row['found'] for row in found),
               round(sum(row['ms'] for row in found) * 10**6)], want,
              f'{name}: jit: {want[0]} lookups of precompiled code')
    found = [process['background_jit'] or {'pause_ms': 0, 'new_methods': 0} for process in processes]
    tap.equal([round(sum(row['pause_ms'] for row in found) * 10**6),
               sum(row['new_methods'] for row in found)], paused, f'{name}: jit: pauses of tiering')


def check_jit(tap, trace, bodies, events):
    """Sums over the output of `methods`, and counts of the dump."""
    name = trace.name
    got, = trace.rows('jit')
    for tier in got['tiers']:
        mine = [body for body in bodies if body['version']['tier'] == tier['tier']]
        sums = (len(mine), sum(body['unloaded'] is None for body in mine),
                sum(body['size'] or 0 for body in mine if body['unloaded'] is None))
        ms = sum(body['jit_ms'] or 0 for body in mine)
        tap.check((tier['bodies'], tier['live'], tier['live_bytes']) == sums and
                  abs(tier['jit_ms'] - ms) < 0.001, f'{name}: jit: {tier["tier"]}', tier, sums, ms)
    tap.equal(sum(tier['bodies'] for tier in got['tiers']), len(bodies), f'{name}: jit: all bodies')
    loaded = [body for body in bodies if body['loaded'] is not None]
    tap.equal(sum(sum(step['loads'].values()) for step in got['steps']), len(loaded),
              f'{name}: jit: each load is in one step')
    for step in got['steps']:
        begin, end = (int(nanoseconds(step[key])) for key in ('begin', 'end'))
        want = collections.Counter(body['version']['tier'] for body in loaded
                                   if begin <= int(nanoseconds(body['loaded'])) < end)
        if {tier: n for tier, n in step['loads'].items() if n} != dict(want):
            tap.equal(step['loads'], dict(want), f'{name}: jit: loads from {step["begin"]} on')
    times = sorted((body['jit_ms'] for body in bodies if body['jit_ms']), reverse=True)
    tap.equal([row['jit_ms'] for row in got['longest']], times[:10], f'{name}: jit: the longest')
    check_lookups(tap, name, got['processes'], events)
    text = trace.run('jit')
    for what, event in (('inlining', 'MethodJitInlining'), ('tail_calls', 'MethodJitTailCall')):
        mine = [record for record in events if record['event'].startswith(event)]
        failed = collections.Counter(record['fields']['FailReason'] for record in mine
                                     if 'FailReason' in record['fields'])
        reasons = collections.Counter()
        for process in got['processes']:
            for row in process[f'{what}_failed'] or []:
                reasons[row['reason']] += row['count']
        n_succeeded = sum(process[f'{what}_succeeded'] or 0 for process in got['processes'])
        tap.equal((n_succeeded, dict(reasons)), (len(mine) - sum(failed.values()), dict(failed)),
                  f'{name}: jit: {len(mine)} times {what}')
        title = {'inlining': 'Inlining', 'tail_calls': 'Tail calls'}[what]
        tap.check(not mine or f'\n{title}: {n_succeeded} succeeded, {sum(failed.values())} failed\n'
                  in text, f'{name}: jit, as text', text)


def words(flags, names):
    return [name for bit, name in enumerate(names) if name and flags >> bit & 1]


def module_of(fields):
    """The part of a row that the fields of an event determine."""
    guid = fields.get('ManagedPdbSignature', NO_GUID)
    return {'path': fields['ModuleILPath'] or None, 'native_path': fields['ModuleNativePath'] or None,
            'flags': fields['ModuleFlags'], 'flag_names': words(fields['ModuleFlags'], MODULE_FLAGS),
            'assembly_id': fields['AssemblyID'],
            'pdb_guid': None if guid == NO_GUID else guid,
            'pdb_age': None if guid == NO_GUID else fields['ManagedPdbAge'],
            'pdb_path': None if guid == NO_GUID else fields['ManagedPdbBuildPath'] or None}


def assembly_of(fields):
    return {'name': fields['FullyQualifiedAssemblyName'], 'flags': fields['AssemblyFlags'],
            'flag_names': words(fields['AssemblyFlags'], ASSEMBLY_FLAGS),
            'binding_id': None if fields['BindingID'] == '0x0' else fields['BindingID'],
            'app_domain_id': fields['AppDomainID']}


def has_its_names(row, fields):
    """The event's methods are in their places; the runtime writes "<null>" for a method without a name."""
    ends = ('Inliner', 'Inlinee') if 'InlinerName' in fields else ('Caller', 'Callee')
    return all((row[key] == '?') == (fields[f'{end}Name'] in ('', '<null>')) and
               (row[key] == '?' or f"{fields[f'{end}Namespace']}.{fields[f'{end}Name']}" in row[key] or
                fields[f'{end}Name'] in row[key] and not fields[f'{end}Namespace'])
               for key, end in zip(('caller', 'callee', 'compiled'), (*ends, 'MethodBeingCompiled')))


def check_inlines(tap, trace, events):
    """A row for each event of inlining or a tail call; and the rows of one method."""
    kinds = {'MethodJitInliningSucceeded': 'inlined', 'MethodJitInliningFailed': 'not-inlined',
             'MethodJitInliningFailedAnsi': 'not-inlined', 'MethodJitTailCallSucceeded': 'tail-call',
             'MethodJitTailCallFailed': 'no-tail-call', 'MethodJitTailCallFailedAnsi': 'no-tail-call'}
    mine = [record for record in events if record['event'] in kinds]
    want = collections.Counter(
        (record['time'], record['pid'], kinds[record['event']],
         record['fields'].get('FailReason'), record['fields'].get('FailAlways'))
        for record in mine)
    done = trace.programs.run([trace.programs.clrsym, 'inlines', '--trace', trace.path, '--json', '*'])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    got = collections.Counter((row['time'], row['pid'], row['kind'], row['reason'], row.get('always'))
                              for row in rows)
    tap.check(done.returncode == 0 and got == want, f'{trace.name}: inlines: {len(rows)} rows',
              str(got - want)[:300], str(want - got)[:300])
    wrong = [row for row, record in zip(rows, mine) if not has_its_names(row, record['fields'])]
    tap.check(len(rows) == len(mine) and not wrong, f'{trace.name}: inlines: names', str(wrong)[:300])
    one = next((row for row in rows if row['kind'] == 'inlined' and not set('*?') & set(row['callee'])),
               None)
    if one:
        text = trace.programs.run([trace.programs.clrsym, 'inlines', '--trace', trace.path,
                                   '--style', 'clr', one['callee']]).stdout.splitlines()
        n = sum(one['callee'] in (row['caller'], row['callee'], row['compiled']) for row in rows)
        tap.check(len(text) >= n and all(one['callee'] in line for line in text),
                  f'{trace.name}: inlines of one method: {n}', '\n'.join(text)[:300])


def check_loader(tap, trace, events):
    """Modules and assemblies match their events: the load if there is one, else another event."""
    for verb, noun, of in (('modules', 'Module', module_of), ('assemblies', 'Assembly', assembly_of)):
        loads, others, unloads = {}, {}, set()
        for event in events:
            if not event['event'].startswith(noun) or 'ClrInstanceID' not in event['fields'] or \
                    event['event'].startswith('ModuleRange'):
                continue
            key = event['pid_ns'], event['pid'], event['fields'][f'{noun}ID']
            if event['event'].startswith(f'{noun}Load'):
                loads[*key, event['time']] = of(event['fields'])
            else:
                others.setdefault(key, []).append(of(event['fields']))
            if event['event'].startswith(f'{noun}Unload'):
                unloads.add((*key, event['time']))
        rows = trace.rows(verb, '--all')
        wrong, described = [], set()
        for row in rows:
            key = row['pid_ns'], row['pid'], row['id']
            possible = [loads[*key, row['loaded']]] if row['loaded'] else others.get(key)
            # Without an event, only bodies or modules made it known.
            if row['flags'] is None and not row['loaded']:
                continue
            described.add(key)
            if not possible or {name: row[name] for name in possible[0]} not in possible:
                wrong.append((row, possible))
        missing = ({key[:3] for key in loads} | others.keys()) - described
        tap.check(not wrong and not missing,
                  f'{trace.name}: {len(rows)} {verb}, as in their events', len(wrong), *wrong[:2])
        seen = {(row['pid_ns'], row['pid'], row['id'], row[time])
                for row in rows for time in ('loaded', 'unloaded')}
        tap.check(not loads.keys() - seen and not unloads - seen,
                  f'{trace.name}: {verb}: {len(loads)} loads, {len(unloads)} unloads',
                  *list(loads.keys() - seen)[:2], *list(unloads - seen)[:2])
        if verb == 'modules':
            modules = rows
    names = {(row['pid_ns'], row['pid'], row['id'], row['name']) for row in rows}
    tap.check(all((row['pid_ns'], row['pid'], row['assembly_id'], row['assembly']) in names
                  for row in modules if row['assembly_id']),
              f'{trace.name}: modules name their assemblies')


def check_tiering(tap, trace, events):
    """The settings of tiered compilation, which some runtimes emit just before their start."""
    want = {(event['pid_ns'], event['pid']): words(event['fields']['Flags'], TIERING)
            for event in events if event['event'].startswith('TieredCompilationSettings')}
    processes = trace.rows('ps')
    tap.check(all(row['tiering'] == want.get((row['pid_ns'], row['pid'])) and
                  (row['tiering'] is None or row['from_start']) for row in processes),
              f'{trace.name}: tiering of {len(want)} processes', want, *processes[:2])


def check_il_sizes(tap, trace, bodies, events):
    """A method's IL size is that of the compilation that made the body."""
    begun, sizes = {}, {}
    for event in events:
        fields = event['fields']
        process = event['pid_ns'], event['pid']
        if event['event'].startswith('MethodJittingStarted'):
            begun[*process, event['tid']] = fields['MethodID'], fields['MethodILSize']
        elif event['provider'] == 'DotNETRuntime' and event['event'].startswith('MethodLoad'):
            method, size = begun.get((*process, event['tid']), (None, None))
            sizes[*process, event['time'], fields['MethodID'], fields['MethodStartAddress']] = \
                size or None if method == fields['MethodID'] else None
    wrong = [body for body in bodies if body['loaded'] is not None and body['method']['il_size'] !=
             sizes[body['pid_ns'], body['pid'], body['loaded'], body['method']['id'], body['start']]]
    n_known = sum(body['method']['il_size'] is not None for body in bodies)
    tap.check(not wrong and (n_known > 0) == any(sizes.values()),
              f'{trace.name}: IL sizes of {n_known} bodies, as in the events', len(wrong), *wrong[:2])


def line_of(answer):
    """The JSON answer as the text of `resolve`, up to the distance of a nearest body."""
    if answer['status'] == 'ok':
        path = answer['module']['path'] if answer['module'] else None
        file = f' ({path.rpartition("/")[2]})' if path and not path.endswith('/') else ''
        text = f'{answer["symbol"]}+{answer["offset"]:#x}{file} [{answer["version"]["tier"]}]'
        if answer['inlined']:  # no trace here has the sources of their names
            text += ', inlined ' + ' in '.join('~?' for _ in answer['inlined'])
    else:
        text = f'?? {answer["status"]}'
    doubt = '' if answer['confidence'] in (None, 'exact') else ' ~'
    nearest = answer.get('nearest')
    return f'{answer["addr"]} {text}', \
        (f': {nearest["symbol"]}+{nearest["offset"]:#x}' if nearest else '') + doubt


def check_text(tap, trace):
    """Text and JSON answers, which are made independently, agree."""
    rows = recorded.Truth(trace.name).rows('probes.tsv')
    questions = ''.join(recorded.probe_line(row) + '\n' for row in rows)
    command = [trace.programs.clrsym, 'resolve', '--style=clr', '--trace', trace.snapshot]
    lines = trace.programs.run(command, text=questions).stdout.splitlines()
    answers = [json.loads(line) for line in
               trace.programs.run([*command, '-j'], text=questions).stdout.splitlines()]
    wrong = [(line, answer) for line, answer in zip(lines, answers)
             if not line.startswith(line_of(answer)[0]) or not line.endswith(line_of(answer)[1]) or
             (answer['status'] == 'ok' and line != ''.join(line_of(answer)))]
    tap.check(len(lines) == len(answers) == len(rows) and not wrong,
              f'{trace.name}: {len(lines)} answers as text', len(wrong), *wrong[:3])


def check_two_namespaces(tap, programs, path):
    """For an ambiguous pid, clrsym prints the possible processes, and how to select one."""
    row = next(row for row in recorded.Truth('pidns').rows('probes.tsv') if row['method_id'] != '-')
    namespaces = sorted({row['pid_ns'] for row in recorded.Truth('pidns').rows('probes.tsv')})
    known = f'{row["pid_ns"]}:1 {row["addr"]} {row["time_ns"]}\n'
    done = programs.run([programs.clrsym, 'resolve', '--trace', path],
                        text=f'{known}1 {row["addr"]}\n{known}')
    first, middle, last = done.stdout.splitlines()
    words = middle.split(': 2 pid namespaces have that PID, give one of ')
    tap.check(words[0] == f'{row["addr"]} ?? ambiguous' and
              sorted(words[1].split()) == [f'{number}:1' for number in namespaces] and
              first == last and row['name'] in first, 'pidns: a bare pid, as text', done.stdout)


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, names)
    for name in names:
        if name == recorded.REFUSED:
            done = programs.run([programs.clrsym, 'dump', traces[name]])
            tap.check(done.returncode == 1 and recorded.says_add_context(done.stderr) and
                      not done.stdout and done.stderr.count('\n') == 1,
                      f'{name}: clrsym dump refuses it in one line', done.stderr)
            continue
        trace = Trace(programs, name, traces[name], directory)
        lines = trace.lines('methods', '--all')
        bodies = [json.loads(line) for line in lines]
        tap.equal(trace.lines('methods', '--all', source=trace.path), lines,
                  f'{name}: {len(bodies)} bodies, the same of the trace and of its snapshot')
        check_perfmap(tap, programs, trace, trace.rows('ps'))
        check_methods(tap, trace, bodies, lines)
        check_text(tap, trace)
        events = check_dump(tap, programs, trace, directory)
        check_jit(tap, trace, bodies, events)
        check_il_sizes(tap, trace, bodies, events)
        check_inlines(tap, trace, events)
        check_loader(tap, trace, events)
        check_tiering(tap, trace, events)
        if name == 'pidns':
            check_two_namespaces(tap, programs, trace.snapshot)


if __name__ == '__main__':
    recorded.main(run)
