# SPDX-License-Identifier: MIT
"""A recorded program, or one that inherits a recording's environment, runs as without: it waits for nothing, is not
aborted, and starts in any directory and as any user. Timeout: 20 s each."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time

from tests.live import live, runtimes, test_record
from tests.traces import recorded

ROUNDS = '2'
NOBODY = '65534'
WATCHDOG = ['timeout', '-k', '1', '20']
JITTED = re.compile(r'named \((\d+) of (\d+) jitted')


def children(pid):
    return map(int, pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split())


class Scene(test_record.Place):
    """A recording of a program, with a watchdog."""

    def __init__(self, programs, directory, name, command):
        super().__init__(programs, directory, name)
        self.what = name
        self.command = [*WATCHDOG, *map(str, command), ROUNDS]
        # Other users run programs here, too.
        self.temporary.chmod(0o1777)
        self.directory.chmod(0o1777)

    def run(self, *prefix, **variables):
        """(status, it was completed, jitted frames with a name, standard error)"""
        code, output, errors = self.record('-o', 'a.folded', '--', *prefix, *self.command, **variables)
        jitted = JITTED.search(errors)
        return code, 'DONE' in output, int(jitted[1]) if jitted else 0, errors

    def watched(self):
        return ' '.join(map(shlex.quote, self.command))


def start_late(place):
    """A shell's line: in the background, the program once the file `go` is there."""
    late = f'touch ready; while [ ! -e go ]; do sleep 0.1; done; {place.watched()} >late.txt; echo $? >late.rc'
    return f'setsid sh -c {shlex.quote(late)} </dev/null >/dev/null 2>&1 &'


def check_late(tap, place, when):
    (place.directory / 'go').touch()
    status = place.directory / 'late.rc'
    live.wait_for('the late program', lambda: status.exists() and status.read_text())
    tap.equal((status.read_text(), 'DONE' in (place.directory / 'late.txt').read_text()), ('0\n', True),
              f'{place.what}: a program that starts after {when}')


def test_late(tap, place):
    """A server that the command has started starts a program after the recording."""
    place.record('-o', 'a.folded', '--', 'sh', '-c', f'{start_late(place)} exec "$@"', '-', *place.command)
    tap.equal(place.left(), ([], []), f'{place.what}: nothing is left of the recording')
    check_late(tap, place, 'the recording')


def test_killed(tap, place):
    """As test_late, without any process left to clean up."""
    with place.recording('-o', 'a.folded', '--', 'sh', '-c', f'{start_late(place)} sleep 60') as process:
        live.wait_for('the command', (place.directory / 'ready').exists, process)
        # Kill the keeper of its directories, too.
        for pid in [process.pid, *children(process.pid)]:
            os.kill(pid, signal.SIGKILL)
        process.wait()
    check_late(tap, place, 'the recording was killed')


def test_user(tap, place):
    code, done, jitted, errors = place.run('setpriv', f'--reuid={NOBODY}', '--clear-groups', HOME='/nonexistent')
    tap.check((code, done) == (0, True) and jitted > 0, f'{place.what}: another user runs it, with names', code, errors)


def test_unreachable(tap, place):
    """The command runs as a user who cannot reach the recording's socket."""
    code, done, _, errors = place.run('sh', '-c', 'chmod 700 "$(dirname "${DOTNET_DiagnosticPorts%,*}")"; exec setpriv '
                                      f'--reuid={NOBODY} --clear-groups "$@"', '-', HOME='/nonexistent')
    tap.equal((code, done), (0, True), f'{place.what}: it runs {errors if code else ""}')


def test_temporary(tap, place):
    """$TMPDIR that the runtime truncates or cannot read, or in which it cannot create a socket."""
    for name, reason in (('a,b', None), ('a;b', None), ('\udcff', None), ('x' * 100, 'is too long for a socket'),
                         ('missing', 'has no directory')):
        path = place.temporary / name
        if name != 'missing':
            path.mkdir()
            path.chmod(0o1777)
        code, done, jitted, errors = place.run(TMPDIR=str(path))
        tap.check((code, done) == (0, True) and (jitted > 0 or (reason and reason in errors)),
                  f'{place.what} {name!a}: {"names" if jitted else "the reason"}', code, errors)


def test_root(tap, place):
    """A root directory where $TMPDIR is another, is missing, or cannot be written to."""
    with tempfile.TemporaryDirectory(dir='/dev/shm') as shared:
        os.chmod(shared, 0o1777)
        scenes = {
            'another $TMPDIR': (place.temporary, f'mount -t tmpfs none {place.temporary}'),
            'a $TMPDIR that is read-only': (place.temporary, f'mount -t tmpfs -o ro none {place.temporary}'),
            'no $TMPDIR': (shared, 'mount -t tmpfs none /dev/shm'),
        }
        for name, (temporary, mount) in scenes.items():
            code, done, jitted, errors = place.run('unshare', '-m', 'sh', '-c', f'{mount} && exec "$@"', '-',
                                                   TMPDIR=str(temporary))
            tap.check((code, done) == (0, True) and (jitted > 0 or 'diagnostic' in errors),
                      f'{place.what}, {name}: {"names" if jitted else "the reason"}', code, errors)


