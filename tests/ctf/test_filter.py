# SPDX-License-Identifier: MIT
"""filter.clrsym.names: traces of written.py pass through it unchanged, and the frames of a recording with truth get the
names that `clrsym resolve` gives them, event by event, beside the filter of lttng-utils, before and after it."""

import json
import lzma
import os
import pathlib
import re
import struct
import subprocess
import time

from tests.ctf import test_written, written
from tests.traces import recorded

TESTS = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = TESTS.parent / 'src/client/python/examples/slow_syscalls.py'
FILTER = 'filter.clrsym.names'
N_SEEDS = 16 if recorded.IS_FULL else 8
RECORDING = 'perf'
SAMPLES = 1500
RETRY = 5  # s, until the filter asks a daemon again that did not answer
# perf's markers among addresses.
KERNEL, USER = 2 ** 64 - 128, 2 ** 64 - 512
CLOCK_OFFSET = 1_700_000_000

INTEGER = 'integer {{ size = {size}; align = 8; base = {base}; signed = {signed};{clock} }}'


def integer(size, base=10, signed='false', clock=''):
    return INTEGER.format(size=size, base=base, signed=signed, clock=clock and f' map = clock.{clock}.value;')


# An event's header, context and payload, as LTTng's kernel contexts and perf's conversion have them.
METADATA = '''/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le;
    packet.header := struct {{ {u32} magic; {u32} stream_id; }}; }};
env {{ hostname = "host"; domain = "ust"; tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 13;
    tracer_patchlevel = 0; }};
clock {{ name = "{clock}"; freq = 1000000000; offset_s = {offset}; }};
stream {{ id = 0;
    event.header := struct {{ {u16} id; {time} timestamp; }};
    packet.context := struct {{ {time} timestamp_begin; {time} timestamp_end; {u64} content_size; {u64} packet_size; }};
    event.context := struct {{ {context} }}; }};
event {{ id = 0; name = "sample"; stream_id = 0;
    fields := struct {{ {u32} _perf_callchain_size; {x64} _perf_callchain[_perf_callchain_size]; }}; }};
'''
PIDS = {'i': integer(32, signed='true'), 'Q': integer(64)}  # the pid's format of struct, and its declaration


def context(has_process, pid, signed):
    process = f'{PIDS[pid]} _vpid; {integer(64)} _pid_ns; {PIDS["i"]} _vtid; string {{ encoding = UTF8; }} _procname; ' if has_process else ''
    return process + f'{integer(64, 16, signed)} _ip; {integer(32)} __callstack_user_length; ' \
                     f'{integer(64, 16, signed)} _callstack_user[__callstack_user_length];'


SYSCALLS = 'syscall_entry_read', 'syscall_exit_read', 'syscall_entry_write', 'syscall_exit_write'


class Sample:
    """PC, USER: the program's addresses, KERNEL: the kernel's."""

    def __init__(self, pid, time, chain, pid_ns=0):
        self.pid, self.time, self.pid_ns = pid, time, pid_ns
        self.ip = chain[0]
        self.kernel = [ip for ip in chain if ip >> 63]
        self.user = [ip for ip in chain if not ip >> 63]

    def perf_chain(self):
        return [*([KERNEL, *self.kernel] if self.kernel else []), USER, *self.user]

    def context(self, has_process=True, pid='i', tid=0):
        return (struct.pack(f'<{pid}Qi', self.pid, self.pid_ns, tid) + b'app\0' if has_process else b'') + \
            struct.pack(f'<QI{len(self.user)}Q', self.ip, len(self.user), *self.user)

    def bytes(self, *process):
        chain = self.perf_chain()
        return struct.pack('<HQ', 0, self.time) + self.context(*process) + struct.pack(f'<I{len(chain)}Q', len(chain), *chain)


def write(directory, samples, clock='monotonic', has_process=True, pid='i', signed='false'):
    directory.mkdir(parents=True)
    (directory / 'metadata').write_text(METADATA.format(
        u16=integer(16), u32=integer(32), u64=integer(64), x64=integer(64, 16), time=integer(64, clock=clock), clock=clock,
        offset=CLOCK_OFFSET, context=context(has_process, pid, signed)))
    events = b''.join(sample.bytes(has_process, pid) for sample in samples)
    size = 8 * (40 + len(events))
    (directory / 'stream').write_bytes(struct.pack('<IIQQQQ', 0xC1FC1FC1, 0, samples[0].time, samples[-1].time, size, size) +
                                       events)
    return directory


