# SPDX-License-Identifier: MIT
"""The daemon's interfaces: the description covers all replies, and the manual covers the
description; the metrics are valid OpenMetrics, on the socket and in a file."""

import json
import os
import pathlib
import re
import time

from tests.daemon import ingest, openmetrics, varlink_idl
from tests.daemon.test_daemon import Client, feed, wait_for
from tests.traces import recorded

try:
    from prometheus_client.openmetrics import parser as prometheus
except ImportError:
    prometheus = None

MANUAL = pathlib.Path(__file__).resolve().parents[2] / 'man' / 'clrsym-protocol.7'
SYMBOLIZER, SERVICE = 'org.clrsym.Symbolizer', 'org.varlink.service'
TRACES = ('hello', 'pidns', 'lateattach', 'collectible')
AMBIGUOUS = 0x6000
GOOD_IDL = 'interface a.b # x\ntype T (a: ?int, b: []T, c: [string](d: bool))\nmethod M() -> ()\n'
BAD_IDL = ('', 'interface a.b', 'interface a', 'interface a.b method m() -> ()',
           'interface a.b method M()', 'interface a.b method M(a: ??int) -> ()',
           'interface a.b method M(a: T) -> ()', 'interface a.b method M(a int) -> ()',
           'interface a.b method M(a_: int) -> ()', 'interface a.b method M(a: int, a: int) -> ()',
           'interface a.b method M() -> () type M ()', 'interface a.b method M() -> ();',
           'interface a.b method M(a: int,) -> ()')
GOOD_METRICS = ('# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds A\n'
                'a_seconds_total{x="1\\n",y="2"} 3\na_seconds_total 4.5e3\n'
                '# TYPE b gauge\nb -1\n# EOF\n')
BAD_METRICS = ('', 'a 1\n# EOF\n', '# TYPE a gauge\na 1\n', '# TYPE a counter\na 1\n# EOF\n',
               '# TYPE a gauge\na 1\na 1\n# EOF\n', '# TYPE a gauge\na 1\n\n# EOF\n',
               '# TYPE a gauge\n# TYPE b gauge\nb 1\n# EOF\n', '# TYPE a gauge\na x\n# EOF\n',
               '# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n', '# TYPE a gauge\na{x=1} 1\n# EOF\n',
               '# TYPE a gauge\na 1\n# HELP a x\n# EOF\n', '# TYPE a gauge\na 1\n# EOF\n\n')


def raises(function, text, error):
    try:
        function(text)
    except error:
        return True
    return False


def check_checkers(tap):
    """The checkers accept valid input and refuse invalid input."""
    varlink_idl.Interface(GOOD_IDL)
    accepted = [text for text in BAD_IDL
                if not raises(varlink_idl.Interface, text, varlink_idl.IdlError)]
    tap.equal(accepted, [], f'{len(BAD_IDL)} bad descriptions are none')
    tap.equal(len(openmetrics.parse(GOOD_METRICS)), 3, 'good metrics are some')
    accepted = [text for text in BAD_METRICS
                if not raises(openmetrics.parse, text, openmetrics.OpenMetricsError)]
    tap.equal(accepted, [], f'{len(BAD_METRICS)} bad metrics are none')


class Described:
    """A client that checks each message against the description."""

    def __init__(self, daemon, interfaces):
        self.client = Client(daemon.query)
        self.interfaces = interfaces
        self.seen, self.faults, self.methods, self.errors = set(), [], set(), set()

    def call(self, interface, method, /, *, more=False, upgrade=False, last=None, **parameters):
        """Returns the parameters of all replies; LAST: the number of replies to an endless call."""
        self.client.send(json.dumps({'method': f'{interface}.{method}', 'parameters': parameters,
                                     'more': more, 'upgrade': upgrade}).encode() + b'\0')
        got = []
        while True:
            reply = self.client.reply()
            self.faults += [f'{name} of a reply' for name in
                            reply.keys() - {'parameters', 'error', 'continues'}]
            if 'error' in reply:
                self.take_error(reply)
                return got
            self.methods.add(method)
            self.faults += self.interfaces[interface].faults(
                reply['parameters'], self.interfaces[interface].methods[method][1], method,
                self.seen)
            got.append(reply['parameters'])
            if not reply.get('continues') or len(got) == last:
                return got

    def take_error(self, reply):
        interface, _, name = reply['error'].rpartition('.')
        self.errors.add(name)
        described = self.interfaces[interface].errors.get(name)
        if described is None:
            self.faults.append(f'{reply["error"]} is not described')
        else:
            self.faults += self.interfaces[interface].faults(reply['parameters'], described, name,
                                                             self.seen)


