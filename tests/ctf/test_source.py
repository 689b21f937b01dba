# SPDX-License-Identifier: MIT
"""source.clrsym.ctf against babeltrace2's own source: equal dumps and losses, and with all=yes equal
events of every kind. Named fields are compared, field by field, with what python3-bt2 and the layout
table of tests/traces/layout.py make of the blobs. Damaged traces end in an error, never in a crash."""

import json
import lzma
import os
import pathlib
import random
import re
import shutil
import sys
import tarfile

# Read by babeltrace2 when bt2 is loaded; argument 3 is the directory of the plugin.
os.environ['BABELTRACE_PLUGIN_PATH'] = sys.argv[3]

# A plugin with sanitizers can only be loaded by a process that began with them.
IN_PROCESS = 'CLRSYM_TEST_PRELOAD' not in os.environ

import bt2

from tests.oracle import test_bt2
from tests.traces import recorded
from tests.traces.layout import LAYOUT, hexadecimal

DATA = pathlib.Path(__file__).resolve().parent / 'data'
SEED = 14
# babeltrace2's sink refuses it, because nothing says which process its events are of.
WITHOUT_PROCESS = 'no-context'
# Read event by event in Python: every encoding, contexts and lists.
IN_PYTHON = ('generics', 'net8.0')
# Compared as text.
AS_TEXT = ('hello', 'lossy', 'pidns', 'perpid')
DAMAGED = 'generics'
EVENT = re.compile(r'(?:\) |\] )(\S+ )?(\w+:\w+): ')


def inputs(*traces, **params):
    """A component of source.clrsym.ctf for these directories."""
    text = 'inputs=[' + ', '.join(f'"{trace}"' for trace in traces) + ']'
    return ['-c', 'source.clrsym.ctf', '--params',
            ', '.join([text, *(f'{name}={value}' for name, value in params.items())])]


def graph(programs, *arguments, **options):
    return programs.run(['babeltrace2', f'--plugin-path={programs.plugin_dir}', *arguments],
                        **options)


def first_difference(got, want):
    return next((f'line {i + 1}: {pair[0][:300]!r}, and not {pair[1][:300]!r}'
                 for i, pair in enumerate(zip(got.splitlines(), want.splitlines()))
                 if pair[0] != pair[1]), 'one is shorter')


def check_dump(tap, programs, name, trace, stored):
    ours = graph(programs, *inputs(trace, all='yes'), '-c', 'sink.clrsym.dump')
    wanted = graph(programs, *inputs(trace), '-c', 'sink.clrsym.dump')
    texts = [ours.stdout, wanted.stdout]
    if stored.exists():
        want, errors = lzma.open(stored, 'rt', encoding='utf-8').read(), ours.stderr
        texts = [recorded.without_later(text) for text in texts]
    else:
        theirs = programs.babeltrace(trace, '-c', 'sink.clrsym.dump')
        want, errors = theirs.stdout, theirs.stderr
    tap.check(ours.returncode == 0 and texts[0] == want and ours.stderr == errors,
              f'{name}: the dump has the same {len(want.splitlines())} lines', ours.stderr[:300],
              first_difference(texts[0], want))
    tap.check(wanted.returncode == 0 and texts[1] == want,
              f'{name}: and without the events that clrsym does not read', wanted.stderr[:300],
              first_difference(texts[1], want))


def pretty(programs, *source):
    return graph(programs, *source, '-c', 'sink.text.pretty', '--params', 'no-delta=yes')


def is_other(line):
    found = EVENT.search(line)
    return not found or found[2] not in LAYOUT


def is_same_line(got, want):
    """babeltrace2 2.0.4 shows the text of the event before in an empty string."""
    return got == want or re.fullmatch(re.escape(got).replace('""', '"[^"]*"'), want)


def losses(errors):
    """Without the names of traces: `babeltrace2 DIRECTORY` makes them of the path."""
    return re.sub(r'in trace "[^"]*"', 'in trace', errors)


