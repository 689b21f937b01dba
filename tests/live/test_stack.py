# SPDX-License-Identifier: MIT
"""`clrsym stack` of a program whose threads are in known methods, and of its core files, with each runtime. The
program continues unharmed."""

import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

from tests.live import live, runtimes, test_live_lines, test_record
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
DEPTH = 10000
# The methods of a thread, the leaf first; threads in the order of their creation.
STACKS = {**{name: [f'{kind}{part}' for part in ('Inner', 'Middle', 'Outer')]
             for name, kind in {'waits': 'Wait', 'computes': 'Compute', 'native': 'Native'}.items()},
          'deep': ['DeepInner', *['Deep'] * (DEPTH + 1), 'DeepOuter']}
OWN = re.compile(r'Stacks\.Program\.(\w+)(?:\.async#\d+)?\(')
CONTINUED = '[continued after await]'
# The runtime walks at most so many frames of a stack.
MOST_WALKED = 100
TRUNCATED, ELSEWHERE = '[truncated]', '[native code, or waiting]'
WALKS = 'ptrace', 'runtime'
CRASHES = 'failfast', 'overflow', 'throw', 'null'
OPTIMIZED = 'DOTNET_TieredCompilation=0'
STOPPED = re.compile(r'process (\d+) was stopped for ([\d.]+) ms, with (\d+) threads')
FEW, MANY = 3, 200
# Seizes a process (PTRACE_SEIZE), which continues.
TRACE = 'import ctypes, sys, time; print(ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), 0, 0), flush=True); time.sleep(600)'


