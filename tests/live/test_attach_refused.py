# SPDX-License-Identifier: MIT
"""The reasons for which `clrsym attach` fails, each caused on purpose, and its messages. And
`clrsym env`."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

from tests.live import alone, live, runtimes
from tests.traces import recorded


# A user without processes; not "nobody", who may have some.
USER = 64999
TRACER = 'liblttng-ust.so.0'


class Cases:
    def __init__(self, tap, programs, directory, command):
        self.tap, self.programs, self.directory, self.command = tap, programs, directory, command
        self.n = 0

    def clrsym(self, *arguments, **options):
        return self.programs.run([self.programs.clrsym, *arguments], **options)

    @contextlib.contextmanager
    def program(self, user=None, prefix=(), wait=True, **variables):
        """The live program, which waits; yields its process."""
        self.n += 1
        directory = self.directory / f'program-{self.n}'
        directory.mkdir()
        if user is not None:
            os.chown(directory, user, user)
        output = directory / 'output'
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith('DOTNET_')}
        with open(output, 'w', encoding='utf-8') as text, \
             live.child([*prefix, *self.command, '1'], stdin=subprocess.PIPE,
                        stdout=text, user=user, stderr=subprocess.DEVNULL,
                        env={**environment, 'TMPDIR': str(directory), **variables}) as process:
            if wait:
                live.wait_for('the program', lambda: 'READY' in output.read_text(), process)
            else:
                live.wait_for('its port', lambda: list(directory.glob('dotnet-diag*')), process)
            process.directory = directory
            yield process

    def refused(self, pid, kind, words, what, via='auto', **options):
        """The error is on stderr, in one line, and with --json on stdout."""
        arguments = ['attach', str(pid), '--wait=0', f'--via={via}']
        done = self.clrsym(*arguments, **options)
        self.tap.check(done.returncode == 1 and done.stderr.count('\n') == 1 and not done.stdout
                       and done.stderr.startswith('clrsym: ') and words in done.stderr,
                       f'{what}: {done.stderr.strip()}', done.returncode, done.stdout)
        done = self.clrsym(*arguments, '--json', **options)
        row = json.loads(done.stdout or '{}')
        self.tap.check(done.returncode == 1 and row.get('state') == 'failed'
                       and row['error']['kind'] == kind and row['pid'] == pid,
                       f'{what}: with --json, too', done.stdout, done.stderr)


def refusals(cases):
    with live.child(['sleep', '60']) as process:
        cases.refused(process.pid, 'not-dotnet', 'is not a .NET process', 'another program')
    cases.refused(process.pid, 'no-process', 'there is no process', 'one that has ended')
    with cases.program(DOTNET_EnableDiagnostics='0') as process:
        cases.refused(process.pid, 'port-off', 'without DOTNET_EnableDiagnostics=0', 'port closed')
    with cases.program(DOTNET_LTTng='0') as process:
        cases.refused(process.pid, 'no-provider', 'DOTNET_LTTng=0', 'provider off', 'lttng')
    with cases.program() as process:
        for path in process.directory.glob('dotnet-diagnostic-*'):
            path.unlink()
        cases.refused(process.pid, 'no-port', 'it was removed', 'socket removed')
    with cases.program() as process:
        live.freeze(process.pid)
        cases.refused(process.pid, 'silent', f'kill -CONT {process.pid}', 'stopped')
        process.send_signal(signal.SIGCONT)
        done = cases.clrsym('attach', str(process.pid), '--wait=0')
        cases.tap.check(done.returncode == 0 and ': held, .NET' in done.stdout
                        and ', but the daemon at' in done.stdout,
                        'it goes on: held, without a daemon', done.stdout, done.stderr)


def no_tracer(cases):
    """The library that the runtime's provider needs is missing for that process."""
    found = subprocess.run(['find', '/lib', '/usr/lib', '/usr/local/lib', '-name', TRACER + '*',
                            '-type', 'f'], stdout=subprocess.PIPE, text=True, check=False)
    mounts = ' && '.join(f'mount --bind /dev/null {path}' for path in found.stdout.split())
    prefix = ['unshare', '-m', 'sh', '-c', mounts + ' && exec "$@"', 'sh']
    with cases.program(prefix=prefix) as process:
        cases.refused(process.pid, 'no-provider', f'clrsym doctor {process.pid} has the reason',
                      'no tracer in its root', 'lttng')
        done = cases.clrsym('doctor', str(process.pid))
        cases.tap.check(f'needs {TRACER}' in done.stdout, 'and doctor names it', done.stdout,
                        done.stderr)