def check_text(tap, programs, name, trace):
    """As text: equal where there is no row, with names where there is one, and the same losses."""
    ours, theirs = pretty(programs, *inputs(trace, all='yes')), pretty(programs, str(trace))
    got, want = ours.stdout.splitlines(), theirs.stdout.splitlines()
    tap.check(ours.returncode == 0 and len(got) == len(want) > 0 and
              losses(ours.stderr) == losses(theirs.stderr),
              f'{name}: {len(want)} events of any kind and {len(theirs.stderr.splitlines())} lines '
              'about losses', len(got), ours.stderr[:300], theirs.stderr[:300])
    others = [[line for line in lines if is_other(line)] for lines in (got, want)]
    wrong = [pair for pair in zip(*others) if not is_same_line(*pair)]
    tap.check(len(others[0]) == len(others[1]) > 0 and not wrong,
              f'{name}: {len(others[1])} events without a row are equal', *wrong[:2])
    packed = [line for line in got if not is_other(line) and '__data__' in line]
    named = [line for line in got if re.search(r'MethodName = "[^"]', line)]
    tap.check(named and not packed, f'{name}: {len(named)} events show a method by name',
              packed[:2])


def plain(field):
    """A field as the dump shows it."""
    if field is None:
        return {}
    if isinstance(field, bt2._BoolFieldConst):  # pylint: disable=protected-access
        return bool(field)
    if isinstance(field, bt2._StringFieldConst):  # pylint: disable=protected-access
        return str(field) if len(field) else ''
    if isinstance(field, bt2._ArrayFieldConst):  # pylint: disable=protected-access
        return [plain(element) for element in field]
    if isinstance(field, bt2._StructureFieldConst):  # pylint: disable=protected-access
        return {name: plain(member) for name, member in field.items()}
    is_wide = field.cls.field_value_range == 64
    return hexadecimal(int(field)) if is_wide else int(field)


def messages(trace):
    component = bt2.ComponentSpec.from_named_plugin_and_component_class(
        'clrsym', 'ctf', {'inputs': [str(trace)]})
    return bt2.TraceCollectionMessageIterator(component)


def check_fields(tap, name, trace):
    want = {}
    for record in test_bt2.expected(trace):
        want.setdefault(record['time'], []).append(json.dumps(record))
    n_fields, wrong, classes = 0, [], set()
    for message in messages(trace):
        if not isinstance(message, bt2._EventMessageConst):  # pylint: disable=protected-access
            continue
        event = message.event
        provider, short = event.name.split(':')
        fields = plain(event.payload_field)
        pid_ns, pid, tid = test_bt2.context(event)
        record = json.dumps(
            {'event': short, 'provider': provider,
             'time': test_bt2.seconds(message.default_clock_snapshot.value),
             'pid_ns': pid_ns, 'pid': pid, 'tid': tid, 'fields': fields})
        n_fields += len(fields)
        classes.add(event.name)
        try:
            want[json.loads(record)['time']].remove(record)
        except (KeyError, ValueError):
            wrong.append(record)
    missing = [record for records in want.values() for record in records]
    tap.check(n_fields > 1000 and len(classes) > 5 and not wrong and not missing,
              f'{name}: {n_fields} fields of {len(classes)} event classes are those of the blobs',
              f'{len(wrong)} wrong, {len(missing)} missing', *wrong[:3], *missing[:3])


class TwiceSink(bt2._UserSinkComponent):  # pylint: disable=protected-access
    """Reads to the end, goes back to the beginning, and reads again."""
    counts = []

    def __init__(self, config, params, obj):
        self._add_input_port('in')

    def _user_graph_is_configured(self):
        self._iterator = self._create_message_iterator(self._input_ports['in'])

    def _user_consume(self):
        seen = {}
        try:
            for message in self._iterator:
                kind = type(message).__name__
                seen[kind] = seen.get(kind, 0) + 1
        finally:
            TwiceSink.counts.append(seen)
        if len(TwiceSink.counts) == 2:
            raise bt2.Stop
        if self._iterator.can_seek_beginning():
            self._iterator.seek_beginning()


def source_class():
    return bt2.find_plugin('clrsym').source_component_classes['ctf']


def check_seek(tap, name, trace):
    TwiceSink.counts = []
    both = bt2.Graph()
    source = both.add_component(source_class(), 'source', {'inputs': [str(trace)]})
    sink = both.add_component(TwiceSink, 'sink')
    both.connect_ports(source.output_ports['out'], sink.input_ports['in'])
    both.run()
    first, second = TwiceSink.counts
    tap.check(first == second and first.get('_EventMessageConst', 0) > 0,
              f'{name}: from the beginning again, the same {sum(first.values())} messages',
              first, second)


def query(component_class, what, params):
    return bt2.QueryExecutor(component_class, what, params).query()