def write_syscalls(directory, packets):
    """PACKETS: the number of lost events so far, and (name, time, thread, sample) of each event."""
    head = METADATA[:METADATA.index('event {{ id')].replace('{u64} packet_size;', '{u64} packet_size; {u64} events_discarded;')
    directory.mkdir(parents=True)
    (directory / 'metadata').write_text(head.format(
        u16=integer(16), u32=integer(32), u64=integer(64), time=integer(64, clock='monotonic'), clock='monotonic',
        offset=CLOCK_OFFSET, context=context(True, 'i', 'false')) + ''.join(
            f'event {{ id = {i}; name = "{name}"; stream_id = 0; fields := struct {{ }}; }};\n' for i, name in enumerate(SYSCALLS)))
    with open(directory / 'stream', 'wb') as out:
        for n_lost, rows in packets:
            events = b''.join(struct.pack('<HQ', SYSCALLS.index(f'syscall_{name}'), time) + sample.context(tid=thread)
                              for name, time, thread, sample in rows)
            size = 8 * (48 + len(events))
            out.write(struct.pack('<IIQQQQQ', 0xC1FC1FC1, 0, rows[0][1], rows[-1][1], size, size, n_lost) + events)
    return directory


def recorded_samples():
    rows = [line.split('\t') for line in
            lzma.open(recorded.DATA / RECORDING / 'samples.tsv.xz', 'rt').read().splitlines()]
    rows.sort(key=lambda row: int(row[2]))
    step = max(len(rows) // SAMPLES, 1)
    return [Sample(int(pid), int(time), [int(ip, 16) for ip in chain.split(',')]) for pid, _, time, chain in rows[::step]]


def graph(programs, trace, *arguments, **options):
    return programs.run(['babeltrace2', f'--plugin-path={programs.plugin_dir}', trace, *arguments], **options)


def params(**values):
    return ','.join(f'{name.replace("_", "-")}={json.dumps(value)}' for name, value in values.items())


def names(**values):
    return ['-c', FILTER, '-p', params(**values)]


NAME = re.compile(r'\{ bin = "((?:[^"\\]|\\.)*)", func = "((?:[^"\\]|\\.)*)", src = "((?:[^"\\]|\\.)*)" \}')
ELEMENT = re.compile(r',? \[\d+\] = ' + NAME.pattern)


def sequence(line, name):
    """The names of an added sequence: (bin, func, src) each."""
    at, out = line.index(f' {name} = [') + len(name) + 5, []
    while (element := ELEMENT.match(line, at)):
        out.append(element.groups())
        at = element.end()
    return out


def one(line, name):
    return NAME.match(line, line.index(f' {name} = ') + len(name) + 4).groups()


def check_passes(tap, programs, directory, snapshot):
    """Every class of field, clock and loss: what both sinks print is the same with the filter."""
    source, wrong, n = names(snapshot=str(snapshot), fields=[]), [], 0
    for seed in range(N_SEEDS):
        trace = written.Trace(seed).save(directory / f'{seed}' / 'trace')
        want = test_written.read(programs, trace, trace)
        if want is None:
            continue
        got = test_written.read(programs, trace, trace, *source)
        n += 1
        if got != want:
            wrong.append((seed, test_written.first_difference(got, want)))
        trace = written.Trace(seed).save(directory / f'{seed}' / 'twin', True)
        own = ['-c', 'source.clrsym.ctf', '--params', f'all=yes,inputs=["{trace}"]']
        want, got = test_written.read(programs, trace, *own), test_written.read(programs, trace, *own, *source)
        if want is not None and got != want:
            wrong.append((seed, 'CTF 2', test_written.first_difference(got, want)))
    tap.check(not wrong and n >= N_SEEDS * 3 // 4, f'{n} written traces pass unchanged', *wrong[:3])


def check_losses(tap, programs, trace, snapshot):
    for arguments in (['-c', 'sink.text.details'], ['-c', 'sink.text.pretty']):
        want = graph(programs, trace, *arguments)
        got = graph(programs, trace, *names(snapshot=str(snapshot)), *arguments)
        tap.check(got.stdout == want.stdout and got.stderr == want.stderr and 'iscarded' in want.stdout + want.stderr,
                  f'a trace with losses passes unchanged: {arguments[1]}', got.stdout[:200], got.stderr[-400:])


def resolved(programs, source, samples):
    """(sample number, lookup address) -> answer of `clrsym resolve`"""
    keys = [(i, address) for i, sample in enumerate(samples)
            for address in {sample.ip, *(ip - (at > 0) for at, ip in enumerate(sample.user))} if not address >> 63]
    lines = programs.answers(source, ''.join(f'0:{samples[i].pid} {address:#x} {samples[i].time}\n' for i, address in keys))
    return dict(zip(keys, map(json.loads, lines)))


def func_of(answer, ip):
    """What the filter has to write for the address IP."""
    if answer['status'] == 'ok':
        body = answer.get('body', answer)
        mark = ' ~' if answer['confidence'] in ('gap', 'provisional') else ''
        return f'{body["symbol"]}+{ip - int(body["start"], 16):#x}{mark}'
    return {'unloaded': '[unloaded]', 'not-yet': '[not loaded yet]', 'ambiguous': '[ambiguous]', 'pending': '[pending]',
            'evicted': '[evicted]'}.get(answer['status'], '')


def is_false_caller(answers, i, callee, address, ip):
    """After a method that was replaced on the stack."""
    above, below = answers[i, callee], answers[i, address]
    if above['status'] != 'ok' or above['version']['tier'] != 'OptimizedTier1OSR':
        return False
    return ip == int(above['start'], 16) or (below['status'] == 'ok' and below['method']['id'] == above['method']['id'])


def wanted(answers, i, sample):
    """The texts of the sample's user addresses, the leaf first."""
    out, previous = [], None
    for at, ip in enumerate(sample.user):
        address = ip - (at > 0) if ip else ip
        # The kernel follows frame pointers: it can find any number where a function has none.
        if address >> 63:
            out.append('')
            previous = None
        elif ip and previous is not None and is_false_caller(answers, i, previous, address, ip):
            out.append('[caller unknown: OSR]')
            previous = None
        else:
            out.append(func_of(answers[i, address], ip) if ip else '')
            previous = address if ip else None
    return out


def check_names(tap, programs, what, trace, source, answers, samples, *others):
    result = graph(programs, trace, *others, *source)
    lines = result.stdout.splitlines()
    if not tap.check(result.returncode == 0 and len(lines) == len(samples), f'{what}: an event each', len(lines),
                     result.stderr[-500:]):
        return None
    wrong, n = [], 0
    for i, (line, sample) in enumerate(zip(lines, samples)):
        chain = wanted(answers, i, sample)
        leaf = func_of(answers[i, sample.ip], sample.ip) if (i, sample.ip) in answers else ''
        empty = [''] * (len(sample.perf_chain()) - len(chain))
        for name, want, got in (
                ('ip', [leaf], [one(line, 'clr_debug_info')[1]]),
                ('callstack_user', chain, [func for _, func, _ in sequence(line, 'callstack_user_clr_debug_info')]),
                ('perf_callchain', empty + chain, [func for _, func, _ in sequence(line, 'perf_callchain_clr_debug_info')])):
            n += sum(map(bool, want))
            if got != want:
                wrong.append((i, name, next(((a, b) for a, b in zip(got, want) if a != b), (len(got), len(want)))))
    tap.check(not wrong and n > SAMPLES, f'{what}: {n} names are those of resolve', len(wrong), *wrong[:5])
    return lines


def check_both_filters(tap, programs, trace, source, lines):
    """The fields of both, whichever is first."""
    for what, filters in (('before', [*source, '-c', 'filter.lttng-utils.debug-info']),
                          ('after', ['-c', 'filter.lttng-utils.debug-info', *source])):
        result = graph(programs, trace, *filters)
        got = [re.sub(r', debug_info = \{[^}]*\}', '', line) for line in result.stdout.splitlines()]
        tap.check(got == lines and result.stdout.count(' debug_info = {') == len(lines),
                  f"{what} lttng-utils' filter: both fields", test_written.first_difference(got, lines) if got != lines else '',
                  result.stderr[-300:])


def check_parameters(tap, programs, trace, source, lines):
    result = graph(programs, trace, *source[:-1], f'{source[-1]},{params(field_name="net", style="short", full_path=True)}')
    got = [one(line, 'net') for line in result.stdout.splitlines()]
    plain = [one(line, 'clr_debug_info') for line in lines]
    tap.check(any('/' in name[0] for name in got) and
              all(name[0].rsplit('/', 1)[-1] == old[0] for name, old in zip(got, plain)), 'full-path')
    tap.check(any(func for _, func, _ in got) and not any('(' in func for _, func, _ in got), 'style, field-name')
    only = graph(programs, trace, *source[:-1], f'{source[-1]},fields=["ip"]').stdout
    tap.check(' clr_debug_info' in only and 'callstack_user_clr' not in only, 'fields')
    for values, text in (('style="long"', 'there is no style'), ('wait=-1', 'must be 0 to'), ('clock="tai"', 'monotonic'),
                         ('trace="/tmp"', 'give one of them'), ('colour="red"', 'Unknown parameter'),
                         ('field-name=""', 'is empty')):
        result = graph(programs, trace, *source[:-1], f'{source[-1]},{values}')
        tap.check(result.returncode and text in ' '.join(result.stderr.split()), f'a wrong parameter: {values}',
                  result.stderr[-500:])


def check_refused(tap, programs, directory, samples, snapshot):
    few = samples[len(samples) // 2:][:20]
    for what, options, text in (('no process', {'has_process': False}, 'no process'),
                                ('another clock', {'clock': 'perf_clock'}, 'clock="monotonic"')):
        trace = write(directory / what.replace(' ', '-'), few, **options)
        result = graph(programs, trace, *names(snapshot=str(snapshot)))
        found = [func for line in result.stdout.splitlines() for _, func, _ in NAME.findall(line)]
        tap.check(result.returncode == 0 and found and not any(found) and text in result.stderr, f'{what}: no name, and the reason',
                  result.stderr)
    named = graph(programs, directory / 'another-clock', *names(snapshot=str(snapshot), clock='monotonic'))
    tap.check(any(func for _, func, _ in NAME.findall(named.stdout)), 'another clock, which is monotonic: names')
    result = graph(programs, trace, *names(socket=str(directory / 'nobody')))
    tap.check(result.returncode and str(directory / 'nobody') in result.stderr.replace('\n  ', ''), 'no daemon', result.stderr[-500:])
    long = Sample(few[0].pid, few[0].time, [0x1000 + i for i in range(200_000)])
    result = graph(programs, write(directory / 'long', [long]), *names(snapshot=str(snapshot)), '-c', 'sink.utils.dummy')
    tap.check(result.returncode == 0 and 'too many addresses' in result.stderr, 'a long sequence', result.stderr[-500:])


def check_types(tap, programs, directory, samples, snapshot):
    """Pids and addresses of other types, and what cannot be one."""
    few, source = samples[len(samples) // 2:][:20], names(snapshot=str(snapshot))

    def read(what, samples, *options, **types):
        result = graph(programs, write(directory / what, samples, **types), *source[:-1], ','.join((source[-1], *options)))
        return [func for line in result.stdout.splitlines() for _, func, _ in NAME.findall(line)], result.stderr

    want, _ = read('plain', few)
    tap.check(any(want) and read('wide', few, pid='Q') == (want, ''), 'a pid of 64 bits')
    tap.check(read('signed', few, signed='true') == (want, ''), 'signed addresses')
    for sample in few:
        sample.pid |= 1 << 32
    got, errors = read('no-pid', few, pid='Q')
    tap.check(len(got) == len(want) and not any(got) and errors.count('a process id is not in the range') == 1,
              'no name for a number that is no pid, and the reason', got[:5], errors)
    for sample in few:
        sample.pid &= 0xffffffff
    got, errors = read('no-address', few, params(fields=['procname', 'ip']))
    tap.check(any(got) and errors.count('procname: a field of this name is neither an integer nor') == 1,
              'a field that has no addresses, and the reason', errors)


def check_example(tap, programs, directory, snapshot, samples, answers):
    """The example that pairs the entries and the exits of system calls: each call that no lost event concerns."""
    at = [i for i, sample in enumerate(samples) if any(wanted(answers, i, sample))]
    at = at[::len(at) // 6][:6]
    rows, t = [samples[i] for i in at], [samples[i].time for i in at]
    trace = write_syscalls(directory / 'syscalls', (
        (0, [('exit_read', t[0], 7, rows[0]), ('entry_read', t[0] + 1, 7, rows[0]), ('entry_write', t[0] + 2, 8, rows[0]),
             ('exit_read', t[0] + 5001, 7, rows[0]), ('exit_write', t[0] + 9002, 8, rows[0]),
             ('entry_read', t[1], 7, rows[1])]),
        (3, [('exit_read', t[2], 7, rows[2]), ('entry_write', t[2] + 1, 7, rows[2]), ('exit_write', t[2] + 2, 7, rows[2])]),
        (3, [('exit_read', t[3], 7, rows[3]), ('entry_read', t[3] + 1, 7, rows[3]), ('exit_write', t[3] + 2, 7, rows[3]),
             ('entry_write', t[4], 8, rows[4]), ('exit_write', t[4] + 7000, 8, rows[4])])))
    done = programs.run(['/usr/bin/python3', '-B', EXAMPLE, trace, f'snapshot={snapshot}', 'lines=no'],
                        env={**programs.environment, 'BABELTRACE_PLUGIN_PATH': str(programs.plugin_dir)})
    want = []
    for i, after, thread, name, took in ((0, 2, 8, 'write', '0.009'), (4, 0, 8, 'write', '0.007'), (0, 1, 7, 'read', '0.005')):
        want.append(f'{took} ms  {name}  at {(CLOCK_OFFSET * 10**9 + t[i] + after) / 1e9:.9f}, thread {thread} of process '
                    f'{rows[i].pid} (app)')
        want += [f'        {func}' for func in wanted(answers, at[i], rows[i]) if func]
    tap.check(done.stdout.splitlines() == want, 'system calls with their methods, without those that losses concern',
              done.stdout, want, done.stderr[-800:])
    done = programs.run(['/usr/bin/python3', '-B', EXAMPLE, directory / 'nothing'],
                        env={**programs.environment, 'BABELTRACE_PLUGIN_PATH': str(programs.plugin_dir)})
    tap.check(done.returncode == 1 and done.stderr.startswith('slow_syscalls: ') and 'Traceback' not in done.stderr,
              'the example, without a trace', done.stderr)


def check_restart(tap, programs, daemon, path, trace, lines):
    """The daemon ends and starts again while a graph runs. babeltrace2 cannot go on while nobody reads its output."""
    command = ['babeltrace2', f'--plugin-path={programs.plugin_dir}', trace, *names(socket=str(daemon.query), wait=0)]
    errors = daemon.directory / 'errors'
    with daemon, open(errors, 'w', encoding='utf-8') as stderr:
        programs.feed(path, daemon.ingest)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=programs.environment)
        got = [process.stdout.readline() for _ in range(len(lines) // 15)]
    got += [process.stdout.readline() for _ in range(len(lines) // 2)]
    # The filter must not ask the new daemon before it has all events: the new one gets the socket's name then.
    with recorded.Daemon(programs, daemon.directory) as new:
        programs.feed(path, new.ingest)
        os.rename(new.query, daemon.query)
        time.sleep(RETRY + 1)
        # Not communicate(), which loses the text that readline() has read ahead.
        got += process.stdout
        process.wait(recorded.TIMEOUT)
    got = [line.rstrip('\n') for line in got]
    wrong = [(i, name, want) for i, (line, before) in enumerate(zip(got, lines))
             for name, want in zip(NAME.findall(line), NAME.findall(before)) if name not in (want, ('', '[no answer]', ''))]
    tap.check(process.returncode == 0 and len(got) == len(lines) and not wrong,
              'a daemon that starts again: each name is right, or [no answer]', process.returncode,
              f'{len(got)} of {len(lines)} events', wrong[:5], errors.read_text(encoding='utf-8')[-500:])
    is_missing = ['[no answer]' in line for line in got]
    first, last = is_missing.index(True), len(got) - 1 - is_missing[::-1].index(True)
    tap.check(all(any(func for line in part for _, func, _ in NAME.findall(line)) for part in (got[:first], got[last + 1:])),
              f'no answer from event {first} to {last} of {len(got)}, and names before and after')


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    paths = recorded.unpack(directory / 'recorded', [RECORDING, 'lossy'])
    snapshot = directory / 'recording.snapshot'
    made = programs.run([programs.clrsym, 'snapshot', '--trace', paths[RECORDING], '-o', snapshot])
    tap.check(made.returncode == 0, 'a snapshot of the recording', made.stderr)
    check_passes(tap, programs, directory / 'written', snapshot)
    check_losses(tap, programs, paths['lossy'], snapshot)
    samples = recorded_samples()
    trace = write(directory / 'samples', samples)
    answers = resolved(programs, ['--trace', str(snapshot)], samples)
    source = names(snapshot=str(snapshot))
    lines = check_names(tap, programs, 'snapshot', trace, source, answers, samples)
    if lines:
        check_both_filters(tap, programs, trace, source, lines)
        check_parameters(tap, programs, trace, source, lines)
    check_names(tap, programs, 'trace', trace, names(trace=str(paths[RECORDING])), answers, samples)
    with recorded.Daemon(programs, directory) as daemon:
        programs.feed(paths[RECORDING], daemon.ingest)
        fed = resolved(programs, daemon.source, samples)
        lines = check_names(tap, programs, 'daemon', trace, names(socket=str(daemon.query), wait=0), fed, samples)
    if lines:
        check_restart(tap, programs, daemon, paths[RECORDING], trace, lines)
    check_refused(tap, programs, directory, samples, snapshot)
    check_types(tap, programs, directory / 'types', samples, snapshot)
    check_example(tap, programs, directory, snapshot, samples, answers)


if __name__ == '__main__':
    recorded.main(run)