def program_of_32_bits(path):
    """An ELF file for i386 that calls pause() again and again."""
    code = bytes.fromhex('b81d000000' 'cd80' 'ebf7')
    base, size = 0x8048000, 52 + 32
    header = b'\x7fELF\1\1\1' + bytes(9) + struct.pack('<HHIIIIIHHHHHH', 2, 3, 1, base + size, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack('<8I', 1, 0, base, base, size + len(code), size + len(code), 5, 0x1000)
    path.write_bytes(header + segment + code)
    path.chmod(0o755)


def stack(place, *arguments):
    """(status, stdout, stderr)"""
    done = subprocess.run([place.programs.clrsym, 'stack', *map(str, arguments)], env=place.environment, text=True,
                          cwd=place.directory, capture_output=True, timeout=live.TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


class Program:
    """A program with threads at known places."""

    def __init__(self, process):
        self.process = process
        live.wait_for('READY', lambda: process.stdout.readline() == 'READY\n', process)

    def counts(self):
        """Progress of the threads that compute, and that alternate with native code."""
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        return tuple(map(int, self.process.stdout.readline().split()))

    def is_going_on(self):
        before = self.counts()
        return live.wait_for('a program that goes on', lambda: all(a > b for a, b in zip(self.counts(), before)), self.process)

    def crash(self, how='failfast'):
        self.process.stdin.write(f'{how}\n')
        self.process.stdin.flush()
        self.process.wait(300)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(live.TIMEOUT)


def started(place, command, threads, *more):
    return live.child([*command, threads, *more], env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def own_methods(frames):
    """The program's own methods, as StackTrace has them: the leaf first."""
    return [found[1] for frame in frames if (found := OWN.match(frame['name'] or ''))]


def wrong_stacks(threads):
    """Wrong stacks of the threads that the program has created."""
    return [(thread['name'], own_methods(thread['frames'])[:5]) for thread in threads if thread['name'] in STACKS
            and own_methods(thread['frames']) != STACKS[thread['name']]]


def continued(threads):
    """Own methods and marks of the thread that continues after an await, if one does."""
    for thread in threads:
        if 'AwaitBlocks' in own_methods(thread['frames']):
            return [found[1] if (found := OWN.match(frame['name'] or '')) else frame['name'] for frame in thread['frames']
                    if frame['name'] == CONTINUED or OWN.match(frame['name'] or '')]
    return None


def test_await(tap, place, program, what):
    """The methods that await it are not on its stack."""
    def look():
        output = live.run(place.programs.clrsym, 'stack', program.process.pid, '--json', env=place.environment)
        return continued(map(json.loads, output.splitlines()))

    found = live.wait_for('a method that continues', look)
    tap.equal(found, ['AwaitBlocks', 'AwaitInner', CONTINUED], f'{what}: where the methods are missing that await')
    output = live.run(place.programs.clrsym, 'stack', program.process.pid, '--stacks', 'physical', env=place.environment)
    tap.check('WaitInner' in output and CONTINUED not in output, f'{what}: --stacks physical')


def test_json(tap, place, program, n, what):
    pid = program.process.pid
    code, output, errors = stack(place, pid, '--json', '-v')
    threads = [json.loads(line) for line in output.splitlines()] if code == 0 else []
    tids = {int(name) for name in os.listdir(f'/proc/{pid}/task')}
    names = [thread['name'] for thread in threads]
    tap.equal((code, *map(names.count, STACKS)), (0, n, 1, 1, 1), f'{what}: {n + 3} threads are there')
    tap.check(not wrong_stacks(threads), f'{what}: their methods, in order', *wrong_stacks(threads)[:5], errors)
    # A session of the runtime has a thread of its own, which has ended by now.
    tap.check(tids <= {thread['tid'] for thread in threads}, f'{what}: and all others', tids, names)
    for thread in threads:
        if thread['name'] == 'native':
            tap.check(thread['frames'][0]['kind'] == 'native' and 'nanosleep' in thread['frames'][0]['name'],
                      f'{what}: native code has its name', thread['frames'][0])
    found = STOPPED.search(errors)
    tap.check(found and int(found[1]) == pid and int(found[3]) == len(threads), f'{what}: how long it was stopped is printed', errors)
    if found:
        tap.note(f'{what}: {found[3]} threads were stopped for {found[2]} ms')


def test_wait(tap, place, program, what, is_reported, walk):
    """If a session exists, .NET 11 reports the methods that await the continued ones."""
    what = f'{what}, {walk}'
    known, unknown = ['AwaitBlocks', 'AwaitInner', 'AwaitMiddle', 'AwaitOuter', CONTINUED], ['AwaitBlocks', 'AwaitInner', CONTINUED]
    seen = []

    def look():
        code, output, errors = stack(place, program.process.pid, '--wait=1', f'--walk={walk}', '--json')
        threads = [json.loads(line) for line in output.splitlines()]
        found = continued(threads)
        seen.append((code, found, 'does not report that' in errors))
        awaiting = [own_methods([frame])[0] for thread in threads for frame in thread['frames'] if frame['is_awaiting']]
        # The thread may be between two calls of AwaitBlocks.
        return found and awaiting and (found, awaiting) if is_reported else found

    def is_right(code, found, is_told):
        """On a slow machine, the runtime may report nothing in that time, and the command says so."""
        if is_reported and found == known:
            return code == 0 and not is_told
        return code == 0 and found in (None, unknown) and (is_told or is_reported)

    found = live.wait_for('a method that continues', look)
    if is_reported:
        tap.equal(found, (known, known[2:4]), f'{what}: --wait: the methods that await')
    tap.check(all(is_right(*row) for row in seen), f'{what}: --wait: never others', seen)


def threads_named(pid, name):
    return sum(path.read_text(encoding='utf-8').strip() == name for path in pathlib.Path(f'/proc/{pid}/task').glob('*/comm'))


def test_walk(tap, place, program, n, what):
    """The runtime's own walk of threads with managed code."""
    pid = program.process.pid
    code, output, errors = stack(place, pid, '--walk=runtime', '--json', '-v')
    threads = {thread['tid']: thread for thread in map(json.loads, output.splitlines())}
    names = [thread['name'] for thread in threads.values()]
    comms = {int(path.parent.name): path.read_text(encoding='utf-8').strip() for path in pathlib.Path(f'/proc/{pid}/task').glob('*/comm')}
    tap.equal((code, *map(names.count, STACKS)), (0, n, 1, 1, 1), f'{what}, runtime: its threads are there')
    tap.check(all(comms.get(tid, thread['name']) == thread['name'] for tid, thread in threads.items()),
              f'{what}, runtime: with their names and ids', names)
    tap.equal([wrong for wrong in wrong_stacks(threads.values()) if wrong[0] != 'deep'], [], f'{what}, runtime: their methods, in order')
    for thread in threads.values():
        frames = [frame['name'] for frame in thread['frames']]
        if thread['name'] == 'deep':
            # A frame also shows whether the thread is in native code.
            tap.check(frames[-1] == TRUNCATED and len(frames) == MOST_WALKED + 2 and own_methods(thread['frames'])[:3] == STACKS['deep'][:3],
                      f'{what}, runtime: a deep stack is cut', frames[:5], len(frames))
        if thread['name'] == 'computes':
            tap.check(frames[0] != ELSEWHERE, f'{what}, runtime: a thread in managed code', frames[:3])
    tap.check(all(thread['frames'][0]['name'] == ELSEWHERE for thread in threads.values() if thread['name'] == 'waits'),
              f'{what}, runtime: threads that wait')
    tap.check(re.search(rf'the runtime of process {pid} has walked the stacks of {len(threads)} of \d+ threads in [\d.]+ ms', errors)
              and 'was stopped' not in errors, f'{what}, runtime: how long it took', errors)
    tap.note(f'{what}: {errors.splitlines()[-1]}')


def test_interrupted(tap, place, program, what):
    """The runtime's session ends, even after an interrupt."""
    pid = program.process.pid
    # One thread serves the port.
    live.wait_for('the end of sessions', lambda: threads_named(pid, '.NET EventPipe') <= 1)
    with live.child([place.programs.clrsym, 'stack', pid, '--walk=runtime'], signal.SIGINT, env=place.environment, cwd=place.directory,
                    stdout=subprocess.DEVNULL) as process:
        live.wait_for('a session', lambda: threads_named(pid, '.NET EventPipe') > 1 or process.poll() is not None)
    live.wait_for('the end of sessions', lambda: threads_named(pid, '.NET EventPipe') <= 1)
    tap.check(program.is_going_on(), f'{what}, runtime: after SIGINT its sessions end, and it goes on')
    live.wait_for('nothing that is left', lambda: place.left() == ([], []))


def test_text(tap, place, program, what):
    pid = program.process.pid
    code, output, errors = stack(place, pid, '--lines', '--explain', '--style', 'short')
    tap.check(code == 0 and re.search(rf'^{FEW} threads: (\d+, ){{{FEW - 1}}}\d+ \(waits\)$', output, re.MULTILINE),
              f'{what}: threads with one stack are printed once', output, errors)
    tap.check(len(re.findall(r'Program\.WaitInner\+0x[0-9a-f]+ \(clrsym-stacks\.dll\) at \S+Program\.cs:\d+ \{event\}', output)) == 1,
              f'{what}: with lines and the source of names', output)
    # The innermost call has another call site.
    tap.check(re.search(rf'Program\.Deep\+.*\n\t\[the same {DEPTH - 1} times more\]\n', output), f'{what}: a recursion is folded', output)
    code, output, errors = stack(place, pid, '--all')
    tap.equal((code, len(re.findall(r'^thread \d+ \(waits\)$', output, re.MULTILINE)), output.count('Program.WaitInner('),
               output.count('Program.Deep(')), (0, FEW, FEW, DEPTH + 1), f'{what}: --all prints each')


def check_core(tap, place, daemon, core, what, is_certain=True):
    check_core_threads(tap, *stack(place, core, '--json', *daemon.source), what, is_certain)


def check_core_threads(tap, code, output, errors, what, is_certain=True):
    """A core file has no names of threads: their methods identify them."""
    frames = [frame for line in output.splitlines() for frame in json.loads(line)['frames']]
    stacks = [methods for line in output.splitlines() if (methods := own_methods(json.loads(line)['frames']))
              and not methods[0].startswith('Await')]
    want = [['Main'], *STACKS.values(), *[STACKS['waits']] * (FEW - 1)]
    tap.check(code == 0 and sorted(stacks) == sorted(want), f'{what}: the methods of all threads', code,
              [methods[:5] for methods in stacks], errors)
    if is_certain:
        tap.check(all(frame['is_certain'] for frame in frames), f'{what}: all names are certain', errors)


def createdump_of(pid):
    library = next(line.split()[-1] for line in pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8').splitlines()
                   if line.endswith('/libcoreclr.so'))
    return pathlib.Path(library).with_name('createdump')


def test_cores(tap, place, command, what):
    """Core files of gcore and createdump while the program continues; with the daemon that knows it."""
    place.environment |= {'CLRSYM_HOLDER': str(place.directory / 'holder')}
    full = place.directory / 'full'
    with recorded.Daemon(place.programs, place.directory) as daemon:
        place.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}
        with started(place, command, FEW, 'more') as process:
            program = Program(process)
            live.run(place.programs.clrsym, 'attach', process.pid, *daemon.source, env=place.environment)
            code, output, errors = stack(place, process.pid)
            tap.check(code == 0 and 'Stacks.Program.WaitInner()' in output and '.NET EventPipe' in output and ' ~\n' not in output,
                      f'{what}: with a daemon that knows it', output, errors)
            code, output, errors = stack(place, process.pid, '--walk=runtime')
            tap.check(code == 0 and 'Stacks.Program.WaitInner()' in output and ' ~\n' not in output,
                      f'{what}: with that daemon, by the runtime', output, errors)
            if shutil.which('gcore'):
                live.run('gcore', '-o', place.directory / 'core', process.pid)
                check_core(tap, place, daemon, place.directory / f'core.{process.pid}', f'{what}, gcore')
            else:
                tap.skip(f'{what}, gcore', 'no gcore')
            createdump = createdump_of(process.pid)
            if not os.access(createdump, os.X_OK):
                tap.skip(f'{what}, createdump', f'{createdump} cannot be executed')
                return
            live.run(createdump, '--full', '-f', full, process.pid)
            check_core(tap, place, daemon, full, f'{what}, createdump')
            program.crash()
            live.wait_for('the end', lambda: '"state":"exited"' in stack_ps(place, daemon))
            # Events that the program had not sent yet are missing.
            check_core(tap, place, daemon, full, f'{what}, a core file of before', is_certain=False)
        os.truncate(full, full.stat().st_size // 2)
        code, _, errors = stack(place, full, *daemon.source)
        tap.check(code == 0 and 'the core file is truncated' in errors, f'{what}: half of a core file', code, errors)
    code, output, errors = stack(place, full, '--socket', place.directory / 'none')
    tap.check(code == 1 and not output, f'{what}: a daemon that is not there', code, errors)


def told_methods(errors):
    """The runtime's message about a crash: the program's methods, the leaf first, a recursion once; and its depth."""
    depth = re.search(r'^Repeat(?:ed)? (\d+) times:', errors, re.MULTILINE)
    return re.findall(r'^   at Stacks\.Program\.(\w+)\(', errors, re.MULTILINE), int(depth[1]) if depth else 0


def check_crash(tap, place, daemon, core, errors, what):
    """The crashed thread has the methods of the runtime's message."""
    code, output, messages = stack(place, core, '--json', *daemon.source)
    threads = [own_methods(json.loads(line)['frames']) for line in output.splitlines()]
    crashed = [methods for methods in threads if 'CrashInner' in methods]
    folded = [[name for i, name in enumerate(methods) if i == 0 or name != methods[i - 1]] for methods in crashed]
    told, depth = told_methods(errors)
    tap.equal((code, folded), (0, [told]), f'{what}: the methods of the thread that crashed')
    tap.equal([methods.count('Overflow') for methods in crashed], [depth], f'{what}: how deep it was')
    waiting = threads.count(STACKS['waits'])
    tap.check(waiting == FEW, f'{what}: and those of others', waiting, messages)


def check_lost(tap, place, daemon, core, _, what):
    """The runtime's own frames do not have the stack pointer, and the method has no frame pointer: its caller is lost, and the
    stack says so."""
    code, output, messages = stack(place, core, '--json', *daemon.source)
    after = []
    for line in output.splitlines():
        names = [frame['name'] or '' for frame in json.loads(line)['frames']]
        after += [names[i + 1:i + 2] for i, name in enumerate(names) if '.Overflow(' in name][:1]
    tap.check(code == 0 and after in ([['[no caller]']], [['[caller unknown: no frame pointer]']]),
              f'{what}: a lost caller has its reason', code, after, messages)


def test_crashes(tap, place, command, what):
    """Each kind of crash: in a core file of the kernel, and in one with few pages of libraries, as createdump
    writes by default."""
    pattern = pathlib.Path('/proc/sys/kernel/core_pattern').read_text(encoding='utf-8').strip()
    limits = ['/bin/sh', '-c', 'ulimit -s 1024; ulimit -c unlimited; exec "$@"', 'sh']
    for how, *settings in *((how,) for how in CRASHES), ('overflow', OPTIMIZED):
        check = check_lost if settings else check_crash
        inside = test_record.Place(place.programs, place.directory, how)
        inside.environment |= {'CLRSYM_HOLDER': str(inside.directory / 'holder')}
        dump, told = inside.directory / 'dump', inside.directory / 'told'
        dumped = ['/usr/bin/env', *settings, 'DOTNET_DbgEnableMiniDump=1', f'DOTNET_DbgMiniDumpName={dump}']
        with recorded.Daemon(inside.programs, inside.directory) as daemon, open(told, 'w', encoding='utf-8') as errors:
            inside.environment |= {'CLRSYM_INGEST': str(daemon.ingest), 'CLRSYM_SOCKET': str(daemon.query)}
            with live.child([*limits, *dumped, *command, FEW], env=inside.environment, cwd=inside.directory, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=errors, text=True) as process:
                program = Program(process)
                createdump = createdump_of(process.pid)
                live.run(inside.programs.clrsym, 'attach', process.pid, *daemon.source, env=inside.environment)
                program.crash(how)
                live.wait_for('the end', lambda: '"state":"exited"' in stack_ps(inside, daemon))
            text = told.read_text(encoding='utf-8')
            if os.access(createdump, os.X_OK):
                check(tap, inside, daemon, dump, text, f'{what}, {how}, {settings}, createdump')
            else:
                tap.skip(f'{what}, {how}, {settings}, createdump', f'{createdump} cannot be executed')
            if pattern == 'core':
                core, = inside.directory.glob('core*')
                check(tap, inside, daemon, core, text, f'{what}, {how}, {settings}, the kernel')
            else:
                tap.skip(f'{what}, {how}, {settings}, the kernel', f'kernel.core_pattern is {pattern}')
        shutil.rmtree(inside.directory)


def test_runtime_async(tap, place, command, directory, what):
    """The same program with runtime async methods, without state machines."""
    assembly = pathlib.Path(command[-1]).name
    directory.mkdir()
    compiler = test_live_lines.Compiler(directory, runtimes.NEWEST)
    compiler.compile(assembly, HERE / 'stacks' / 'Program.cs', '-optimize+', '-features:runtime-async=on')
    config = pathlib.Path(assembly).with_suffix('.runtimeconfig.json').name
    shutil.copy(pathlib.Path(command[-1]).with_name(config), directory / config)
    with started(place, [*command[:-1], directory / assembly], FEW, 'more') as process:
        program = Program(process)
        test_await(tap, place, program, what)
        for walk in WALKS:
            test_wait(tap, place, program, what, True, walk)
        tap.equal(program.end(), 0, f'{what}: the program ends as ever')


def test_closed(tap, place, command, what):
    """Without a port, only the stop is possible."""
    with started(place, ['/usr/bin/env', 'DOTNET_EnableDiagnostics=0', *command], FEW, 'more') as process:
        program = Program(process)
        code, output, errors = stack(place, process.pid, '--walk=runtime')
        tap.check((code, output) == (1, '') and f'the diagnostic port of process {process.pid} is closed' in errors,
                  f'{what}: a port that is closed', code, errors)
        code, output, errors = stack(place, process.pid)
        tap.check(code == 0 and 'nanosleep' in output, f'{what}: its stop', errors)
        tap.equal(program.end(), 0, f'{what}: the program ends as ever')


def test_mapped_once(tap, place, command, what):
    """Without the runtime's file in memory, code is read from the process's memory: no caller is a guess."""
    with started(place, ['/usr/bin/env', 'DOTNET_EnableWriteXorExecute=0', *command], FEW, 'more') as process:
        program = Program(process)
        code, output, errors = stack(place, process.pid, '--json', '--registers')
        threads = [json.loads(line) for line in output.splitlines()]
        waiting = [thread for thread in threads if thread['name'] == 'waits']
        tap.check(code == 0 and len(waiting) == FEW and not wrong_stacks(threads), f'{what}: without W^X, the methods of all threads',
                  *wrong_stacks(threads)[:5], errors)
        guesses = [frame['name'] for thread in waiting for frame in thread['frames']
                   if OWN.match(frame['name'] or '') and not frame['registers']]
        tap.equal(guesses, [], f'{what}: without W^X, their frames are certain')
        tap.equal(program.end(), 0, f'{what}: the program ends as ever')


def stack_ps(place, daemon):
    return live.run(place.programs.clrsym, 'ps', '--json', *daemon.source, env=place.environment)


def test_refusals(tap, place):
    child = subprocess.Popen(['sleep', '600'])
    try:
        code, output, errors = stack(place, child.pid)
        tap.check(code == 0 and 'nanosleep' in output and 'is not a .NET process' in errors, 'a native program', output, errors)
        namespace = os.stat('/proc/self/ns/pid').st_ino
        for pid in child.pid, f'{namespace}:{child.pid}':
            code, output, errors = stack(place, '-p', pid)
            tap.check(code == 0 and 'nanosleep' in output, 'the same by -p', output, errors)
        with live.child([sys.executable, '-c', TRACE, child.pid], stdout=subprocess.PIPE, text=True) as tracer:
            tap.equal(tracer.stdout.readline(), '0\n', 'a tracer has it')
            code, output, errors = stack(place, child.pid)
            tap.check(code == 1 and f'is traced already, by process {tracer.pid}' in errors, 'one that is traced', output, errors)
        code, output, errors = stack(place, child.pid)
        tap.check(code == 0, 'and once the tracer has ended', output, errors)
    finally:
        child.kill()
        child.wait()
    for argument, text in ((child.pid, f'there is no process {child.pid}'), ('2000000000', 'there is no process'),
                           ('abc', 'cannot open the core file abc'), (place.directory, 'it is not a regular file'),
                           ('/proc/self/exe', 'it is a program or a library, not a core file'), (__file__, 'it is not a core file')):
        code, output, errors = stack(place, argument)
        tap.check(code == 1 and text in errors and not output, f'stack {argument if argument != child.pid else "of one that has ended"}',
                  code, errors)
    code, output, errors = stack(place)
    tap.equal((code, output), (2, ''), 'without PID')


def test_32_bits(tap, place):
    path = place.directory / 'other'
    program_of_32_bits(path)
    try:
        child = subprocess.Popen([path])
    except OSError as error:
        # tests/unit/test-moment.c has the refusal on every machine.
        tap.note(f'no 32-bit program runs on this kernel: {error.strerror}')
        return
    try:
        code, output, errors = stack(place, child.pid)
        tap.check(code == 1 and 'is a program of 32 bits' in errors and not output, 'a program of 32 bits', code, errors)
        tap.equal(child.poll(), None, 'it goes on')
    finally:
        child.kill()
        child.wait()


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version, command in runtimes.commands(tap, __file__, directory, 'stacks', 'clrsym-stacks'):
        place = test_record.Place(programs, directory, f'place-{version}')
        for n in FEW, MANY:
            what = f'.NET {version}, {n} threads'
            with started(place, command, n, 'more') as process:
                program = Program(process)
                test_json(tap, place, program, n, what)
                if n == FEW:
                    test_text(tap, place, program, what)
                    test_await(tap, place, program, what)
                    for walk in WALKS:
                        test_wait(tap, place, program, what, version == runtimes.NEWEST, walk)
                    test_interrupted(tap, place, program, what)
                test_walk(tap, place, program, n, what)
                tap.check(program.is_going_on(), f'{what}: the program goes on')
                tap.equal(program.end(), 0, f'{what}: and ends as ever')
        tap.equal(place.left(), ([], []), f'.NET {version}: nothing is left')
        if version == runtimes.NEWEST:
            test_runtime_async(tap, place, command, directory / f'async-{version}', f'.NET {version}, runtime async')
        test_closed(tap, place, command, f'.NET {version}')
        test_mapped_once(tap, place, command, f'.NET {version}')
        test_cores(tap, test_record.Place(programs, directory, f'cores-{version}'), command, f'.NET {version}')
        test_crashes(tap, test_record.Place(programs, directory, f'crashes-{version}'), command, f'.NET {version}')
    place = test_record.Place(programs, directory, 'refusals')
    test_refusals(tap, place)
    test_32_bits(tap, place)


if __name__ == '__main__':
    recorded.main(test)