def descriptions(tap, daemon):
    client = Client(daemon.query)

    def ask(method, **parameters):
        client.send(json.dumps({'method': f'{SERVICE}.{method}',
                                'parameters': parameters}).encode() + b'\0')
        return client.reply()['parameters']
    info = ask('GetInfo')
    tap.check(info['product'] == 'clrsymd' and info['version'] and
              set(info['interfaces']) == {SYMBOLIZER, SERVICE}, 'GetInfo', info)
    texts = {name: ask('GetInterfaceDescription', interface=name)['description']
             for name in info['interfaces']}
    found = {name: varlink_idl.Interface(text) for name, text in texts.items()}
    tap.check(all(interface.name == name for name, interface in found.items()),
              'the descriptions are Varlink')
    tap.check(all(len(line) <= 90 for text in texts.values() for line in text.split('\n')),
              'in lines that can be read')
    client.close()
    return found


def call_all(described):
    """Calls all methods, so that the replies contain as many members as possible."""
    call = described.call
    for name in (SYMBOLIZER, SERVICE):
        call(SERVICE, 'GetInterfaceDescription', interface=name)
    call(SERVICE, 'GetInfo')
    processes = call(SYMBOLIZER, 'ListProcesses', more=True)[0]['processes']
    call(SYMBOLIZER, 'ParseTime', text='now')
    for method in ('Status', 'Metrics', 'JitStatistics'):
        call(SYMBOLIZER, method)
    call(SYMBOLIZER, 'ListModules', all=True)
    call(SYMBOLIZER, 'ListAssemblies', all=True)
    bodies = [body for part in call(SYMBOLIZER, 'ListMethods', more=True, all=True)
              for body in part['methods']]
    queries = [{'pid': 100, 'addr': hex(AMBIGUOUS)}]
    for body in bodies[::7]:
        query = {'pid': body['pid'], 'pid_ns': body['pid_ns'], 'addr': body['start']}
        queries += [query, {**query, 'time': body['loaded'] or '1.0'},
                    {**query, 'time': body['unloaded']}, {**query, 'time': '1.0'}]
    for i in range(0, len(queries), 4000):
        call(SYMBOLIZER, 'Resolve', queries=queries[i:i + 4000])
    call(SYMBOLIZER, 'Resolve', queries=[{'pid': 1, 'addr': '1'}, {'pid': 1}, {}])
    for body in bodies[:3] + bodies[-3:]:
        call(SYMBOLIZER, 'History', addr=body['start'])
        call(SYMBOLIZER, 'Versions', method=body['method']['id'])
    call(SYMBOLIZER, 'Watch')
    call(SYMBOLIZER, 'Bulk', version=1)
    call(SYMBOLIZER, 'Resolve')
    call(SYMBOLIZER, 'ListMethods', all=True, pid=0)
    described.client.send(b'x\0')
    described.take_error(described.client.reply())
    call(SERVICE, 'GetInterfaceDescription', interface='a.b')
    described.client.send(b'{"method":"a.B"}\0')
    described.take_error(described.client.reply())
    described.client.send(b' ' * ((1 << 20) + 1))
    described.take_error(described.client.reply())
    return processes