def test_clock(tap, place):
    """A time namespace, whose clock is hours ahead."""
    code, done, jitted, errors = place.run('unshare', '-T', '--fork', '--monotonic', '9999', '--boottime', '9999')
    tap.check((code, done) == (0, True) and jitted > 0, f'{place.what}: {jitted} jitted frames have names', code, errors)


def clrsym(place, *arguments):
    """The standard output of a successful run."""
    return subprocess.run([place.programs.clrsym, *map(str, arguments)], cwd=place.directory, env=place.environment,
                          check=True, capture_output=True, text=True, timeout=120).stdout


def test_session(tap, place):
    """The cost of the session is not shown as the program's own."""
    code, _, errors = place.record('-F', 3000, '--', *place.command)
    tap.check(code == 0 and ' %  clrsym session' in errors and 'EventSource.DoCommand' not in errors,
              f'{place.what}: a share of its own in the summary, and no row in its tables', code, errors)
    place.record('-F', 3000, *(word for name in ('a.folded', 'a.clrsym') for word in ('-o', name)), '--',
                 *place.command)
    folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
    # A newly copied runtime may have precompiled code without names: then no name shows which stacks belong to a
    # session.
    # Without its outermost frames, a stack can be of the program's own EventListener.
    is_cut = re.compile(r'[^;]+;\[truncated\];').match
    commands = [line for line in folded.splitlines() if 'EventSource.DoCommand' in line]
    stacks = [line for line in commands if not is_cut(line)]
    is_named = '[System.Private.CoreLib.dll]' not in folded
    if not is_named and place.what != '10-session':
        stacks = [line for line in stacks if '[System.Private.CoreLib.dll]' not in line]
    tap.check((stacks or not is_named) and all(re.match(r'[^;]+;\[clrsym session\];', line) for line in stacks),
              f'{place.what}: {len(stacks)} of its stacks, next to the root', *stacks)
    clrsym(place, 'perf', '-i', 'a.clrsym', '-o', 'again.folded', '-o', 'again.svg')
    tap.equal((place.directory / 'again.folded').read_text(encoding='utf-8'), folded,
              f'{place.what}: the same from saved samples')
    picture = (place.directory / 'again.svg').read_text(encoding='utf-8')
    tap.check('diagnostic session' in picture and 'EventSource.DoCommand' in picture,
              f'{place.what}: a colour of its own in the picture')
    clrsym(place, 'perf', '--diff', 'a.clrsym', 'a.clrsym', '-o', 'diff.svg')
    picture = (place.directory / 'diff.svg').read_text(encoding='utf-8')
    is_left_out = 'EventSource.DoCommand' not in picture or not is_named or any(map(is_cut, commands))
    tap.check('Live.Program.Main' in picture and is_left_out,
              f'{place.what}: left out of a comparison')


# Its libraries cannot be loaded then.
WITHOUT_ICU = ['unshare', '-m', 'sh', '-c', 'find /lib/ /usr/lib/ /usr/local/lib/ -name "libicu*.so*" -type f '
               '-exec mount --bind /dev/null {} \\; && exec "$@"', '-']
SETTING = 'DOTNET_SYSTEM_GLOBALIZATION_INVARIANT'
REFUSAL = re.compile(r'^clrsym: a session would abort process \d+, because its root directory has no ICU', re.M)


def test_culture(tap, place, program):
    """A program without cultures, where no library for them exists: a session would abort it."""
    command = [*WITHOUT_ICU, *WATCHDOG, *map(str, program)]
    code, _, errors = place.record('-o', 'a.folded', '--', *command, 1500)
    tap.check(code == 0 and REFUSAL.search(errors), f'{place.what}: it is not attached, and why', code, errors)
    code, _, errors = place.record('-o', 'a.folded', '--', *command, 1500, **{SETTING: '1'})
    tap.check(code == 0 and not REFUSAL.search(errors), f'{place.what}: in invariant mode it is', code, errors)
    end = place.directory / 'end'
    with live.machine(is_shared=False), live.child([*command, 18000, end], env=place.environment) as process:
        live.wait_for('its port', lambda: any(place.temporary.glob('dotnet-diagnostic-*')), process)
        pid = next(place.temporary.glob('dotnet-diagnostic-*')).name.split('-')[2]
        code, _, errors = place.record('-o', 'a.folded', '-d', 1, '-p', pid)
        tap.check(code == 1 and REFUSAL.search(errors), f'{place.what}: -p, the reason', code, errors)
        code, _, errors = place.record('-o', 'a.folded', '-d', 4, '-a')
        tap.check(code == 0 and REFUSAL.search(errors), f'{place.what}: -a, the reason', code, errors)
        end.touch()
        tap.equal(process.wait(20), 0, f'{place.what}: it ends as it would have')


