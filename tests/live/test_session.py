# SPDX-License-Identifier: MIT
"""`clrsym session`, with a test program that emits the runtime's events.

test_session.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

from tests.live import alone, live
from tests.traces import recorded

RECIPE = {'DotNETRuntime:' + event for event in live.RUNTIME_EVENTS} | {
    'DotNETRuntimeRundown:*', 'DotNETRuntimePrivate:JittedMethodRichDebugInfo'}
DAEMONS = ('lttng-sessiond', 'lttng-relayd')


class Sessions:
    """The verb, with a state directory of its own."""

    def __init__(self, programs, directory):
        self.programs = programs
        self.place = pathlib.Path(directory) / 'place'
        self.environment = {**programs.environment, 'CLRSYM_SESSIONS': str(self.place)}

    def call(self, *arguments):
        return self.programs.run([self.programs.clrsym, 'session', *arguments],
                                 env=self.environment)

    def rows(self):
        return [json.loads(line) for line in self.call('list', '--json').stdout.splitlines()]

    def row(self, name):
        return next((row for row in self.rows() if row['name'] == name), None)


def running(name):
    """Pids of a program; not of what it has forked only to do things as another user."""
    pids = []
    for entry in pathlib.Path('/proc').iterdir():
        try:
            comm = (entry / 'comm').read_text().strip()
            parent = int(re.search(r'PPid:\t(\d+)', (entry / 'status').read_text())[1])
            own = pathlib.Path('/proc') / str(parent) / 'comm'
            is_zombie = 'State:\tZ' in (entry / 'status').read_text()
            is_own = own.exists() and own.read_text().strip() == comm
            if comm == name[:15] and not is_zombie and not is_own:
                pids.append(int(entry.name))
        except (OSError, TypeError, ValueError):
            continue
    return pids


def emit(program):
    subprocess.run([program], check=True, timeout=live.TIMEOUT,
                   env={**os.environ, 'LTTNG_UST_REGISTER_TIMEOUT': '30000'})


def check_failure(tap, done, code, what, pattern):
    lines = done.stderr.splitlines()
    tap.check(done.returncode == code and len(lines) == 1 and lines[0].startswith('clrsym: ') and
              re.search(pattern, lines[0]), what, done.returncode, done.stdout, done.stderr)


def saved(name):
    """A session, as LTTng saves it: each version prints another list, but all save the same elements."""
    directory = f'/run/saved-{name}'
    live.run('lttng', 'save', name, f'--output-path={directory}', '--force')
    return xml.etree.ElementTree.parse(f'{directory}/{name}.lttng')


def texts(tree, path):
    return [element.text for element in tree.iterfind(f'.//{path}')]


def test_recorded(tap, sessions, directory, emitter):
    trace = directory / 'recorded'
    tap.check(not running('lttng-sessiond'), 'no session daemon at first')
    done = sessions.call('start', '--output', trace, '--name', 'rec', '--disk', '64M')
    tap.check(done.returncode == 0 and 'lttng-sessiond: started' in done.stdout,
              'a recorded session starts, and lttng-sessiond with it', done.stdout, done.stderr)
    tap.equal((len(running('lttng-sessiond')), len(running('lttng-relayd'))), (1, 0),
              'no relay daemon is needed')
    cpus = os.sysconf('SC_NPROCESSORS_CONF')
    tap.check(re.search(rf'8 sub-buffers of 1.0 MiB x {cpus} processors = {8 * cpus}.0 MiB of '
                        r'/dev/shm', done.stdout), 'it says what the buffers take', done.stdout)
    tap.check(re.search(r'64.0 MiB hold about \d+ compiled methods: .* hours? of', done.stdout),
              'it says how long the disk may last', done.stdout)

    session = saved('rec')
    tap.equal(set(texts(session, "event[enabled='true']/name")), RECIPE,
              'the events that are wanted, no others')
    # LTTng 2.16 adds the number of the processor.
    tap.equal(set(texts(session, 'contexts/context/type')) - {'CPU_ID'},
              {'VPID', 'VTID', 'PROCNAME', 'PID_NS'}, 'the contexts')
    size, = texts(session, 'tracefile_size')
    count, = texts(session, 'tracefile_count')
    total = int(size) * int(count) * cpus
    tap.check(2**25 < total <= 2**26, 'the files of a user stay within the limit', total)

    emit(emitter)
    row = sessions.row('rec')
    tap.check(row and row['active'] and row['ours'] and row['dotnet'] and not row['live'],
              'the list shows it', row)
    check_failure(tap, sessions.call('start', '--output', directory / 'other', '--name', 'rec'), 1,
                  'a name can be used once', 'there is a session rec already: clrsym session stop')
    check_failure(tap, sessions.call('stop', 'other'), 1, 'what others started is not stopped',
                  'clrsym started no session other')

    done = sessions.call('stop', 'rec')
    tap.check(done.returncode == 0 and str(trace) in done.stdout, 'it stops', done.stderr)
    tap.equal([running(name) for name in DAEMONS], [[], []], 'and with it what was started for it')
    done = sessions.programs.run([sessions.programs.clrsym, 'methods', '--all', '--trace', trace])
    tap.check(done.returncode == 0 and done.stdout, 'its trace has methods', done.stderr)
    check_failure(tap, sessions.call('start', '--output', trace), 1,
                  'a second trace does not go into the first', 'is not empty: give another')


def test_live(tap, sessions, directory, emitter):
    relay = directory / 'relay'
    done = sessions.call('start', '--live', '--relay-output', relay, '--name', 'live')
    tap.check(done.returncode == 0 and 'lttng-relayd: started, on 127.0.0.1' in done.stdout,
              'a live session starts, and lttng-relayd with it', done.stdout, done.stderr)
    listening = subprocess.run(['cat', '/proc/net/tcp'], capture_output=True, text=True,
                               check=True).stdout
    addresses = {line.split()[1].split(':')[0] for line in listening.splitlines()[1:]
                 if line.split()[3] == '0A'}
    tap.equal(addresses, {'0100007F'}, 'everything listens on the loopback only')

    url = sessions.row('live')['url']
    viewed = live.run('babeltrace2', 'query', 'src.ctf.lttng-live', 'sessions', '-p',
                      f'url="net://127.0.0.1:{re.search(":([0-9]+)/", url)[1]}"')
    tap.check('session-name: live' in viewed, 'viewers see it', viewed)
    emit(emitter)
    found = live.wait_for('the relay', lambda: [path for path in relay.rglob('methods_*')
                                                if path.stat().st_size > 4096])
    tap.check(found, 'the events come to the relay daemon')

    relay_pid, = running('lttng-relayd')
    done = sessions.call('start', '--name', 'second')
    tap.check(done.returncode == 0 and 'lttng-relayd' not in done.stdout,
              'a second one uses the same daemons', done.stdout, done.stderr)
    tap.equal(sorted(row['name'] for row in sessions.rows()), ['live', 'second'], 'two are listed')
    check_failure(tap, sessions.call('stop'), 1, 'one of two has to be named',
                  'name one of them')
    tap.equal(sessions.call('stop', 'live').returncode, 0, 'the first stops')
    tap.equal(running('lttng-relayd'), [relay_pid], 'the relay daemon stays for the second')
    done = sessions.call('stop')
    tap.check(done.returncode == 0 and 'session second: stopped' in done.stdout,
              'the only one needs no name', done.stdout, done.stderr)
    tap.equal([running(name) for name in DAEMONS], [[], []], 'nothing runs any more')


def test_foreign(tap, sessions, directory):
    """Daemons that ran before are used, and left alone."""
    relay = live.Relay(directory / 'foreign')
    relay.control, relay.data, relay.live = 5342, 5343, 5344
    with live.child(['lttng-sessiond', '--no-kernel'], stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL), relay.running():
        live.wait_for('lttng-sessiond', lambda: subprocess.run(
            ['lttng', '--no-sessiond', 'list'], capture_output=True, check=False).returncode == 0)
        before = [running(name) for name in DAEMONS]
        done = sessions.call('start')
        tap.check(done.returncode == 0 and 'lttng-' not in done.stdout,
                  'daemons that run are used', done.stdout, done.stderr)
        tap.equal(sessions.row('clrsym').get('relay_output'), str(relay.directory),
                  'where the relay daemon writes is known')
        live.run('lttng', 'create', 'theirs', f'--output={directory / "theirs"}')
        tap.equal(sorted((row['name'], row['ours'], row['dotnet']) for row in sessions.rows()),
                  [('clrsym', True, True), ('theirs', False, False)],
                  "other people's sessions are listed as such")
        tap.equal(sessions.call('stop').returncode, 0, 'the session stops')
        tap.equal([running(name) for name in DAEMONS], before, 'they are left alone')


def test_gone(tap, sessions, directory):
    sessions.call('start', '--relay-output', directory / 'relay2')
    pid, = running('lttng-sessiond')
    os.kill(pid, signal.SIGKILL)
    live.wait_for('its end', lambda: pid not in running('lttng-sessiond'))
    done = sessions.call('list')
    tap.check('does not have session clrsym' in done.stderr, 'a session whose daemon died is reported',
              done.stdout, done.stderr)
    done = sessions.call('stop')
    tap.check(done.returncode == 0 and not running('lttng-relayd'),
              'it can be stopped all the same', done.stderr)


def test_usage(tap, sessions, directory):
    for arguments, pattern in (
            (['start', '--live', '--output', 'x'], 'give --live or --output, not both'),
            (['start', '--name', '../x'], '--name: letters'),
            (['start', '--disk', '2X'], '--disk 2X: not a size'),
            (['start', '--disk', '0'], '--disk 0: not a size'),
            (['start', '--disk', '99999999999999999999T'], '--disk 9+T: not a size'),
            (['start', '--buffer-size', '3M'], 'power of two'),
            (['start', '--trace-format', 'ctf'], '--trace-format ctf: not ctf-1.8 or ctf-2'),
            (['start', 'x'], 'no arguments'),
            (['start', '--colour'], 'unknown option'),
            (['stop', 'a', 'b'], 'one argument'),
            (['pause'], 'no verb pause: see clrsym session --help')):
        check_failure(tap, sessions.call(*arguments), 2, ' '.join(arguments), pattern)
    for arguments, pattern in (
            (['start', '--track', '99999999'], 'no such process'),
            (['start', '--disk', '1M'], r'--disk is less than'),
            (['start', '--buffer-size', '1G'], r'would take .* give a smaller --buffer-size'),
            (['stop'], 'no session that clrsym started')):
        check_failure(tap, sessions.call(*arguments), 1, ' '.join(arguments), pattern)
    tap.equal([running(name) for name in DAEMONS], [[], []], 'nothing was started by that')

    subprocess.run(['mount', '-o', 'remount,size=24M', '/dev/shm'], check=True)
    out = directory / 'forced'
    check_failure(tap, sessions.call('start', '--output', out), 1,
                  'an unreasonable share of /dev/shm is refused', 'would take .* --force')
    done = sessions.call('start', '--output', out, '--force')
    tap.check(done.returncode == 0 and 'would take' in done.stdout,
              'but not with --force, and it says so', done.stdout, done.stderr)
    sessions.call('stop')


def test_track(tap, sessions, directory, emitter):
    with live.child(['sleep', '1000']) as other:
        trace = directory / 'tracked'
        sessions.call('start', '--output', trace, '--track', f'{other.pid},1')
        tap.equal(set(texts(saved('clrsym'), 'vpid_process_attr_tracker//vpid/id')),
                  {str(other.pid), '1'}, 'single processes are tracked')
        emit(emitter)
        sessions.call('stop')
        tap.check(not [path for path in trace.rglob('methods_*') if path.stat().st_size],
                  'others leave nothing in the trace')


def metadata_of(trace):
    one, = trace.rglob('metadata')
    return one.read_bytes()


def test_trace_format(tap, sessions, directory, emitter):
    """CTF 2 is a choice from LTTng 2.15 on; before, it is refused."""
    has_both = hasattr(ctypes.CDLL('liblttng-ctl.so.0'),
                       'lttng_session_descriptor_set_trace_format')
    loads = {}
    for options, is_ctf_2 in (([], False), (['--trace-format=ctf-1.8'], False),
                              (['--trace-format=ctf-2'], True)):
        name = ' '.join(options) or 'no trace format'
        trace = directory / f'format{len(loads)}'
        done = sessions.call('start', '--output', trace, *options)
        if is_ctf_2 and not has_both:
            check_failure(tap, done, 1, f'{name}: refused, as LTTng is too old',
                          'ctf-2 needs LTTng 2.15 or newer: this one only writes ctf-1.8')
            tap.equal([running(one) for one in DAEMONS], [[], []], 'and nothing runs')
            continue
        emit(emitter)
        sessions.call('stop')
        tap.check((b'/* CTF 1.8 */' in metadata_of(trace)[:200]) != is_ctf_2 and
                  metadata_of(trace).startswith(b'\x1e{') == is_ctf_2,
                  f'{name}: so is the metadata', done.stderr, metadata_of(trace)[:60])
        methods = sessions.programs.run([sessions.programs.clrsym, 'methods', '--all', '--json',
                                         '--trace', trace])
        loads[name] = methods.stdout.count('\n')
    tap.check(len(set(loads.values())) == 1 and min(loads.values()) > 0,
              'the methods are the same', loads)


def test(tap, programs, directory, rest):
    emitter, = rest
    directory = pathlib.Path(directory)
    sessions = Sessions(programs, directory)
    begin = time.monotonic()
    test_usage(tap, sessions, directory)
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    test_recorded(tap, sessions, directory, emitter)
    test_live(tap, sessions, directory, emitter)
    test_foreign(tap, sessions, directory)
    test_gone(tap, sessions, directory)
    test_track(tap, sessions, directory, emitter)
    test_trace_format(tap, sessions, directory, emitter)
    tap.note(f'{time.monotonic() - begin:.1f} s')


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
