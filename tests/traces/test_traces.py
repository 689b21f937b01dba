# SPDX-License-Identifier: MIT
"""Every recorded trace, read by `sink.clrsym.dump` and `clrsym --trace`, against the truth."""

import collections
import json
import os
import re
import shutil

from tests.traces import recorded
from tests.traces.layout import LAYOUT

PERF_MAP_LINE = re.compile(r'(?:0x)?([0-9a-fA-F]+) ([0-9a-fA-F]+) (?!stub )(\S.*)')
PROFILER_LINE = re.compile(r'\S+ tid=\d+ (?:JIT|ReJIT)Finished fn=(\w+) tok=(\w+) '
                           r'(?:rejitid=(\d+) )?hr=0 codeinfo hr=0 n=1 \[(\w+)\+(\w+)\]')
SKIPPED_LINE = re.compile(r'^clrsym: (\S+): (\d+) events? skipped', re.MULTILINE)
# These lack events from before or within the recording, but the runtime's perf map is complete.
NOT_WHOLE = ('lateattach', 'lossy')
BODY_COLUMNS = ('pid_ns', 'pid', 'method_id', 'rejit_id', 'module_id', 'start', 'size', 'token',
                'flags', 'loaded_ns', 'unloaded_ns', 'source', 'namespace', 'name', 'signature')


def nanoseconds(text):
    """A time in the programs' spelling; '' for null, as in the truth files."""
    if text is None:
        return ''
    seconds, fraction = text.split('.')
    assert len(fraction) == 9, text
    return str(int(seconds) * 10**9 + int(fraction))


def number(value):
    """The number of a JSON value, which may be hexadecimal text."""
    return int(value, 0) if isinstance(value, str) else value


def body_row(body):
    """A body of `clrsym methods --json` in the columns of bodies.tsv."""
    method = body['method']
    return (str(body['pid_ns']), str(body['pid']), method['id'], str(body['version']['rejit_id']),
            body['module']['id'] if body['module'] else '0x0', body['start'], str(body['size']),
            hex(number(method['token'])), hex(number(body['flags'])), nanoseconds(body['loaded']),
            nanoseconds(body['unloaded']), body['source'], method['namespace'] or '',
            method['name'] or '', method['signature'] or '')


def check_dump(tap, programs, name, trace, directory):
    """Counts the dump's lines by event, and compares them with counts.tsv. Returns the dump."""
    output = os.path.join(directory, f'{name}.jsonl')
    done = programs.dump(trace, output)
    tap.equal(done.returncode, 0, f'{name}: dump succeeds')
    with open(output, encoding='utf-8') as lines:
        records = [json.loads(line) for line in lines]
    losses = [r for r in records if r['event'].startswith('(')]
    events = [r for r in records if not r['event'].startswith('(')]
    got = collections.Counter(f'{r["provider"]}:{r["event"]}' for r in events)
    counts, special = recorded.Truth(name).counts()
    tap.equal(dict(got), {event: n for event, n in counts.items() if event in LAYOUT},
              f'{name}: {len(events)} dumped events by name')
    skipped = [(event, int(n)) for event, n in SKIPPED_LINE.findall(done.stderr)]
    tap.same_rows(skipped, [(event, n) for event, n in counts.items() if event not in LAYOUT],
                  f'{name}: events without a row are counted and named once')
    times = [nanoseconds(r['time']) for r in events]
    tap.check(all(map(str.isdecimal, times)) and times == sorted(times, key=int),
              f'{name}: the dump is in order of time')
    check_losses(tap, name, losses, special.get('(discarded)', 0), times)
    return events


def check_losses(tap, name, losses, n_discarded, times):
    tap.equal(sum(loss['count'] for loss in losses if loss['event'] == '(discarded events)'),
              n_discarded, f'{name}: discarded events')
    first, last = int(times[0]), int(times[-1])
    odd = [loss for loss in losses
           if not 0 < int(nanoseconds(loss['begin'])) <= int(nanoseconds(loss['end'])) <= last
           or int(nanoseconds(loss['end'])) < first or loss['count'] < 1]
    tap.check(not odd, f'{name}: {len(losses)} intervals of loss lie in the trace', odd)


def check_total(tap, programs, name, trace):
    """The truth itself: babeltrace2's count of all events, with and without a row."""
    done = programs.babeltrace(trace, '-c', 'sink.utils.counter', '-p', 'step=+0')
    total = re.search(r'^\s*(\d+) Event messages', done.stdout, re.MULTILINE)
    tap.equal(total and int(total[1]), sum(recorded.Truth(name).counts()[0].values()),
              f'{name}: events of any kind')