def suspended(cases):
    with cases.program(wait=False, DOTNET_DefaultDiagnosticPortSuspend='1') as process:
        done = cases.clrsym('attach', str(process.pid), '--wait=0')
        cases.tap.check(done.returncode == 0 and 'attached before its start' in done.stdout,
                        f'waits to be let go: {done.stdout.strip()}', done.stderr)


def no_daemon(cases):
    with cases.program() as process:
        done = cases.clrsym('attach', str(process.pid), '--socket', '/nonexistent/query')
        cases.tap.check(done.returncode == 1 and ': held, .NET' in done.stdout
                        and 'attached' not in done.stdout + done.stderr
                        and 'is held, but the daemon at' in done.stderr,
                        f'no daemon: {done.stderr.strip()}', done.stdout)
        with recorded.Daemon(cases.programs, cases.directory) as daemon:
            done = cases.clrsym('attach', str(process.pid), *daemon.source, '--wait=1')
            cases.tap.check(done.returncode == 1 and ': held, .NET' in done.stdout
                            and 'is held, but the daemon at' in done.stderr,
                            f'no session: {done.stderr.strip()}', done.stdout)


def users(cases):
    """Root's holder serves the owners of processes; a user's holder has the user's permissions."""
    roots = {**cases.programs.environment}
    own = {**roots, 'CLRSYM_HOLDER': str(cases.directory / 'own')}
    pathlib.Path(own['CLRSYM_HOLDER']).mkdir()
    os.chown(own['CLRSYM_HOLDER'], USER, USER)
    with cases.program() as process, cases.program(USER) as theirs:
        cases.refused(process.pid, 'not-allowed', 'run clrsym as that user, or as root',
                      "another user's, by a holder of one's own", env=own, user=USER)
        done = cases.clrsym('attach', '--user', str(USER), '--wait=0', '--json')
        cases.tap.check(done.returncode == 0 and [json.loads(line)['pid'] for line
                                                  in done.stdout.splitlines()] == [theirs.pid],
                        'attach --user, by root', done.stdout, done.stderr)
        cases.refused(process.pid, 'not-allowed', 'belongs to another user',
                      "another user's, by root's holder", env=roots, user=USER)
        cases.clrsym('attach', str(process.pid), '--wait=0')
        done = cases.clrsym('attach', '--list', '--json', env=roots, user=USER)
        cases.tap.check([json.loads(line)['pid'] for line in done.stdout.splitlines()]
                        == [theirs.pid], 'a user sees but the own', done.stdout, done.stderr)
        done = cases.clrsym('detach', str(process.pid), env=roots, user=USER)
        cases.tap.check(done.returncode == 1 and 'belongs to another user' in done.stderr,
                        "nor can it detach root's", done.stderr)
        done = cases.clrsym('detach', '--user', str(USER), env=roots, user=USER)
        cases.tap.equal((done.returncode, done.stdout), (0, f'{theirs.pid}: detached\n'),
                        'detach --user, by that user')
        done = cases.clrsym('detach', '--all')
        cases.tap.equal((done.returncode, done.stdout), (0, f'{process.pid}: detached\n'),
                        'detach --all, by root')


def several(cases):
    with cases.program() as process, live.child(['sleep', '60']) as other:
        done = cases.clrsym('attach', '--wait=0', str(other.pid), str(process.pid), '2147483647')
        cases.tap.check(done.returncode == 1 and done.stdout.startswith(f'{process.pid}: held')
                        and done.stderr.count('\n') == 2 and 'is not a .NET' in done.stderr,
                        'one of three can be held, and is', done.stdout, done.stderr)


def leftovers(cases):
    """Files in a holder's directory, of processes that have ended, and of one that is still there."""
    holder = cases.directory / 'left'
    holder.mkdir()
    environment = {**cases.programs.environment, 'CLRSYM_HOLDER': str(holder)}
    for name, text in (('1-1', '5 1 7\n'), ('2147483647-5', ''), ('remark', 'x')):
        (holder / name).write_text(text)
    with cases.program() as process:
        ticks = live.start_ticks(process.pid)
        (holder / f'{process.pid}-{ticks}').write_text('nonsense\n')
        done = cases.clrsym('attach', '--wait=0', '--json', str(process.pid), env=environment)
        row = json.loads(done.stdout or '{}')
        cases.tap.check(done.returncode == 0 and row['state'] == 'attached' and not row['new'],
                        'a process that was left attached is attached again', done.stdout,
                        done.stderr)
        names = {path.name for path in holder.iterdir()}
        cases.tap.equal(names, {'control', 'port', 'remark', f'{process.pid}-{ticks}'},
                        'those that are no more are forgotten')
        cases.clrsym('detach', str(process.pid), env=environment)


