# SPDX-License-Identifier: MIT
"""gdb with plugins/gdb/clrsym.py: the stacks of a program whose threads are in known methods, and of its core files,
with each runtime. Native frames are gdb's own."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from tests.live import live, runtimes, test_record, test_stack
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
EXTENSION = HERE.parent.parent / 'plugins/gdb/clrsym.py'
THREAD = re.compile(r'Thread \d+ \(.*LWP (\d+)\)[^\n]*:\n')
OWN = re.compile(r'(?:0x[0-9a-f]+ in )?Stacks\.Program\.(\w+)\(.* at .*/Program\.cs:\d+$')
FEW, MANY = 3, 60
# Prints "PCS TID [[pc, ...], ...]": the program counters of gdb's frames, without inferred frames of inlined functions
# and tail calls.
ALL_PCS = '''python
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append(frame.pc())
        frame = frame.older()
    print('PCS', thread.ptid[1], pcs)
'''
# Substitutes for clrsym that fail -> the message about the failure.
TROUBLES = {
    'slow': ('exec sleep 600', 'has not answered within 1 s'),
    'junk': ('head -c 100000 /dev/zero', 'has printed no JSON'),
    'other': ('echo \'{"tid":1,"frames":[{"registers":{"rip":"zz"}},7]}\'', 'has given no stacks'),
    'silent': ('exit 0', 'has printed nothing'),
    'killed': ('kill -9 $$', 'has printed nothing'),
}


def gdb(place, target, *commands, program=None, commands_file=None):
    """(status, output) of gdb with the extension."""
    lines = ['set pagination off', 'set debuginfod enabled off', f'source {EXTENSION}', f'set clrsym program {program or place.programs.clrsym}']
    words = [word for line in [*lines, *commands] for word in ('-ex', line)] + (['-x', commands_file] if commands_file else [])
    done = subprocess.run(['gdb', '-nx', '-batch', *map(str, target), *map(str, words)], env=place.environment, cwd=place.directory,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          timeout=live.TIMEOUT, check=False)
    return done.returncode, done.stdout


def stacks(output):
    """tid -> lines of its frames, from `thread apply all bt`."""
    parts = THREAD.split(output)
    return {int(tid): [line.split(' ', 1)[1].strip() for line in text.splitlines() if line.startswith('#')]
            for tid, text in zip(parts[1::2], parts[2::2])}


def own_methods(frames):
    """The program's own methods, the leaf first."""
    return [found[1] for frame in frames if (found := OWN.match(frame))]


def wanted(n):
    return sorted([['Main']] + [[f'{kind}{part}' for part in ('Inner', 'Middle', 'Outer')] for kind in ('Compute', 'Native', *['Wait'] * n)])


def check_stacks(tap, output, n, what):
    found = stacks(output)
    methods = {tid: own for tid, frames in found.items() if (own := own_methods(frames))}
    tap.equal(sorted(methods.values()), wanted(n), f'{what}: the methods of all threads, in order')
    bottoms = [re.findall(r'(start_thread|clone3?|__libc_start_main_impl|_start) ', ' '.join(found[tid][-3:])) for tid in methods]
    tap.check(all(bottoms), f'{what}: each stack leads to where its thread began', output)


def check_addresses(tap, place, output, arguments, what):
    """gdb's program counters are those of clrsym stack, except for threads that ran in between."""
    pcs = {int(tid): json.loads(text) for tid, text in re.findall(r'^PCS (\d+) (\[.*\])$', output, re.MULTILINE)}
    _, text, errors = test_stack.stack(place, *arguments, '--json', '--registers')
    threads = [json.loads(line) for line in text.splitlines()]
    waiting = [thread for thread in threads if test_stack.own_methods(thread['frames'])[:1] in (['WaitInner'], ['Main'])]
    wrong = [(thread['tid'], pcs.get(thread['tid']), walked) for thread in waiting
             if pcs.get(thread['tid']) != (walked := [int(frame['address'], 16) for frame in thread['frames']])]
    tap.check(waiting and not wrong, f'{what}: the frames of {len(waiting)} threads, native ones included, are those of clrsym stack',
              *wrong[:2], errors)


def counted(place):
    """A clrsym that counts its calls: it writes a line to the file for each."""
    calls, path = place.directory / 'calls', place.directory / 'counted'
    path.write_text(f'#!/bin/sh\necho call >> {calls}\nexec {place.programs.clrsym} "$@"\n', encoding='utf-8')
    path.chmod(0o755)
    calls.touch()
    return path, calls


def test_live(tap, place, daemon, command, n, what):
    """The attached program. With few threads, its core files, too."""
    commands = place.directory / 'commands'
    commands.write_text(ALL_PCS + 'end\n', encoding='utf-8')
    path, calls = counted(place)
    calls.write_text('', encoding='utf-8')
    with test_stack.started(place, command, n) as process:
        program = test_stack.Program(process)
        live.run(place.programs.clrsym, 'attach', process.pid, *daemon.source, env=place.environment)
        code, output = gdb(place, ['-p', process.pid], 'thread apply all bt', program=path, commands_file=commands)
        tap.equal(code, 0, f'{what}: gdb ends well')
        check_stacks(tap, output, n, what)
        tap.equal(calls.read_text(encoding='utf-8'), 'call\n', f'{what}: clrsym is asked once for all threads')
        check_addresses(tap, place, output, [process.pid], what)
        tap.check(program.is_going_on(), f'{what}: the program goes on')
        if n == FEW:
            test_cores(tap, place, process.pid, what)
            if what.startswith(f'.NET {runtimes.OWN},'):
                test_troubles(tap, place, process.pid, what)
        tap.equal(program.end(), 0, f'{what}: and ends as ever')