def check_bodies(tap, programs, name, trace):
    bodies = programs.bodies(['--trace', trace])
    known = [body for body in bodies if body['source'] in ('load', 'rundown')]
    tap.same_rows([body_row(body) for body in known],
                  [tuple(row[column] for column in BODY_COLUMNS)
                   for row in recorded.Truth(name).rows('bodies.tsv')], f'{name}: bodies')
    n_unload = sum(body['source'] == 'unload' for body in bodies)
    n_known = recorded.Truth(name).counts()[1].get('(unload without load)', 0)
    tap.check(n_unload <= n_known, f'{name}: {n_unload} bodies known from {n_known} unloads only')
    return bodies


def justified(answer, events):
    """True if raw events confirm a body that bodies.tsv lacks."""
    time, address = int(nanoseconds(answer['time'])), int(answer['addr'], 16)
    for event in events:
        fields = event['fields']
        if event['pid'] != answer['pid'] or event['pid_ns'] != answer['pid_ns'] or \
                fields.get('MethodID') != answer['method']['id']:
            continue
        if answer['source'] == 'r2r-entry' and event['event'] == 'R2RGetEntryPoint' and \
                int(fields['EntryPoint'], 16) == address and answer['size'] is None:
            return True
        if answer['source'] == 'unload' and event['event'].startswith('MethodUnload') and \
                fields['MethodStartAddress'] == answer['start'] and \
                fields['MethodSize'] == answer['size'] and \
                int(nanoseconds(event['time'])) > time and \
                address - int(answer['start'], 16) < answer['size']:
            return True
    return False


def wrong_answers(rows, answers, events):
    """(wrongly answered probes, number of answers by bodies that bodies.tsv lacks)."""
    wrong, left_out = [], 0
    for row, line in zip(rows, answers):
        answer = json.loads(line)
        if row['method_id'] == '-':
            if answer['status'] == 'ok' and answer['source'] in ('unload', 'r2r-entry') and \
                    justified(answer, events):
                left_out += 1
                continue
            ok = answer['status'] in ('no-method', 'unloaded', 'not-yet', 'pending')
        else:
            method = answer.get('method', {})
            ok = answer['status'] == 'ok' and \
                (method['id'], str(answer['version']['rejit_id']), answer['start'],
                 str(answer['size']), method['namespace'], method['name'],
                 method['signature']) == \
                (row['method_id'], row['rejit_id'], row['start'], row['size'], row['namespace'],
                 row['name'], row['signature']) and \
                answer['offset'] == int(row['addr'], 16) - int(row['start'], 16)
        if not ok or (str(answer['pid_ns']), str(answer['pid']), answer['addr']) != \
                (row['pid_ns'], row['pid'], row['addr']) or \
                nanoseconds(answer['time']) != row['time_ns']:
            wrong.append(f'{recorded.probe_line(row)}: {line}')
    return wrong, left_out


def check_probes(tap, programs, name, trace, events):
    rows = recorded.Truth(name).rows('probes.tsv')
    answers = programs.ask(['--trace', trace], 'resolve',
                           text=''.join(recorded.probe_line(row) + '\n' for row in rows))
    tap.equal(len(answers), len(rows), f'{name}: one answer a probe')
    interesting = [event for event in events if event['event'] == 'R2RGetEntryPoint' or
                   event['event'].startswith('MethodUnload')]
    wrong, left_out = wrong_answers(rows, answers, interesting)
    n_hits = sum(row['method_id'] != '-' for row in rows)
    tap.check(not wrong and n_hits > 100, f'{name}: {len(rows)} probes, {n_hits} in a body, '
              f'{left_out} in a body known from its unload or entry point only',
              f'{len(wrong)} wrong', *wrong[:5])


def check_perf_map(tap, name, bodies):
    """The runtime's own list of jitted methods, if it wrote one."""
    text = recorded.Truth(name).text('perf.map')
    if text is None or name in NOT_WHOLE:
        return
    loads = {(int(body['start'], 16), body['size']) for body in bodies if body['source'] == 'load'}
    lines = [match for match in map(PERF_MAP_LINE.fullmatch, text.split('\n')) if match]
    missing = [line[0] for line in lines if (int(line[1], 16), int(line[2], 16)) not in loads]
    tap.check(len(lines) > 20 and not missing,
              f'{name}: {len(lines)} lines of the perf map are loads', len(missing), *missing[:5])