def check_described(tap, daemon, interfaces):
    described = Described(daemon, interfaces)
    processes = call_all(described)
    tap.check(len(processes) >= len(TRACES), f'{len(processes)} processes')
    described.client.close()
    for method, more in (('Watch', {'more': True}), ('Bulk', {'upgrade': True, 'version': 1})):
        described.client = Client(daemon.query)
        described.call(SYMBOLIZER, method, last=1, **more)
        if method == 'Watch':
            feed(daemon, ingest.jitting(4 * 10**9, 0x7001),
                 ingest.body(4 * 10**9 + 1000, 0x7000, module=0x55),
                 ingest.unload(5 * 10**9, 0x7000))
            reply = described.client.reply()
            described.faults += interfaces[SYMBOLIZER].faults(
                reply['parameters'], interfaces[SYMBOLIZER].methods['Watch'][1], 'Watch',
                described.seen)
        described.client.close()
    tap.check(not described.faults, 'all that is sent is described', *sorted(set(described.faults)))
    methods = set(interfaces[SYMBOLIZER].methods) | set(interfaces[SERVICE].methods)
    tap.equal(described.methods, methods, f'all {len(methods)} methods that are described answer')
    tap.check({'InvalidCall', 'LimitExceeded', 'ExpectedMore', 'UpgradeExpected',
               'InvalidParameter', 'MethodNotFound', 'InterfaceNotFound'} <= described.errors,
              'errors that are described come', described.errors)
    types = {f'{name}.{member}' for name, members in interfaces[SYMBOLIZER].types.items()
             for member in members if name != 'Query'}
    tap.equal(sorted(types - described.seen), [], f'all {len(types)} members that are described '
              'have come')


def check_manual(tap, interfaces):
    """The manual has all methods, parameters, errors and members by name."""
    text = re.sub(r'\\f.|\\', '', MANUAL.read_text(encoding='utf-8'))
    headings = set(re.findall(r'^\.SS (\S+)$', text, re.M))
    symbolizer = interfaces[SYMBOLIZER]
    tap.check(set(symbolizer.methods) <= headings and
              {f'{SERVICE}.{name}' for name in interfaces[SERVICE].methods} <= headings,
              'the manual has all methods', set(symbolizer.methods) - headings)
    tap.equal(headings - set(symbolizer.methods), {f'{SERVICE}.{name}' for name in
                                                   interfaces[SERVICE].methods}, 'and no others')
    words = set(re.findall(r'\w+', text))
    # Status has further counters that the manual does not list by name.
    named = {member for name, (parameters, reply) in symbolizer.methods.items()
             for members in (parameters, {} if name == 'Status' else reply) for member in members}
    named |= {member for members in symbolizer.types.values() for member in members}
    named |= set(symbolizer.errors)
    tap.equal(sorted(named - words), [], f'the manual has all {len(named)} names')


def check_metrics_text(tap, text, name):
    try:
        samples = openmetrics.parse(text)
    except openmetrics.OpenMetricsError as error:
        tap.check(False, name, error)
        return {}
    tap.check(len(samples) > 30, f'{name}: {len(samples)} samples of OpenMetrics')
    if prometheus is None:
        return samples
    theirs = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
              for family in prometheus.text_string_to_metric_families(text)
              for sample in family.samples}
    tap.equal(theirs, samples, f'{name}: as prometheus_client reads them')
    return samples


def metrics(client):
    client.ask('Metrics')
    return client.reply()['parameters']['text']


def check_metrics(tap, daemon):
    client = Client(daemon.query)
    before = check_metrics_text(tap, metrics(client), 'Metrics')
    client.ask('Resolve', queries=[*[{'pid': 100, 'addr': '0x7000'}] * 5,
                                   {'pid': 1 << 20, 'addr': '1'}])
    client.reply()
    feed(daemon, ingest.load(6 * 10**9, 0x8000))
    after = check_metrics_text(tap, metrics(client), 'Metrics, later')
    changes = {key: after[key] - before[key] for key in before}
    tap.equal((changes[('clrsym_lookups_total', (('status', 'ok'),))],
               changes[('clrsym_lookups_total', (('status', 'no-process'),))],
               changes[('clrsym_events_total', (('kind', 'method_load'),))],
               changes[('clrsym_bodies', (('state', 'live'),))]), (5, 1, 1, 1),
              'the counters count')
    tap.equal(after.keys(), before.keys(), 'the samples stay the same')
    client.close()


