# SPDX-License-Identifier: MIT
"""`clrsym doctor`: each of its problems, caused on purpose. Stand-ins that look like .NET processes
in /proc take the place of .NET processes; if doctor prints a command as a fix, the test runs the
command.

test_doctor.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN COMPILED SINGLE_FILE TEXT
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading

from tests.daemon import ingest
from tests.daemon.examine import Doctor, fake, hidden, libraries
from tests.live import alone, live
from tests.traces import recorded

NOBODY = 65534
# The checks of one process.
OF_PROCESS = ('process', 'runtime', 'library', 'provider', 'registered', 'port', 'events-on',
              'clock', 'tracked')
EVENTS = ['DotNETRuntime:' + event for event in live.RUNTIME_EVENTS] + [
    'DotNETRuntimeRundown:*', 'DotNETRuntimePrivate:JittedMethodRichDebugInfo']

# Problems of this machine: no release after Debian 11 has the library.
LACKING = [] if libraries('liblttng-ust.so.0') else ['library']


def setpriv(user=NOBODY):
    return ('setpriv', f'--reuid={user}', '--clear-groups', f'--regid={user}')


def touch(path, content=b'x'):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def library(path, kind=None):
    """Writes the header of a library for this machine; KIND 1: a 32-bit library."""
    header = bytearray(pathlib.Path('/proc/self/exe').read_bytes()[:64])
    header[4] = kind or header[4]
    return touch(path, header)


def runtime(directory, wants='liblttng-ust.so.0'):
    """Writes the files of a runtime. Returns (libcoreclr.so, its provider)."""
    return (library(directory / 'shared' / 'libcoreclr.so'),
            touch(directory / 'shared' / 'libcoreclrtraceptprovider.so',
                  f'...\0{wants}\0libc...'.encode()))


def test_nothing(tap, doctor):
    tap.equal(doctor.findings()['sessiond']['status'], 'problem', 'sessiond: none')
    row = doctor.expect(tap, 'daemon', 'problem', f'no daemon at {doctor.socket}', 'none',
                        mend='systemctl start')
    tap.check('--trace' not in row['text'], 'daemon: the fix is not in the text', row)
    tap.check('session' not in doctor.findings(), 'session: no line without LTTng')
    with hidden(*libraries('liblttng-ctl.so.0')):
        doctor.expect(tap, 'sessiond', 'problem', 'LTTng is not installed', 'LTTng is missing',
                      mend='apt install lttng-tools')
    done = doctor.call()
    tap.check('NO   daemon' in done.stdout and
              '                 -> sudo systemctl' in done.stdout and
              done.stdout.endswith(f'\n{2 + len(LACKING)} problems found\n') and
              len(done.stdout.splitlines()) < 24, 'text: one screen, with the fixes',
              done.stdout)
    for arguments in (['x'], ['0'], ['1', '2'], ['--colour']):
        done = doctor.programs.run([doctor.programs.clrsym, 'doctor', *arguments])
        tap.equal((done.returncode, len(done.stderr.splitlines()), done.stdout), (2, 1, ''),
                  f'usage: {arguments}')


def test_babeltrace(tap, doctor):
    doctor.expect(tap, 'babeltrace2', 'ok', 'has clrsym', 'there, with the plugin')
    doctor.expect(tap, 'babeltrace2', 'note', 'not installed', 'missing', PATH='/nowhere',
                  mend='apt install babeltrace2')
    elsewhere = doctor.directory / 'elsewhere' / 'clrsym'
    elsewhere.parent.mkdir()
    shutil.copy(doctor.programs.clrsym, elsewhere)
    done = doctor.programs.run([elsewhere, 'doctor', '--json'],
                               env={**doctor.environment, 'BABELTRACE_PLUGIN_PATH': ''})
    row, = (row for row in map(json.loads, done.stdout.splitlines())
            if row['check'] == 'babeltrace2')
    installed = 'ok' if libraries('babeltrace-plugin-clrsym.so') else 'note'
    tap.equal(row['status'], installed, 'babeltrace2: the plugin is not found')


class Answerer(threading.Thread):
    """Listens instead of the daemon, calls BEFORE, and answers every call with ANSWER."""

    def __init__(self, path, answer, before=lambda: None):
        super().__init__(daemon=True)
        self.answer, self.before = answer, before
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection:
                    while connection.recv(65536):
                        self.before()
                        if self.answer is not None:
                            reply = json.dumps({'parameters': self.answer}).encode()
                            connection.sendall(reply + b'\0')

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.join()


def test_daemon(tap, doctor):
    with recorded.Daemon(doctor.programs, doctor.directory) as daemon:
        doctor.socket = daemon.query
        doctor.expect(tap, 'daemon', 'ok', 'answers', 'there')
        with contextlib.closing(ingest.Feeder(daemon.ingest)) as feeder:
            feeder.send(ingest.hello(), ingest.frame(ingest.REPORT, struct.pack('<5Q', 9, 8, 7, 0, 6)),
                        ingest.frame(ingest.COMMIT))
            feeder.receive_until(ingest.COMMITTED)
            doctor.expect(tap, 'daemon', 'note', '6 events are of a later version', 'of a newer runtime')
    for name, answer, text in (('old', {'version': '0.0.1', 'interfaces': []}, 'clrsymd is 0.0.1'),
                               ('odd', {'colour': 'red'}, 'cannot be understood'),
                               ('silent', None, 'does not answer')):
        doctor.socket = doctor.directory / name
        answerer = Answerer(doctor.socket, answer)
        answerer.start()
        doctor.expect(tap, 'daemon', 'problem', text, name)
        answerer.stop()
    doctor.socket = doctor.directory / 'no-daemon'


def test_users(tap, doctor):
    os.chmod(doctor.directory, 0o755)
    nobody = {'before': setpriv(), 'CLRSYM_SESSIONS': '/run/nobody'}
    with fake() as pid:
        found = doctor.findings(str(pid), **nobody)
        row = found['process']
        tap.check(row['status'] == 'unknown' and 'is of user root' in row['text'] and
                  row['fix'] == f'sudo clrsym doctor {pid}', "process: another user's", row)
        tap.equal([name for name in found if name in OF_PROCESS], ['process'],
                  'no other check of it is made')
        tap.equal(found['access']['status'], 'problem', 'access: not of that process')
        done = doctor.call(str(pid), **nobody)
        tap.check('\n?    process ' in '\n' + done.stdout and done.returncode == 1 and
                  done.stdout.endswith('found, and some checks are undecided\n'),
                  'text: what is unknown', done.stdout)
    paranoid = touch(doctor.directory / 'paranoid', b'3\n')
    with hidden('/proc/sys/kernel/perf_event_paranoid', by=paranoid):
        found = doctor.findings(**nobody)
        row = found['perf']
        tap.check(row['status'] == 'problem' and 'perf_event_paranoid is 3' in row['text'] and
                  row['fix'] == 'sudo sysctl kernel.perf_event_paranoid=1',
                  'perf: only root may record', row)
        tap.check(found['access']['status'] == 'ok' and 'your own' in found['access']['text'],
                  'access: an ordinary user', found['access'])
        doctor.expect(tap, 'perf', 'ok', '-k mono', 'root may record')
    paranoid.write_text('2\n')
    with hidden('/proc/sys/kernel/perf_event_paranoid', by=paranoid):
        doctor.expect(tap, 'perf', 'ok', '-k mono', 'everybody may record', **nobody)
    doctor.expect(tap, 'process', 'problem', 'there is no process 99999999', 'none', '99999999')


def test_hostile(tap, doctor):
    """Processes with misleading names and files, and a process that ends during the check."""
    files = doctor.directory / 'hostile'
    coreclr, provider = runtime(files)
    with fake(touch(files / 'libcoreclr.so.old'), touch(files / 'libcoreclr.so' / 'libx.so'),
              touch(files / 'libmonosgen-2.0.so.0')) as pid:
        doctor.expect(tap, 'runtime', 'problem', 'is not a .NET process', 'names that are alike',
                      str(pid))
    odd, odd_provider = runtime(files / 'a\nb\x1b[31m')
    with fake(odd, odd_provider, SCRIBBLE='1') as pid:
        found = doctor.findings(str(pid))
        tap.check(found['provider']['status'] == 'ok' and 'a\nb\x1b[31m' in
                  found['runtime']['text'] and '\x1b[31m\ufffd' in found['port']['text'],
                  'hostile: names of files, an environment that was written over', found)
        done = doctor.call(str(pid))
        tap.check('\x1b' not in done.stdout and '\\u{1b}' in done.stdout and
                  all(line[:4] in ('ok  ', 'NO  ', 'note', '?   ', '    ')
                      for line in done.stdout.splitlines()[:-1]),
                  'hostile: nothing for the terminal to obey', done.stdout)
    many = {f'VARIABLE_{i}': 'x' * 100000 for i in range(12)}
    with fake(coreclr, provider, **many, DOTNET_LTTng='0', TMPDIR='/run') as pid:
        doctor.expect(tap, 'port', 'problem', 'in /run:', 'a large environment', str(pid))
    try:
        with fake(coreclr, provider, STRETCH='1') as pid:
            found = doctor.findings(str(pid))
            tap.check(found['process']['status'] == 'unknown' and 'environment is too large' in
                      found['process']['text'] and 'runtime' not in found,
                      'hostile: an environment of 3 GiB', found['process'])
    except RuntimeError:
        tap.note('an environment of 3 GiB is not allowed here')
    with fake(coreclr, provider) as pid:
        doctor.socket = doctor.directory / 'killer'
        answerer = Answerer(doctor.socket, {}, lambda: os.kill(pid, signal.SIGKILL))
        answerer.start()
        found = doctor.findings(str(pid))
        tap.check([name for name in found if name in OF_PROCESS] == ['process'] and
                  'has ended while' in found['process']['text'], 'process: ends meanwhile', found)
        answerer.stop()
        doctor.socket = doctor.directory / 'no-daemon'


def test_runtimes(tap, doctor, stand_ins):
    files = doctor.directory / 'files'
    coreclr, _ = runtime(files)
    for name, mapped, status, text in (
            ('none', [], 'problem', 'it is not a .NET process'),
            ('Mono', [touch(files / 'libmonosgen-2.0.so')], 'problem', 'runs on Mono'),
            ('musl', [touch(files / 'ld-musl-x86_64.so.1'), coreclr], 'ok', f'{coreclr}'),
            ('musl, without a provider', [touch(files / 'ld-musl-x86_64.so.1'), touch(files / 'bare' / 'libcoreclr.so')],
             'problem', 'built for musl'),
            ('CoreCLR', [coreclr], 'ok', f'{coreclr}')):
        with fake(*mapped) as pid:
            found = doctor.findings(str(pid))
            row = found['runtime']
            tap.check(row['status'] == status and text in row['text'], f'runtime: {name}', row)
            tap.equal('provider' in found, any(path.name == 'libcoreclr.so' for path in mapped),
                      f'runtime: {name}: what follows')
    for program, text in zip(stand_ins, ('ahead of time', 'as a single file', 'not a .NET process')):
        with live.child([program], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            doctor.expect(tap, 'runtime', 'problem', text, pathlib.Path(program).name,
                          str(process.pid))


def test_library(tap, doctor):
    """Libraries are searched in the root directory of the process, not in ours."""
    root = doctor.directory / 'root'
    coreclr, _ = runtime(root / 'usr' / 'share')
    usual = root / 'usr' / 'lib' / 'x86_64-linux-gnu'
    with fake(coreclr, root=root) as pid:
        def expect(status, text, what, **environment):
            return doctor.expect(tap, 'library', status, text, what, str(pid), **environment)

        expect('problem', 'needs liblttng-ust.so.0, which is not installed', 'none')
        newer = library(usual / 'liblttng-ust.so.1')
        expect('problem', 'only liblttng-ust.so.1 is there', 'the newer one only')
        touch(usual / 'liblttng-ust.so.0')
        expect('problem', 'only liblttng-ust.so.1', 'a file that is not a library')
        library(usual / 'liblttng-ust.so.0', kind=1)
        expect('problem', 'only liblttng-ust.so.1', 'one for programs of 32 bits')
        library(usual / 'liblttng-ust.so.0')
        expect('ok', 'liblttng-ust.so.0 is there', 'both')
        (usual / 'liblttng-ust.so.0').unlink()
        os.symlink('/opt/liblttng-ust.so.0.0.0', usual / 'liblttng-ust.so.0')
        expect('problem', 'only liblttng-ust.so.1', 'a link to nowhere')
        library(root / 'opt' / 'liblttng-ust.so.0.0.0')
        expect('ok', 'is there', 'a link within its root')
        (root / 'opt' / 'liblttng-ust.so.0.0.0').unlink()
        os.symlink(f'{"../" * 20}{newer}', root / 'opt' / 'liblttng-ust.so.0.0.0')
        expect('problem', 'only', 'a link that leads out of it does not')
        (usual / 'liblttng-ust.so.0').unlink()
        os.mkfifo(usual / 'liblttng-ust.so.0')
        expect('problem', 'only', 'a pipe is not a library, and is not opened')
        (usual / 'liblttng-ust.so.0').unlink()
        real, = set(libraries('liblttng-ust.so.1'))
        (root / 'strange').mkdir()
        shutil.copy(real, root / 'strange' / 'liblttng-ust.so.1')
        newer.unlink()
        touch(root / 'etc' / 'ld.so.conf', b'/strange\n')
        subprocess.run(['ldconfig', '-r', root], check=True, stderr=subprocess.DEVNULL)
        expect('problem', 'only liblttng-ust.so.1 is there', "by the linker's cache")
        cache = root / 'etc' / 'ld.so.cache'
        whole = cache.read_bytes()
        for n in (0, 20, 47, 60, len(whole) // 2, len(whole) - 1):
            cache.write_bytes(whole[:n] + b'\xff' * 9)
            expect('problem', 'needs liblttng-ust.so.0', f'a cache that is damaged at {n}')
    coreclr, _ = runtime(root / 'opt', wants='liblttng-ust.so.1')
    cache.write_bytes(whole)
    with fake(coreclr, root=root) as pid:
        doctor.expect(tap, 'library', 'ok', 'liblttng-ust.so.1 is there',
                      'a runtime that wants the newer one', str(pid))
    coreclr, _ = runtime(root / 'own')
    library(root / 'mine' / 'liblttng-ust.so.0')
    with fake(coreclr, root=root, LD_LIBRARY_PATH='/yours:/mine') as pid:
        doctor.expect(tap, 'library', 'ok', 'is there', 'by LD_LIBRARY_PATH', str(pid))


def test_musl(tap, doctor):
    """Alpine has no package of the old library. With an open port, the library is not needed."""
    files = doctor.directory / 'musl'
    loader = touch(files / 'ld-musl-x86_64.so.1')
    for name, wants, mend in (('a', 'liblttng-ust.so.0', 'clrsym attach'),
                              ('b', 'liblttng-ust.so.1', 'apk add lttng-ust in its root')):
        root = files / name
        coreclr, _ = runtime(root / 'app', wants=wants)
        tmp = root / 'tmp'
        tmp.mkdir()
        # The path of the directory is the same outside and inside.
        inside = root / str(tmp)[1:]
        inside.parent.mkdir(parents=True)
        inside.symlink_to('/tmp')
        for status, port in (('problem', {}), ('note', {'LISTEN': '1', 'VERSION': '10.0.12', 'TMPDIR': str(tmp)})):
            with fake(coreclr, loader, root=root, **port) as pid:
                what = f'musl, {wants}: {status}'
                doctor.expect(tap, 'library', status, f'needs {wants}, which is not installed', what, str(pid), mend=mend)
                doctor.expect(tap, 'provider', status, 'has not loaded', what, str(pid))


def test_process(tap, doctor):
    files = doctor.directory / 'process'
    coreclr, provider = runtime(files)
    with fake(coreclr) as pid:
        doctor.expect(tap, 'provider', 'problem', 'has not loaded', 'not loaded', str(pid))
        provider.unlink()
        doctor.expect(tap, 'provider', 'problem', 'there is no libcoreclrtracept', 'missing',
                      str(pid))
    coreclr, provider = runtime(files)
    for variable, value in (('DOTNET_LTTng', '0'), ('COMPlus_LTTng', '00')):
        with fake(coreclr, **{variable: value}) as pid:
            doctor.expect(tap, 'provider', 'problem', 'DOTNET_LTTng=0', variable, str(pid),
                          mend='start it without')
    tmp = files / 'tmp'
    tmp.mkdir()
    with fake(coreclr, provider, TMPDIR=str(tmp)) as pid:
        doctor.expect(tap, 'provider', 'ok', 'has loaded', 'loaded', str(pid))
        doctor.expect(tap, 'port', 'problem', f'does not listen at a diagnostic port in {tmp}',
                      'no socket', str(pid))
        doctor.expect(tap, 'events-on', 'problem', 'not switched on', 'off', str(pid),
                      mend=f'clrsym attach {pid}')
        doctor.expect(tap, 'clock', 'ok', 'CLOCK_MONOTONIC', 'the usual one', str(pid))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f'{tmp}/dotnet-diagnostic-{pid}-123-socket')
            listener.listen()
            doctor.expect(tap, 'port', 'problem', 'does not listen', "another's socket", str(pid))
    with fake(coreclr, provider, TMPDIR=str(tmp), LISTEN='1') as pid:
        doctor.expect(tap, 'port', 'problem', 'does not answer', 'a socket', str(pid), mend='kill -CONT')
    for version, text in (('10.0.1', 'only those that are needed (.NET 10.0.1)'),
                          ('9.0.20', 'without stacks (.NET 9.0.20)'),
                          ('8.0.31', 'with stacks, which cost it more (.NET 8.0.31)')):
        with fake(coreclr, provider, TMPDIR=str(tmp), LISTEN='1', VERSION=version) as pid:
            doctor.expect(tap, 'port', 'ok', text, version, str(pid))
    with fake(coreclr, TMPDIR=str(tmp), LISTEN='1', VERSION='9.0.20') as pid:
        doctor.expect(tap, 'port', 'note', 'without stacks', 'without a provider', str(pid),
                      mend=f'clrsym attach {pid}')
    with fake(coreclr, provider, TMPDIR=str(tmp), LISTEN='1', VERSION='strange') as pid:
        doctor.expect(tap, 'port', 'problem', 'is not a .NET runtime', 'strange', str(pid))
    with fake(coreclr, provider, TMPDIR=str(tmp), DOTNET_EnableDiagnostics='0') as pid:
        doctor.expect(tap, 'port', 'problem', 'is closed', 'DOTNET_EnableDiagnostics=0', str(pid),
                      mend='clrsym env')
    on_from_start = {'DOTNET_EnableEventLog': '1', 'DOTNET_EventSourceFilter': 'none'}
    with fake(coreclr, provider, DOTNET_EnableDiagnostics='0', **on_from_start) as pid:
        doctor.expect(tap, 'port', 'note', 'is closed', 'it is not needed then', str(pid))
        doctor.expect(tap, 'events-on', 'ok', 'switched on', 'from the start', str(pid))
    with fake(coreclr, provider, DOTNET_EnableEventLog='1') as pid:
        doctor.expect(tap, 'events-on', 'note', 'all its events', 'all of them', str(pid),
                      mend='clrsym env')
    with fake(coreclr, LTTNG_UST_CLOCK_PLUGIN='x.so') as pid:
        doctor.expect(tap, 'clock', 'problem', 'another clock', 'a plugin', str(pid))
    with fake(coreclr, before=('unshare', '--time', '--fork', '--kill-child'), forks=True) as pid:
        doctor.expect(tap, 'clock', 'problem', 'another time namespace', 'a time namespace',
                      str(pid))


def emit(emitter):
    subprocess.run([emitter], check=True, timeout=live.TIMEOUT,
                   env={**os.environ, 'LTTNG_UST_REGISTER_TIMEOUT': '30000'})


def test_session(tap, doctor, emitter):
    lttng = lambda *words: live.run('lttng', '--no-sessiond', *words)
    with live.child(['lttng-sessiond', '--no-kernel'], stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL) as daemon:
        live.wait_for('lttng-sessiond', lambda: subprocess.run(
            ['lttng', '--no-sessiond', 'list'], capture_output=True, check=False).returncode == 0)
        doctor.expect(tap, 'sessiond', 'ok', 'answers', 'there')
        doctor.expect(tap, 'session', 'problem', 'there is no tracing session', 'none',
                      mend='clrsym session start')
        lttng('create', 'other', f'--output={doctor.directory / "other"}')
        lttng('enable-event', '-u', '-s', 'other', 'something:*')
        lttng('start', 'other')
        doctor.expect(tap, 'session', 'problem', "has the runtime's events", 'of something else')
        lttng('destroy', 'other')

        lttng('create', 'part', f'--output={doctor.directory / "part"}')
        lttng('enable-channel', '-u', '-s', 'part', '--subbuf-size=4K', '--num-subbuf=2', 'small')
        lttng('enable-event', '-u', '-s', 'part', '-c', 'small', 'DotNETRuntime:Method*')
        lttng('start', 'part')
        row = doctor.expect(tap, 'events', 'problem', 'DotNETRuntimeRundown:*', 'some are missing')
        doctor.run_mend(row)
        doctor.expect(tap, 'events', 'ok', 'all events', 'fixed')
        row = doctor.expect(tap, 'contexts', 'problem', 'vpid, pid_ns, vtid, procname',
                            'all are missing')
        doctor.run_mend(row)
        doctor.expect(tap, 'contexts', 'ok', 'name their process', 'fixed')
        doctor.run_mend({'fix': 'clrsym session stop part'})

        lttng('create', 'part', f'--output={doctor.directory / "part2"}')
        lttng('enable-channel', '-u', '-s', 'part', '--subbuf-size=4K', '--num-subbuf=2', 'small')
        lttng('enable-event', '-u', '-s', 'part', '-c', 'small', ','.join(EVENTS))
        lttng('add-context', '-u', '-s', 'part', '-c', 'small', '-t', 'vpid', '-t', 'pid_ns')
        lttng('start', 'part')
        doctor.expect(tap, 'contexts', 'note', 'lack the contexts vtid, procname',
                      'some do not stand in the way')
        doctor.expect(tap, 'losses', 'ok', 'no event', 'none')
        for _ in range(20):
            emit(emitter)
            if doctor.findings()['losses']['status'] == 'problem':
                break
        row = doctor.expect(tap, 'losses', 'problem', 'events were discarded', 'small buffers',
                            mend='lttng destroy part; clrsym session start --name part '
                                 f'--output \'{doctor.directory / "part2"}-new\' --buffer-size ')
        size = int(row['fix'].split()[-1].removesuffix('K'))
        tap.check(f' {size}K would suffice' in row['text'] and size >= 128, 'losses: the size', row)
        doctor.run_mend(row)
        emit(emitter)
        doctor.expect(tap, 'losses', 'ok', 'no event', f'fixed: {row["fix"].split()[-1]}')
        doctor.run_mend({'fix': 'clrsym session stop part'})

        coreclr, provider = runtime(doctor.directory / 'registered')
        with fake(coreclr, provider) as pid:
            doctor.expect(tap, 'registered', 'problem', 'not registered with lttng-sessiond', 'not known', str(pid))
        root = doctor.directory / 'container'
        coreclr, provider = runtime(root)
        with fake(coreclr, provider, root=root) as pid:
            doctor.expect(tap, 'registered', 'problem', 'no /run/lttng in its root', 'a container',
                          str(pid), mend='-v /run/lttng')
        with fake(coreclr, provider, before=setpriv()) as pid:
            os.chmod('/run/lttng', 0o700)
            row = doctor.expect(tap, 'registered', 'problem', 'its user may not connect',
                                'not for its user', str(pid), mend='sudo chmod 755 /run/lttng')
            doctor.run_mend({'fix': row['fix'].replace('sudo ', '')})
            doctor.expect(tap, 'registered', 'problem', 'not registered with lttng-sessiond', 'fixed', str(pid))
        test_tracked(tap, doctor)
        test_odd_name(tap, doctor, lttng)
        live.freeze(daemon.pid)
        doctor.expect(tap, 'sessiond', 'problem', 'does not answer', 'stopped')
        daemon.send_signal(signal.SIGCONT)


def test_tracked(tap, doctor):
    """A session that tracks only some processes."""
    coreclr, provider = runtime(doctor.directory / 'tracked')
    with fake(coreclr, provider) as pid, fake(coreclr, provider) as other:
        doctor.run_mend({'fix': f'clrsym session start --name some --track {other} '
                                 f'--output {doctor.directory / "some"}'})
        doctor.expect(tap, 'tracked', 'ok', 'includes it', 'one of them', str(other))
        doctor.expect(tap, 'tracked', 'problem', 'for other processes only', 'none of them',
                      str(pid), mend=f'--track {pid}')
        doctor.run_mend({'fix': 'clrsym session stop some'})


def test_odd_name(tap, doctor, lttng):
    """The fix for a session is a shell command, so odd names must be quoted."""
    name = "it's $(odd)"
    lttng('create', name, f'--output={doctor.directory / "odd-trace"}')
    lttng('enable-channel', '-u', '-s', name, 'one')
    lttng('enable-event', '-u', '-s', name, '-c', 'one', 'DotNETRuntime:Method*')
    lttng('start', name)
    row = doctor.expect(tap, 'events', 'problem', 'the session has no', 'of a session of odd name')
    doctor.run_mend(row)
    row = doctor.expect(tap, 'contexts', 'problem', 'lack the contexts', 'of it, too')
    doctor.run_mend(row)
    doctor.expect(tap, 'contexts', 'ok', 'name their process', 'fixed, by a session of another name')
    done = doctor.programs.run([doctor.programs.clrsym, 'session', 'stop'], env=doctor.environment)
    tap.equal((done.returncode, done.stderr), (0, ''), 'that one is stopped')


def test_own_daemon(tap, doctor):
    """A user's own session daemon, and root's, which the user may not use."""
    home = pathlib.Path('/run/home')
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    as_nobody = {'HOME': str(home), 'LTTNG_HOME': str(home), 'CLRSYM_SESSIONS': str(home / 'place')}
    coreclr, provider = runtime(doctor.directory / 'own')
    nobody = {**as_nobody, 'before': setpriv()}
    with live.child([*setpriv(), 'lttng-sessiond', '--no-kernel'], stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, env={**os.environ, **as_nobody}) as daemon:
        live.wait_for('lttng-sessiond', lambda: subprocess.run(
            [*setpriv(), 'lttng', '--no-sessiond', 'list'], capture_output=True, check=False,
            env={**os.environ, **as_nobody}).returncode == 0, daemon)
        doctor.expect(tap, 'sessiond', 'ok', 'your own', "a user's own", **nobody)
        with fake(coreclr, provider, before=setpriv(), HOME=str(home)) as pid:
            doctor.expect(tap, 'sessiond', 'unknown', f'of the process, in {home}/.lttng',
                          "the process's user's, asked by root", str(pid),
                          mend=f'clrsym doctor {pid}')
        with fake(coreclr, provider, before=setpriv(), HOME='/nowhere') as pid:
            doctor.expect(tap, 'registered', 'problem', 'looks for lttng-sessiond in /nowhere/.lttng',
                          'it looks elsewhere', str(pid), mend='LTTNG_HOME=', **nobody)


def test_live(tap, doctor):
    def session(*words):
        done = doctor.programs.run([doctor.programs.clrsym, 'session', *words],
                                   env=doctor.environment)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    session('start', '--name', 'way', '--relay-output', doctor.directory / 'relay')
    doctor.expect(tap, 'relayd', 'ok', 'listens on 127.0.0.1:5344', 'there')
    row = doctor.expect(tap, 'feed', 'problem', 'no feeder feeds session way', 'none',
                        mend='clrsym feed --session way')
    url = f'net://127.0.0.1:5344/host/{socket.gethostname()}/way'
    with live.child(['babeltrace2', '-i', 'lttng-live', url, '-c', 'sink.utils.dummy'],
                    signal.SIGINT) as viewer:
        live.wait_for('the viewer', lambda: doctor.findings()['feed']['status'] == 'note', viewer)
        doctor.expect(tap, 'feed', 'note', 'another viewer holds session way', 'another viewer')
        with recorded.Daemon(doctor.programs, doctor.directory) as daemon:
            doctor.socket = daemon.query
            doctor.expect(tap, 'feed', 'problem', 'nothing feeds the daemon',
                          'another viewer, and nobody else', mend='pgrep')
            with live.child(['sh', '-c', f'exec {row["fix"]} --socket {daemon.ingest}'],
                            env=doctor.environment, stderr=subprocess.DEVNULL) as feed:
                live.wait_for('the feed', lambda: 'reads its files' in
                              doctor.findings()['feed']['text'], feed)
                doctor.expect(tap, 'feed', 'note', 'another viewer holds the session',
                              'another viewer, and clrsym feed', mend='pgrep')
        doctor.socket = doctor.directory / 'no-daemon'
    with hidden(shutil.which('babeltrace2')):
        doctor.expect(tap, 'feed', 'unknown', 'viewers of session way are unknown',
                      'nothing to ask the relay daemon with')
    with recorded.Daemon(doctor.programs, doctor.directory) as daemon:
        doctor.socket = daemon.query
        with live.child(['sh', '-c', f'exec {row["fix"]} --socket {daemon.ingest}'],
                        env=doctor.environment, stderr=subprocess.DEVNULL) as feed:
            live.wait_for('the feed', lambda: doctor.findings()['feed']['status'] != 'problem',
                          feed)
            tap.equal([name for name, row in doctor.findings().items()
                       if row['status'] in ('problem', 'unknown')], LACKING,
                      'all is well, and the exit status 0')
            end = '1 problem' if LACKING else 'no problem'
            tap.check(doctor.call().stdout.endswith(f'\n{end} found\n'), 'the summary')
        relay = json.loads((doctor.directory / 'place' / 'lttng-relayd').read_text())
        os.kill(relay['pid'], signal.SIGKILL)
        live.wait_for('its end', lambda: doctor.findings()['relayd']['status'] == 'problem')
        row = doctor.expect(tap, 'relayd', 'problem', 'is gone', 'killed')
        doctor.run_mend(row)
        doctor.expect(tap, 'relayd', 'ok', 'listens', 'fixed')
        doctor.expect(tap, 'session', 'ok', 'session way is active', 'and the session with it')
    session('stop', 'way')


def test(tap, programs, directory, rest):
    doctor = Doctor(programs, directory)
    test_nothing(tap, doctor)
    test_babeltrace(tap, doctor)
    test_daemon(tap, doctor)
    test_users(tap, doctor)
    test_hostile(tap, doctor)
    test_runtimes(tap, doctor, rest[1:])
    test_library(tap, doctor)
    test_musl(tap, doctor)
    test_process(tap, doctor)
    test_own_daemon(tap, doctor)
    test_session(tap, doctor, rest[0])
    test_live(tap, doctor)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