def usage(cases):
    for arguments, code, words in (
            (['attach'], 2, 'one of PID, --all and --user'),
            (['attach', '--all', '1'], 2, 'one of PID, --all and --user'),
            (['attach', '--list', '1'], 2, 'one of PID'),
            (['detach'], 2, 'one of PID'),
            (['attach', 'x'], 1, 'x is not a PID'),
            (['attach', '0'], 1, '0 is not a PID'),
            (['attach', '--user', 'no such'], 1, 'there is no such user'),
            (['detach', '--user', 'no such'], 1, 'there is no such user'),
            (['env', '--format', 'x'], 1, 'not one of sh, env, systemd, docker')):
        done = cases.clrsym(*arguments)
        cases.tap.check(done.returncode == code and words in done.stderr and not done.stdout,
                        f'clrsym {" ".join(arguments)}: {done.stderr.strip()}', done.returncode)
    done = cases.clrsym('attach', '--list', '--json',
                        env={**cases.programs.environment, 'CLRSYM_HOLDER': '/nonexistent'})
    cases.tap.equal((done.returncode, done.stdout, done.stderr), (0, '', ''),
                    'without a holder nothing is attached')
    broken = cases.directory / 'broken'
    (broken / 'control').mkdir(parents=True)
    done = cases.programs.run([cases.programs.clrsym, 'attach', str(os.getpid())],
                              env={**cases.programs.environment, 'CLRSYM_HOLDER': str(broken)})
    cases.tap.check(done.returncode == 1 and done.stdout == '' and
                    f'clrsym-holder --directory {broken}' in done.stderr,
                    'a holder that cannot start: how to see why', done.stderr)


def environment(cases):
    """Each format, as its reader reads it."""
    def names(text, prefix):
        lines = [line for line in text.split('\n') if line]
        return dict(line[len(prefix):].split('=', 1) for line in lines if line.startswith(prefix))

    wanted = names(cases.clrsym('env', '--format', 'env').stdout, '')
    cases.tap.check(set(wanted) == set(live.ENVIRONMENT) and all(
        wanted[name] == value for name, value in live.ENVIRONMENT.items()
        if name != 'DOTNET_EventSourceFilter'), 'env has the variables', wanted)
    more = names(cases.clrsym('env', '--inlines', '--format', 'env').stdout, '')
    config = wanted['DOTNET_LTTngConfig'] + ',Microsoft-Windows-DotNETRuntimePrivate:40000:5'
    cases.tap.equal(more, {**wanted, 'DOTNET_LTTngConfig': config, 'DOTNET_RichDebugInfo': '1'},
                    'with --inlines, the runtime reports what it inlines, too')
    script = cases.clrsym('env').stdout + '\nenv'
    done = cases.programs.run(['sh', '-c', script], env={'PATH': os.environ['PATH']})
    cases.tap.equal(names(done.stdout, 'DOTNET_'),
                    {name[7:]: value for name, value in wanted.items()}, 'sh can evaluate it')
    text = cases.clrsym('env', '--format', 'systemd').stdout
    cases.tap.equal(names(text, 'Environment='), wanted, 'lines for a unit')
    words = cases.clrsym('env', '--format', 'docker').stdout.split()
    cases.tap.check(words[0::2] == ['-e'] * len(wanted)
                    and dict(word.split('=', 1) for word in words[1::2]) == wanted,
                    'words for docker run', words)


def test(tap, programs, directory, _):
    for _, command, place in runtimes.runs(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        programs.environment['CLRSYM_HOLDER'] = str(place / 'holder')
        cases = Cases(tap, programs, place, command)
        for part in (usage, environment, refusals, no_tracer, suspended, no_daemon, users, several,
                     leftovers):
            part(cases)
        for name in ('holder', 'own', 'left'):
            control = place / name / 'control'
            live.wait_for('the end of a holder, which has nothing to hold', lambda path=control: not path.exists())


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), lambda: live.missing() or (
        None if os.geteuid() == 0 else 'it takes root to be others'))