def check_metrics_file(tap, programs, directory):
    path = pathlib.Path(directory) / 'metrics.prom'
    config = pathlib.Path(directory) / 'metrics.conf'
    config.write_text('[Daemon]\nMetricsInterval=1s\n', encoding='utf-8')
    with recorded.Daemon(programs, directory, '--config', config, '--metrics-file',
                         path) as daemon:
        tap.check(wait_for(path.exists), 'the file is there')
        feed(daemon, *(ingest.load(1000 + i, 0x10000 + 16 * i) for i in range(1000)))
        deadline = time.monotonic() + 5
        texts, files, n = set(), set(), 0
        while time.monotonic() < deadline and len(files) < 4:
            with open(path, encoding='utf-8') as file:
                files.add(os.fstat(file.fileno()).st_ino)
                texts.add(file.read())
            n += 1
        tap.check(len(texts) > 1 and len(files) > 1 and n > 1000,
                  f'{len(texts)} texts, {len(files)} files in {n} reads')
        broken = [text for text in texts if raises(openmetrics.parse, text,
                                                   openmetrics.OpenMetricsError)]
        tap.check(not broken, 'each is whole', *broken[:1])
        last = openmetrics.parse(path.read_text(encoding='utf-8'))
        tap.equal(last[('clrsym_bodies', (('state', 'live'),))], 1000, 'and of what is there')
        tap.equal(oct(path.stat().st_mode & 0o777), '0o644', 'readable by all')
        tap.equal([entry.name for entry in pathlib.Path(directory).iterdir()
                   if entry.name.startswith(path.name)], [path.name], 'with nothing beside it')
    tap.check(not path.exists(), 'at the end it is removed')
    with recorded.Daemon(programs, directory, '--metrics-file', '/proc/nowhere/x') as daemon:
        tap.check(Client(daemon.query).is_open(), 'where it cannot be, it serves all the same')
        tap.check(wait_for(lambda: '/proc/nowhere' in daemon.log()), 'and says so', daemon.log())


def run(tap, programs, directory, names):
    check_checkers(tap)
    if prometheus is None:
        tap.skip('prometheus_client as an oracle', 'is not here')
    with recorded.Daemon(programs, directory) as daemon:
        for name, trace in recorded.unpack(directory, TRACES).items():
            done = programs.feed(trace, daemon.ingest)
            tap.check(done.returncode == 0, f'{name} is fed', done.stderr)
        feed(daemon, ingest.tiered_settings(10**9 - 1, 15), ingest.runtime_start(10**9),
             ingest.inlining(10**9 + 1, 'too big'),
             # No current runtime emits these two values, but the events have fields for them.
             ingest.assembly_load(10**9 + 2, 0x1, 'A, Version=1.0.0.0', binding=0x3),
             ingest.module_load(10**9 + 2, 0x55, '/a.dll', native='/a.ni.dll'),
             ingest.body(10**9 + 3, AMBIGUOUS), ingest.inline_tree(10**9 + 3, AMBIGUOUS + 1, 0x88),
             ingest.method_details(10**9 + 3, 0x88, 0x55),
             ingest.unload(10**9 + 4, AMBIGUOUS), ingest.body(10**9 + 5, AMBIGUOUS),
             ingest.unload(10**9 + 6, AMBIGUOUS), ingest.load(10**9 + 7, 0x9000),
             ingest.inline_tree(10**9 + 7, 0x9001, 0x88), ingest.method_details(10**9 + 7, 0x88, 0x55),
             ingest.process_gap(10**15, None),
             ingest.stub_generated(10**9 + 8, 0x77), ingest.stub(10**9 + 9, 0xa000, 0x77))
        interfaces = descriptions(tap, daemon)
        check_described(tap, daemon, interfaces)
        check_manual(tap, interfaces)
        check_metrics(tap, daemon)
        tap.equal(daemon.process.poll(), None, 'the daemon has lived through it all')
    check_metrics_file(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
