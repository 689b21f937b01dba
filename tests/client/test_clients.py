# SPDX-License-Identifier: MIT
"""Clients that were written only from the manual of the protocol: for all probes of all recorded
traces in one daemon, their answers are the truth, and equal to each other's."""

import json
import pathlib
import re
import shutil
import subprocess

from tests.client import json_client
from tests.daemon import ingest
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = ('json_client.py', 'bulk_client.py')
MANUAL = HERE.parents[1] / 'man' / 'clrsym-protocol.7'
# Share of bodies that the truth lacks: see test_traces.py.
LEFT_OUT = 0.02


def ask(programs, client, daemon, lines):
    done = programs.run(['/usr/bin/python3', '-B', HERE / client, daemon.query],
                        text=''.join(line + '\n' for line in lines))
    if done.returncode or done.stderr:
        raise RuntimeError(f'{client}: exit {done.returncode}: {done.stderr}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_true(probe, row):
    """None: the truth lacks the body."""
    row = dict(zip(json_client.ROW, row))
    if probe['method_id'] == '-':
        return row['status'] in ('no-method', 'unloaded', 'not-yet', 'pending') or \
            (None if row['status'] == 'ok' and row['loaded'] is None else False)
    return row['status'] == 'ok' and \
        (row['method'], str(row['rejit_id']), row['start'], str(row['size']), row['namespace'],
         row['name'], row['signature']) == \
        tuple(probe[key] for key in ('method_id', 'rejit_id', 'start', 'size', 'namespace',
                                     'name', 'signature'))


def check_truth(tap, probes, rows, client):
    judged = [is_true(probe, row) for probe, row in zip(probes, rows)]
    wrong = [f'{recorded.probe_line(probe)}: {row}'
             for probe, row, is_right in zip(probes, rows, judged) if is_right is False]
    tap.check(len(rows) == len(probes) and not wrong,
              f'{client}: {len(rows)} probes, {judged.count(True)} as the truth has them',
              len(wrong), *wrong[:5])
    tap.check(judged.count(None) < LEFT_OUT * len(rows), f'{client}: {judged.count(None)} others')


def check_agreement(tap, lines, rows, what):
    one, other = rows
    differences = [f'{line}: {a} / {b}' for line, a, b in zip(lines, one, other) if a != b]
    tap.check(len(one) == len(other) == len(lines) and not differences,
              f'both clients say the same of {len(lines)} {what}', len(differences),
              *differences[:5])


def check_socat(tap, programs, daemon, probe):
    """The command line in the manual, with a path of this machine."""
    if not shutil.which('socat'):
        tap.skip('socat', 'is not here')
        return
    text = MANUAL.read_text(encoding='utf-8')
    example = re.search(r"^printf .*?tr '\S+' '\S+'$", text, re.DOTALL | re.MULTILINE)[0]
    example = example.replace('\\\\', '\\').replace('\\-', '-')
    for old, new in (('/run/clrsym/query', str(daemon.query)),
                     ('6947', f'{probe["pid"]},"pid_ns":{probe["pid_ns"]}'),
                     ('0x7ff36eaa1c70', f'{probe["addr"]}","time":"{probe["time_ns"]}')):
        tap.check(example.count(old) == 1, f'the manual\'s line has {old}', example)
        example = example.replace(old, new)
    done = programs.run(['sh', '-c', example])
    tap.check(done.returncode == 0 and done.stdout.count('\n') == 1 and
              json.loads(done.stdout)['parameters']['answers'][0]['method']['id'] ==
              probe['method_id'], 'the manual\'s line for the shell', done.stdout, done.stderr)


def check_python(tap, programs, daemon, probe):
    """The Python example in the manual."""
    text = MANUAL.read_text(encoding='utf-8')
    example = re.search(r'^import json, socket\n.*?(?=^\.fi)', text, re.DOTALL | re.MULTILINE)[0]
    example = example.replace('\\\\', '\\').replace('\\-', '-')
    for old, new in (('/run/clrsym/query', str(daemon.query)),
                     ("{'pid': 6947,", f"{{'pid': {probe['pid']}, 'pid_ns': {probe['pid_ns']}, "
                                       f"'time': {probe['time_ns']},"),
                     ('0x7ff36eaa1c70', probe['addr'])):
        tap.check(example.count(old) == 1, f'the manual\'s Python has {old}', example)
        example = example.replace(old, new)
    done = programs.run(['/usr/bin/python3', '-c', example])
    tap.check(done.returncode == 0 and probe['name'] in done.stdout,
              'the manual\'s example in Python', done.stdout, done.stderr)


def check_errors(tap, programs, daemon):
    for client in CLIENTS:
        done = programs.run(['/usr/bin/python3', '-B', HERE / client, daemon.query],
                            text='0:1 0\n' * 5000)
        tap.check(done.returncode == 0 and done.stdout.count('\n') == 5000,
                  f'{client}: more lines than one call takes', done.stderr)
    row, = ask(programs, 'bulk_client.py', daemon, ['0:0 0'])
    tap.equal(row[0], 'no-process', 'no process has pid 0')
    row, = ask(programs, 'json_client.py', daemon, ['0:0 0'])
    tap.equal(row[0], 'invalid', 'and in JSON it is invalid')


def check_stubs(tap, programs, daemon):
    """The targets of several IL stubs in one batch, and of the next stub at the same address."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(uuid=b'stubs-stubs-stub'),
                *(frame for i in range(1, 50) for frame in (
                    ingest.stub_generated(10 * i, i, f'Call{i}', '' if i == 7 else 'N.T', pid=1),
                    ingest.stub(10 * i + 1, 0x1000 * i, i, pid=1))),
                ingest.stub(1000, 0x1000, 1, event=144, pid=1), ingest.stub(1001, 0x1000, 1, pid=1),
                ingest.progress(2000), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()
    lines = [f'0:1 {0x1000 * i:#x} {time}' for time in (900, 1500) for i in (*range(1, 51), 3, 3)]
    rows = [ask(programs, client, daemon, lines) for client in CLIENTS]
    check_agreement(tap, lines, rows, 'IL stubs')
    got = [row[-1] for row in rows[0]]
    wanted = [['N.T' if i != 7 else None, f'Call{i}', 'int32(string)']
              for i in (*range(1, 50), 50, 3, 3)]
    wanted[49] = None  # no code at this address
    tap.equal(got, wanted + [None] + wanted[1:], 'and what they are made for')


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, [name for name in names if name != recorded.REFUSED])
    with recorded.Daemon(programs, directory) as daemon:
        feeders = [subprocess.Popen(programs.feed_command(trace, daemon.ingest),
                                    env=programs.environment, stderr=subprocess.PIPE)
                   for trace in traces.values()]
        errors = [feeder.communicate(timeout=recorded.TIMEOUT)[1] for feeder in feeders]
        tap.check(not any(feeder.returncode for feeder in feeders), f'{len(traces)} traces are fed',
                  *errors)
        probes = [row for name in traces for row in recorded.Truth(name).rows('probes.tsv')]
        lines = [recorded.probe_line(row) for row in probes]
        rows = [ask(programs, client, daemon, lines) for client in CLIENTS]
        for client, got in zip(CLIENTS, rows):
            check_truth(tap, probes, got, client)
        check_agreement(tap, lines, rows, 'probes')
        # Without times: many of the addresses had several methods.
        lines = [line.rpartition(' ')[0] for line in lines]
        rows = [ask(programs, client, daemon, lines) for client in CLIENTS]
        check_agreement(tap, lines, rows, 'addresses without a time')
        statuses = {row[0] for row in rows[0]}
        tap.check({'ok', 'no-method', 'ambiguous'} <= statuses, 'with all kinds of answers',
                  statuses)
        hit = next(probe for probe in probes if probe['method_id'] != '-')
        check_socat(tap, programs, daemon, hit)
        check_python(tap, programs, daemon, hit)
        check_errors(tap, programs, daemon)
        check_stubs(tap, programs, daemon)


if __name__ == '__main__':
    recorded.main(run)