def check_profiler(tap, name, bodies):
    """The compilations that a profiler in the process saw: its ReJITID is our IL version."""
    text = recorded.Truth(name).text('profiler.log')
    if text is None:
        return
    known = {(body['method']['id'], number(body['method']['token']), body['start'], body['size']):
             body['version']['il_version'] for body in bodies if body['source'] == 'load'}
    lines = [match for match in map(PROFILER_LINE.fullmatch, text.splitlines()) if match]
    wrong = []
    for line in lines:
        key = ('0x' + line[1], int(line[2], 16), '0x' + line[4], int(line[5], 16))
        if key not in known or (known[key] or 0) != int(line[3] or 0):
            wrong.append(f'{line[0]}: IL version {known.get(key, "of no body")}')
    n_rejit = sum(line[3] is not None for line in lines)
    tap.check(len(lines) > 40 and n_rejit >= 20 and not wrong,
              f'{name}: {len(lines)} compilations of the profiler, {n_rejit} of them ReJIT',
              len(wrong), *wrong[:5])


def check_refused(tap, programs, trace, directory):
    """Per-user buffers without the vpid context: events do not name their process."""
    dump = programs.dump(trace, os.path.join(directory, 'refused.jsonl'))
    tap.check(dump.returncode == 1 and recorded.says_add_context(dump.stderr),
              'noctx: dump refuses it', dump.returncode, dump.stderr)
    for verb in ('resolve', 'methods', 'ps'):
        done = programs.run([programs.clrsym, verb, '--trace', trace, '--json'], text='1 10\n')
        tap.check(done.returncode == 1 and recorded.says_add_context(done.stderr) and
                  not done.stdout and done.stderr.count('\n') == 1,
                  f'noctx: clrsym {verb} refuses it in one line',
                  done.returncode, done.stdout, done.stderr)


def check_levels(tap, programs, trace, directory):
    """--trace accepts a directory at any level, and several traces."""
    want = programs.ask(['--trace', trace], 'methods', '--all')
    levels = [trace.parent, trace / 'ust', trace / 'ust' / 'uid', trace / 'ust' / 'uid' / '0',
              trace / 'ust' / 'uid' / '0' / '64-bit']
    for level in levels:
        tap.check(programs.ask(['--trace', level], 'methods', '--all') == want,
                  f'--trace at {level.relative_to(directory)}')
    tap.check(programs.run([programs.clrsym, 'methods', '--all', '--json', '--trace', '.'],
                           cwd=levels[-1]).stdout.splitlines() == want, '--trace .')
    other = trace.parents[1] / 'generics'
    both = os.path.join(directory, 'both')
    shutil.copytree(trace, os.path.join(both, 'a'))
    shutil.copytree(other, os.path.join(both, 'b c', "d'e"))
    tap.same_rows(programs.ask(['--trace', both], 'methods', '--all'),
                  want + programs.ask(['--trace', other], 'methods', '--all'),
                  '--trace of a directory with two traces')


def check_two_namespaces(tap, programs, trace):
    """Two programs with pid 1, each in its own pid namespace."""
    rows = recorded.Truth('pidns').rows('probes.tsv')
    row = next(row for row in rows if row['method_id'] != '-')
    line, = programs.ask(['--trace', trace], 'resolve',
                         text=f'1 {row["addr"]} {row["time_ns"]}\n')
    answer = json.loads(line)
    tap.check(answer['status'] == 'ambiguous' and
              {candidate['pid_ns'] for candidate in answer['candidates']} ==
              {int(row['pid_ns']) for row in rows},
              'pidns: a bare pid that is in two namespaces is ambiguous', line)


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, names)
    for name in names:
        trace = traces[name]
        check_total(tap, programs, name, trace)
        if name == recorded.REFUSED:
            check_refused(tap, programs, trace, directory)
            continue
        events = check_dump(tap, programs, name, trace, directory)
        bodies = check_bodies(tap, programs, name, trace)
        check_probes(tap, programs, name, trace, events)
        check_perf_map(tap, name, bodies)
        check_profiler(tap, name, bodies)
    if 'pidns' in names:
        check_two_namespaces(tap, programs, traces['pidns'])
    if {'hello', 'generics'} <= set(names):
        check_levels(tap, programs, traces['hello'], directory)


if __name__ == '__main__':
    recorded.main(run)