def test_closed(tap, place, program):
    """A short program whose runtime opens no port."""
    code, _, errors = place.record('-o', 'a.folded', '--', *WATCHDOG, *program, 700, DOTNET_EnableDiagnostics='0')
    tap.check(code == 0 and len(re.findall('the diagnostic port of process .* is closed', errors)) == 1,
              f'{place.what}: the reason why it is not attached', code, errors)
    end = place.directory / 'end'
    variables = {'DOTNET_EnableDiagnostics': '0', 'DOTNET_EnableWriteXorExecute': '0'}
    with live.child([*program, 18000, end], env={**place.environment, **variables}) as process:
        time.sleep(1)
        # Left by an earlier process with its pid.
        stale = pathlib.Path(f'/tmp/perf-{process.pid}.map')
        stale.write_text('0 ffffffffffffffff stale_name\n', encoding='ascii')
        os.utime(stale, (time.time() - 3600,) * 2)
        code, _, errors = place.record('-o', 'a.folded', '-d', 1, '-p', process.pid)
        tap.check(code == 0 and re.search(r'jitted code has no names: the diagnostic port of process \d+ is closed', errors),
                  f'{place.what}: -p, the same', code, errors)
        folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
        stale.unlink()
        tap.check('libcoreclr.so' in folded and 'stale_name' not in folded,
                  f'{place.what}: with its native code, and no name of a perf map that is older')
        end.touch()
        tap.equal(process.wait(20), 0, f'{place.what}: it ends as it would have')


def test_settings(tap, place, program):
    """The program's own settings; the environment overrides them. All these programs are attached."""
    assembly = pathlib.Path(program[-1])
    path = assembly.with_suffix('.runtimeconfig.json')
    before = path.read_text(encoding='utf-8')
    for name, value, setting, is_safe in (
            ('System.Globalization.Invariant', True, None, True), ('System.Globalization.Invariant', 'True', None, True),
            ('System.Globalization.Invariant', True, '0', False), ('System.Globalization.Invariant', False, None, False),
            ('System.Diagnostics.Tracing.EventSource.IsSupported', False, '0', True)):
        config = json.loads(before)
        config['runtimeOptions'].setdefault('configProperties', {})[name] = value
        path.write_text(json.dumps(config), encoding='utf-8')
        code, _, errors = place.record('-o', 'a.folded', '--', *WITHOUT_ICU, *WATCHDOG, *program, 1500,
                                       **({SETTING: setting} if setting else {}))
        tap.check(code == 0 and bool(REFUSAL.search(errors)) != is_safe,
                  f'{place.what}: {name}={value}, {SETTING}={setting}', code, errors)
    path.write_text(before, encoding='utf-8')


def test_cultures(tap, programs, directory):
    for version, command in runtimes.commands(tap, __file__, directory / 'silent', 'silent', 'clrsym-silent'):
        test_culture(tap, Scene(programs, directory, f'{version}-culture', command), command)
        test_closed(tap, Scene(programs, directory, f'{version}-closed', command), command)
        if version == '10':
            test_settings(tap, Scene(programs, directory, f'{version}-settings', command), command)
    try:
        packed = live.publish(directory / 'packed', 'net10.0', 'packed')
    except RuntimeError as error:
        tap.skip('packed', f'its runtime is not to be had: {str(error).splitlines()[-1]}')
        return
    place = Scene(programs, directory, 'packed-settings', [packed])
    # It ends at end of file of its standard input.
    code, output, errors = place.record('-o', 'a.folded', '--', *WITHOUT_ICU, *WATCHDOG, packed, 'busy')
    tap.check(code == 0 and 'READY' in output and not REFUSAL.search(errors), 'settings in a single file', code, errors)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.chmod(directory, 0o755)
    if os.geteuid() == 0:
        test_cultures(tap, programs, directory)
    scenes = [test_late, test_killed, test_temporary, test_session]
    if os.geteuid() == 0:
        scenes += [test_user, test_unreachable, test_root, test_clock]
    for version, command in runtimes.commands(tap, __file__, directory / 'app'):
        for scene in scenes:
            scene(tap, Scene(programs, directory, f'{version}-{scene.__name__[5:]}', command))


if __name__ == '__main__':
    if reason := test_record.missing():
        print(f'1..0 # SKIP {reason}')
    else:
        recorded.main(test)