def test_cores(tap, place, pid, what):
    """Core files of gcore and createdump."""
    live.run('gcore', '-o', place.directory / 'core', pid)
    library = next(line.split()[-1] for line in pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8').splitlines()
                   if line.endswith('/libcoreclr.so'))
    program, createdump = os.readlink(f'/proc/{pid}/exe'), pathlib.Path(library).with_name('createdump')
    cores = {'gcore': place.directory / f'core.{pid}'}
    if os.access(createdump, os.X_OK):
        cores['createdump'] = place.directory / 'dump'
        live.run(createdump, '--full', '-f', cores['createdump'], pid)
    else:
        tap.skip(f'{what}, createdump', f'{createdump} cannot be executed')
    for name, core in cores.items():
        code, output = gdb(place, [program, core], 'thread apply all bt')
        check_stacks(tap, output, FEW, f'{what}, {name}')
        tap.equal(code, 0, f'{what}, {name}: gdb ends well')
        core.unlink()


def check_ends(tap, output, what, reason):
    """Nothing is guessed: unknown managed frames end the stack, with the reason."""
    found = stacks(output)
    ends = [frames for frames in found.values() if any('[callers unknown' in frame for frame in frames)]
    tap.check(ends and all('[callers unknown' in frames[-1] for frames in ends) and not any(own_methods(frames) for frames in found.values()),
              f'{what}: unknown frames end their stacks', output)
    tap.check(reason in output, f'{what}: the reason is there', output)


def test_troubles(tap, place, pid, what):
    """A clrsym that fails."""
    for name, (script, reason) in TROUBLES.items():
        path = place.directory / name
        path.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
        path.chmod(0o755)
        code, output = gdb(place, ['-p', pid], 'set clrsym timeout 1', 'thread apply all bt', program=path)
        tap.equal(code, 0, f'{what}, {name}: gdb ends well')
        check_ends(tap, output, f'{what}, {name}', reason)
    code, output = gdb(place, ['-p', pid], 'thread apply all bt', program=place.directory / 'none')
    check_ends(tap, output, f'{what}, no clrsym', 'cannot be run: No such file')


def test_daemons(tap, place, command, what):
    """No daemon, and a daemon that ends between two stops."""
    with test_stack.started(place, command, FEW) as process:
        test_stack.Program(process)
        code, output = gdb(place, ['-p', process.pid], 'thread apply all bt', 'info clrsym')
        tap.equal(code, 0, f'{what}, no daemon: gdb ends well')
        check_ends(tap, output, f'{what}, no daemon', f'no daemon knows process {process.pid}')
        with recorded.Daemon(place.programs, place.directory) as daemon:
            place.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}
            live.run(place.programs.clrsym, 'attach', process.pid, *daemon.source, env=place.environment)
            code, output = gdb(place, ['-p', process.pid], 'thread apply all bt', f'shell kill -9 {daemon.process.pid}',
                               f'shell while kill -0 {daemon.process.pid} && ! grep -q "State:.Z" /proc/{daemon.process.pid}/status; do :; done',
                               'flushregs', 'set clrsym timeout 10', 'echo SECOND\\n', 'thread apply all bt')
            first, second = output.split('SECOND\n')
            tap.equal(code, 0, f'{what}, a daemon that is killed: gdb ends well')
            check_stacks(tap, first, FEW, f'{what}, before the daemon is killed')
            check_ends(tap, second, f'{what}, a daemon that is killed', 'no daemon knows process')
        process.kill()


def test_native(tap, place):
    """gdb alone handles a program without a runtime."""
    path, calls = counted(place)
    with live.child(['sleep', '600']) as child:
        code, output = gdb(place, ['-p', child.pid], 'bt', program=path)
        tap.check(code == 0 and 'nanosleep' in output and '__libc_start_main' in output, 'a native program', output)
        tap.equal(calls.read_text(encoding='utf-8'), '', 'a native program: clrsym is not asked')
        child.kill()


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    if not shutil.which('gdb'):
        tap.skip('gdb', 'no gdb')
        return
    for version, command in runtimes.commands(tap, __file__, directory, 'stacks', 'clrsym-stacks'):
        place = test_record.Place(programs, directory, f'place-{version}')
        place.environment |= {'CLRSYM_HOLDER': str(place.directory / 'holder')}
        test_daemons(tap, place, command, f'.NET {version}')
        with recorded.Daemon(programs, place.directory) as daemon:
            place.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}
            for n in FEW, MANY:
                test_live(tap, place, daemon, command, n, f'.NET {version}, {n} threads')
    test_native(tap, test_record.Place(programs, directory, 'native'))


if __name__ == '__main__':
    recorded.main(test)