def check_queries(tap, name, trace):
    own = bt2.find_plugin('ctf').source_component_classes['fs']
    directory = recorded.ctf_directories(trace)[0]
    infos, theirs = (query(which, 'babeltrace.trace-infos', {'inputs': [str(directory)]})
                     for which in (source_class(), own))
    ranges, wanted = ([sorted((int(stream['range-ns']['begin']), int(stream['range-ns']['end']))
                              for stream in info['stream-infos']) for info in which]
                      for which in (infos, theirs))
    tap.equal(ranges, wanted, f'{name}: the query trace-infos gives the same times')
    weights = [float(query(which, 'babeltrace.support-info',
                           {'input': str(directory), 'type': 'directory'})['weight'])
               for which in (source_class(), own)]
    tap.check(0 < weights[0] < weights[1],
              f'{name}: the query support-info leaves the trace to source.ctf.fs', weights)
    for kind, value in (('directory', '/'), ('directory', '/does/not/exist'),
                        ('file', str(directory / 'metadata')), ('string', 'hello')):
        weight = query(source_class(), 'babeltrace.support-info', {'input': value, 'type': kind})
        tap.equal(float(weight['weight']), 0.0, f'support-info of the {kind} {value}: no trace')


def check_errors(tap, programs, directory):
    for what, arguments, words in (
            ('no inputs', ['-c', 'source.clrsym.ctf'], 'Parameter `inputs` is missing'),
            ('inputs that are no list', ['-c', 'source.clrsym.ctf', '--params', 'inputs="/"'],
             'Parameter `inputs` must be a list of strings'),
            ('a parameter that there is not', inputs('/', every='yes'), 'Unknown parameter'),
            ('a directory without a trace', inputs(directory / 'nothing'), 'no CTF trace in it')):
        (directory / 'nothing').mkdir(exist_ok=True)
        result = graph(programs, *arguments, '-o', 'dummy')
        said = ' '.join(result.stderr.split())
        tap.check(result.returncode == 1 and words in said, f'{what}: an error that says so',
                  result.returncode, said[:600])


def stream_files(trace):
    return sorted(path for path in trace.rglob('*')
                  if path.is_file() and path.name != 'metadata' and path.parent.name != 'index')


def check_damaged(tap, programs, directory, trace, n_times):
    rng = random.Random(SEED)
    copy = shutil.copytree(trace, directory / 'flipped')
    files = [*stream_files(copy), *copy.rglob('metadata')]
    wrong, n_refused = [], 0
    for _ in range(n_times):
        file = rng.choice(files)
        whole = file.read_bytes()
        data = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(min(len(data), 70000))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)
        result = graph(programs, *inputs(copy, all='yes'), '-c', 'sink.clrsym.dump')
        n_refused += result.returncode == 1
        if result.returncode not in (0, 1) or (result.returncode == 1 and
                                               'clrsym' not in result.stderr):
            wrong.append((file.name, result.returncode, result.stderr[-500:]))
        file.write_bytes(whole)
    shutil.rmtree(copy)
    tap.check(not wrong and n_refused, f'{trace.name}: {n_times} times flipped bits (seed {SEED}): '
              f'{n_refused} errors, no crash', wrong[:3])


def run(tap, programs, directory, names):
    directory = pathlib.Path(directory)
    # Each trace once: what it says is the same with sanitizers, which are for the damaged ones.
    traces = recorded.unpack(directory, [name for name in recorded.GOOD if name in names and
                                         (IN_PROCESS or name in (*AS_TEXT, DAMAGED))])
    for name, trace in traces.items():
        check_dump(tap, programs, name, pathlib.Path(trace), directory / 'none')
    for entry in sorted(DATA.iterdir()):
        with tarfile.open(entry / 'trace.tar.xz') as file:
            file.extractall(directory / 'ctf' / entry.name)
        if entry.name != WITHOUT_PROCESS:
            check_dump(tap, programs, entry.name, directory / 'ctf' / entry.name,
                       entry / 'dump.xz')
    for name in AS_TEXT:
        check_text(tap, programs, name, traces[name])
    if IN_PROCESS:
        for name in IN_PYTHON:
            check_fields(tap, name, traces[name])
        check_seek(tap, 'generics', traces['generics'])
        check_queries(tap, 'generics', pathlib.Path(traces['generics']))
    else:
        check_damaged(tap, programs, directory, pathlib.Path(traces[DAMAGED]), 60)
        check_damaged(tap, programs, directory, directory / 'ctf' / 'lttng216-n2', 60)
    check_errors(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
