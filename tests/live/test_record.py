# SPDX-License-Identifier: MIT
"""`clrsym record`: one command from a program to its flame graph; no files remain, whatever ends it."""

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tests.live import live, runtimes
from tests.perf import perftool
from tests.profile import readers
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
NAMED = re.compile(r'(\d+) samples, (\d+) managed frames: ([\d.]+)% named')
PROGRESS = re.compile(r'clrsym: (\d+) s, (\d+) samples, 1 \.NET process\x1b\[K')
# Executable: begin, size, offset in the file.
MAPPING = re.compile(r'\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*?: ..x')
# Percent of the managed frames: the JIT may compile others at the last moment.
LEAST_NAMED = 97


# A frame of the program's own: its method, and its source and line.
OWN_FRAME = re.compile(r'Live\.(?:\w+\.)*(\w+)\([^;]*\):(\w+\.cs):(\d+)$')
SOURCES = HERE / 'app'
# A frame with the name of its source's file, and the line.
SOURCE_FRAME = re.compile(r'(.+):([^:;/]+\.[a-z]+):(\d+)$')


def check_markers(tap, path):
    """For Firefox Profiler: each sample of a compilation is within a marker of its thread."""
    n, lost = 0, []
    for thread in readers.read_firefox(path)['threads']:
        markers, strings = thread['markers'], thread['stringArray']
        compilations = [(begin, end, data['text']) for begin, end, data, name in
                        zip(markers['startTime'], markers['endTime'], markers['data'], markers['name'])
                        if strings[name] == 'Compilation']
        for stack, time in readers.firefox_samples(thread):
            for name, _ in stack:
                if name.startswith('compiling '):
                    n += 1
                    if not any(begin <= time <= end and f'compiling {text}' == name for begin, end, text in compilations):
                        lost.append((thread['name'], time, name))
    tap.check(n > 5 and not lost, f'markers of compilations: of {n} samples', *lost[:3])


def calls(folded):
    """(caller's source line, callee's name) of each call from one method of the program to another."""
    for line in folded.splitlines():
        frames = [OWN_FRAME.match(frame) for frame in line.rsplit(' ', 1)[0].split(';')]
        for caller, callee in zip(frames, frames[1:]):
            if caller and callee:
                text = (SOURCES / caller[2]).read_text(encoding='utf-8').splitlines()
                yield text[int(caller[3]) - 1], callee[1]


class Place:
    """A directory for `clrsym record`, with places that must stay empty."""

    def __init__(self, programs, directory, name):
        self.programs = programs
        self.directory = pathlib.Path(directory) / name
        self.directory.mkdir()
        # Short paths, for sockets.
        self.temporary = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.environment = {name: value for name, value in programs.environment.items()
                            if not name.startswith(('DOTNET_', 'COMPlus_', 'CLRSYM_'))}
        self.environment |= {name: value for name, value in programs.environment.items()
                             if name in ('CLRSYM_DLFILTER', 'CLRSYM_DAEMON')}
        self.environment |= {'TMPDIR': str(self.temporary), 'HOME': str(self.directory)}

    @contextlib.contextmanager
    def recording(self, *arguments, prefix=(), **variables):
        with live.child([*prefix, self.programs.clrsym, 'record', *map(str, arguments)],
                        cwd=self.directory, env={**self.environment, **variables}, text=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        start_new_session=True) as process:
            yield process

    def record(self, *arguments, prefix=(), **variables):
        """(status, stdout, stderr). PREFIX: a command that runs another."""
        with self.recording(*arguments, prefix=prefix, **variables) as process:
            output, errors = process.communicate(timeout=240)
        return process.returncode, output, errors

    def processes(self):
        """Processes with an open file of the recording, or with its directory in their command lines."""
        found = []
        for path in pathlib.Path('/proc').glob('[0-9]*'):
            with contextlib.suppress(OSError):
                if str(self.temporary).encode() + b'/clrsym-record' in (
                        path / 'cmdline').read_bytes():
                    found.append(int(path.name))
        return found

    def left(self):
        """Leftovers: files except .NET's own, and processes."""
        return [path.name for path in self.temporary.iterdir()
                if path.name.startswith('clrsym')], self.processes()


def has_port(place, pid):
    return any(place.temporary.glob(f'dotnet-diagnostic-{pid}-*'))


def excerpts(html):
    """(number of excerpts of the program's source in a page, excerpts that no source file contains)."""
    files = [path.read_text(encoding='utf-8').splitlines() for path in (HERE / 'app').glob('*.cs')]
    texts = re.findall(r'\[(\d+)((?:,"(?:[^"\\]|\\.)*")+)\]', html[html.index('"sources":'):])
    pieces = [(int(first), json.loads(f'[{lines[1:]}]')) for first, lines in texts]
    own = [piece for piece in pieces if any(len(line) > 20 and line in lines for lines in files for line in piece[1])]
    return len(own), [piece for piece in own if not any(
        lines[piece[0] - 1:piece[0] - 1 + len(piece[1])] == piece[1] for lines in files)]


def test_command(tap, place, command):
    outputs = [word for ending in ('html', 'folded', 'clrsym', 'firefox.json.gz') for word in ('-o', f'a.{ending}')]
    code, output, errors = place.record('--lines', '-F', 999, *outputs, '--', 'sh', '-c',
                                        f'{" ".join(map(str, command))} 60 </dev/null; exit 7')
    counts = NAMED.search(errors)
    tap.equal(code, 7, 'the status of the command is passed on')
    tap.check('READY' in output and 'DONE' in output, 'it had its output', output[-200:])
    tap.check(counts and int(counts[1]) > 100 and float(counts[3]) > LEAST_NAMED,
              'its frames are named', errors)
    folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
    tap.check('Live.Program.Main(string[])' in folded and 'Live.DynamicMethods.Make' in folded,
              'from the first instruction of a program that the command started', folded[:500])
    lines = set(calls(folded))
    # In optimized code the runtime knows lines only where the evaluation stack is empty.
    right = [name for line, name in lines if name in line]
    tap.check(len(right) > 3 and len(right) > len(lines) / 2,
              'the source line of a caller has the name of what it calls there', lines)
    found = re.search(r'(\d+) of (\d+) named frames have a source line; without one: .*?(\d+) whose PDB was not found',
                      errors)
    tap.check(found and 0 < int(found[1]) <= int(found[2]) - int(found[3]) and 'be given: --symbols DIR' in errors,
              'why other frames have no line, and what to do', errors)
    jit = re.search(r'(\d+) samples in the JIT, (\d+) of them with', errors)
    # On a busy machine the attach is late.
    before = re.search(r'(\d+) samples in the JIT are from times at which their process was not attached', errors)
    tap.check(jit and int(jit[1]) > 10 and int(jit[2]) > 0.9 * (int(jit[1]) - (int(before[1]) if before else 0)) > 5,
              'what the JIT compiles is shown', errors)
    check_markers(tap, place.directory / 'a.firefox.json.gz')
    html = (place.directory / 'a.html').read_text(encoding='utf-8')
    tap.check(re.search(r'"files":\["[^]]*/Program.cs"', html), 'the picture has the sources')
    n, wrong = excerpts(html)
    tap.check(n > 3 and not wrong, f'and the text around their hot lines: {n} pieces', *wrong[:2])
    tap.check('Live.Program.Main(string[])' in html and
              re.search(r'compiling \S.*Dyn_\d+_\d+', html) and not
              (place.directory / 'clrsym-record.html').exists(), 'the outputs that were named')
    tap.check(re.search(r';compiling [^;]*Dyn_\d+_\d+[^;]* \(\w+\);\[libclrjit\.so\]', folded),
              'folded stacks have what the JIT compiles, too', folded[:500])
    done = subprocess.run([place.programs.clrsym, 'perf', '-i', 'a.clrsym', '-o', 'b.html', '-o', 'b.folded'],
                          cwd=place.directory, check=False, capture_output=True, text=True,
                          env={**place.environment, 'PATH': '/nowhere'})
    again = (place.directory / 'b.html').read_text(encoding='utf-8')
    tap.equal((done.returncode, done.stderr.splitlines()),
              (0, ['clrsym: the flame graph is in b.html', 'clrsym: the folded stacks are in b.folded']),
              'saved samples are written without perf')
    tap.check('Live.Program.Main(string[])' in again and 'compiling ' in again, 'the same from the saved samples', done)
    tap.equal((place.directory / 'b.folded').read_text(encoding='utf-8'), folded, 'and the same folded stacks')
    tap.equal(place.left(), ([], []), 'and nothing else is left')


def test_explain(tap, place, command):
    """Text has the source of each frame's name; other forms cannot have it."""
    code, _, errors = place.record('--explain', '--tiers', '-o', 'a.txt', '-o', 'a.folded', '--', *command, '5')
    text = (place.directory / 'a.txt').read_text(encoding='utf-8')
    sources = set(re.findall(r'^\s+[0-9a-f]+ .* \{([^{}]+)\}$', text, re.M))
    tap.check(code == 0 and {'event', 'ELF symbol'} <= sources, f'explained by {sorted(sources)}', code, errors, text[:500])
    tap.check(re.search(r'Live\.Program\.\w+\(.*\) \[\w+\] .*\{event\}$', text, re.M), 'with the tier', text[:500])
    tap.check('{event}' not in (place.directory / 'a.folded').read_text(encoding='utf-8'), 'folded stacks are as ever')
    for option in '--explain', '--tiers':
        code, _, errors = place.record(option, '-o', 'b.html', '--', 'touch', place.directory / 'ran')
        tap.equal((code, errors, (place.directory / 'ran').exists()),
                  (1, 'clrsym: only text has what --tiers and --explain add: add --output FILE.txt\n', False),
                  f'{option} without text')


def test_precompiled(tap, place, _):
    """The F# compiler is precompiled, with its PDB inside; events name most of its code without a token."""
    (place.directory / 'a.fsx').write_text('printfn "%d" (List.sum [ for i in 1..100 -> i ])\n', encoding='utf-8')
    names = ['a.folded', 'a.speedscope.json', 'a.pb.gz']
    code, output, errors = place.record('--lines', *(word for name in names for word in ('-o', name)), '--',
                                        'dotnet', 'fsi', '--exec', 'a.fsx')
    folded, speedscope, pprof = (place.directory / name for name in names)
    frames = [frame for line in folded.read_text(encoding='utf-8').splitlines()
              for frame in line.rsplit(' ', 1)[0].split(';')]
    lines = {match.groups() for match in map(SOURCE_FRAME.match, frames) if match}
    of_compiler = [bool(SOURCE_FRAME.match(frame)) for frame in frames if frame.startswith('FSharp.Compiler.')]
    tap.check(code == 0 and '5050' in output and len(of_compiler) > 1000 and
              of_compiler.count(True) > 0.9 * len(of_compiler),
              f'{of_compiler.count(True)} of {len(of_compiler)} frames of the F# compiler have a line', code, errors)
    known = json.loads(speedscope.read_text(encoding='utf-8'))['shared']['frames']
    tap.equal({(frame['name'], frame['file'].rsplit('/', 1)[-1], str(frame['line']))
               for frame in known if 'line' in frame}, lines, 'speedscope has them, too')
    tap.equal({(name, file.rsplit('/', 1)[-1], str(line)) for name, file, line in readers.Pprof(pprof).lines}, lines,
              'and pprof')


def check_native_callers(tap, place, program):
    """Up to the first .NET frame, where perf stops, callers are those of perf. perf shows the call and the offset
    in the file; we show the return address and the address."""
    def script(*arguments):
        return subprocess.run(['perf', 'script', '-i', data, '--no-inline', *arguments], check=True, env=place.environment,
                              capture_output=True, text=True).stdout

    def addresses(text):
        return [[frame.address for frame in sample.frames] for sample in perftool.samples(text)]

    def place_in_file(address):
        start, offset = next(((start, offset) for start, end, offset in maps if start <= address < end), (0, 0))
        return address - start + offset

    data = place.directory / 'stacks.data'
    command = ['perf', 'record', '-q', '-e', 'cpu-clock:u', '-k', 'mono', '-F', '499', '--call-graph', 'dwarf,32768',
               '-p', program.pid, '-o', data, '--', 'sleep', '1']
    try:
        live.run(*command, env=place.environment)
    except RuntimeError as error:
        # perf exits without a message if a thread ends just before perf opens it.
        if not str(error).endswith('exit 255: '):
            raise
        live.run(*command, env=place.environment)
    maps = [(int(match[1], 16), int(match[1], 16) + int(match[2], 16), int(match[3], 16))
            for match in MAPPING.finditer(script('--show-mmap-events', '-F', 'comm'))]
    theirs = addresses(script())
    trace = recorded.unpack(place.directory, ['hello'])['hello']
    done = subprocess.run([place.programs.clrsym, 'perf', '--force', '--trace', trace, '-i', data], check=False,
                          capture_output=True, text=True, env=place.environment)
    ours = [[place_in_file(address) - (i > 0) for i, address in enumerate(stack)] for stack in addresses(done.stdout)]
    same = sum(own[:len(other)] == other for own, other in zip(ours, theirs))
    longer = sum(len(own) > len(other) for own, other in zip(ours, theirs))
    tap.check(len(theirs) > 30 and len(ours) == len(theirs) and same >= 0.98 * len(theirs) and longer > 0.9 * len(theirs),
              f'{same} of {len(theirs)} stacks begin as perf unwinds them, {longer} go on', len(ours), done.stderr,
              [pair for pair in zip(ours, theirs) if pair[0][:len(pair[1])] != pair[1]][:2])


def test_process(tap, place, command):
    with live.child([*command, 'busy'], env={**place.environment, 'DOTNET_LTTng': '0'},
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        live.wait_for('the program', lambda: has_port(place, program.pid), program)
        code, _, errors = place.record('-p', program.pid, '-d', 1)
        counts = NAMED.search(errors)
        tap.check(code == 0 and counts and float(counts[3]) > LEAST_NAMED,
                  'a running process', code, errors)
        tap.check('JIT\n' in errors and 'METHOD, WITH WHAT IT CALLED' in errors and
                  'Live.Program.Main(string[])' in errors, 'with a summary', errors)
        tap.check((place.directory / 'clrsym-record.html').exists(), 'and a flame graph')
        tap.equal((place.left(), program.poll()), (([], []), None), 'which goes on, without a trace')
        with live.child(['true']) as ended:
            ended.wait()
        # It keeps a CPU busy, and must not be in the recording.
        with live.child([sys.executable, '-c', 'while True: pass']):
            code, _, errors = place.record('-p', f'{program.pid},{ended.pid}', '-d', 1, '-o', 'a.folded')
        stacks = (place.directory / 'a.folded').read_text().splitlines() if code == 0 else []
        tap.check(not any(stack.startswith(pathlib.Path(sys.executable).name) for stack in stacks),
                  'no other process is in it', stacks[:3])
        tap.check(code == 0 and NAMED.search(errors) and f'no process {ended.pid}' in errors and
                  "the runtime's own sampler" not in errors, 'beside one that is not there any more', code, errors)
        code, _, errors = place.record('-p', program.pid, '-g', 'dwarf', '-d', 1, '-o', 'a.folded')
        stacks = (place.directory / 'a.folded').read_text().splitlines() if code == 0 else []
        callers = [stack for stack in stacks if 'Live.Program.Main(string[]);' in stack]
        tap.check(code == 0 and NAMED.search(errors) and callers and 'callers are missing' not in errors,
                  '--call-graph dwarf has callers', code, errors, stacks[:3])
        check_native_callers(tap, place, program)


def test_packed(tap, place, _):
    """Precompiled code of a single-file program with compressed assemblies is not in any file."""
    try:
        program = live.publish(place.directory / 'app', 'net10.0', 'packed')
    except RuntimeError as error:
        tap.skip('a single-file program', str(error).splitlines()[-1])
        return
    for name, limit in {'that ends by itself': [], 'that goes on': ['-d', 5]}.items():
        # More often than by default, because a fast machine finishes soon.
        with place.recording('-F', 3999, '-o', 'a.folded', *limit, '--', program, 'busy') as process:
            time.sleep(2)
            _, errors = process.communicate('' if not limit else None, timeout=120)
        counts = NAMED.search(errors)
        folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
        tap.check(process.returncode in (0, 128 + signal.SIGTERM) and counts and int(counts[1]) > 100 and
                  float(counts[3]) > LEAST_NAMED and 'System.Reflection.Emit.' in folded,
                  f'a compressed single-file program {name}', process.returncode, errors)
        # On a busy machine the recording may end before the last events.
        jitted = re.findall(r'Live\.DynamicMethods\.\S+\([^;]*?\)( ~)?', folded)
        tap.check(len(jitted) > 10 and jitted.count(' ~') * 10 < len(jitted),
                  f'its jitted code is certain: {jitted.count(" ~")} of {len(jitted)} frames are not', folded[:500])
        tap.equal(place.left(), ([], []), 'nothing is left')


def check_single(tap, place, program, kind):
    with place.recording('-F', 1999, '--lines', '-o', 'a.folded', '--', program, 'busy') as process:
        time.sleep(2)
        _, errors = process.communicate('', timeout=120)
    # No mapping shows compressed assemblies: their code looks jitted.
    counts = re.search(r'(\d+) of \d+ ' + ('precompiled' if kind == 'single' else 'jitted'), errors)
    # A sample of jitted code may precede the event of its map.
    lacking = re.search(r'(\d+) without an IL offset', errors)
    tap.check(process.returncode == 0 and counts and int(counts[1]) > 50 and (not lacking or int(lacking[1]) < 5),
              f'a single-file program that has ended ({kind}): precompiled frames have IL offsets', process.returncode,
              errors)


def test_single(tap, place, _):
    """An ended single-file program: its file has the IL offsets of its precompiled code."""
    for kind in 'single', 'packed':
        try:
            program = live.publish(place.directory / f'ended-{kind}', 'net10.0', kind)
        except RuntimeError as error:
            tap.skip(f'a single-file program ({kind})', str(error).splitlines()[-1])
        else:
            check_single(tap, place, program, kind)


@contextlib.contextmanager
def on_terminal(place, *arguments):
    """The process, and a generator of its output so far."""
    master, slave = pty.openpty()

    def read():
        text = b''
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(master, 65536):
                text += piece
                yield text.decode(errors='replace')

    with live.child([place.programs.clrsym, 'record', *map(str, arguments)], cwd=place.directory,
                    env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        yield process, read()
    os.close(master)


def test_child(tap, place, command):
    """Child processes are named, too, although they start after the recording."""
    with live.child([*command, 'parent', 30], env={**place.environment, 'DOTNET_LTTng': '0'},
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        live.wait_for('the program', lambda: has_port(place, program.pid), program)
        with on_terminal(place, '-p', program.pid, '-o', 'a.folded') as (process, printed):
            text = next(text for text in printed if PROGRESS.search(text))
            program.communicate(b'\n', timeout=120)
            *_, text = [text, *printed]
            process.wait(120)
        folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
        counts = NAMED.search(text)
        tap.check(process.returncode == 0 and counts and float(counts[3]) > LEAST_NAMED and
                  'Live.DynamicMethods.Make' in folded, 'what a process starts later is named', text)


def test_strangers(tap, place, command):
    """Children that cannot connect to the recording's port: one has another file system there, as in a container,
    and would wait forever; one has another environment."""
    scenes = {'another file system': ['unshare', '-m', *([] if os.geteuid() == 0 else ['-r']), 'sh', '-c',
                                      f'mount -t tmpfs none {place.temporary} && "$@" 30', '-', *command],
              'another environment': ['env', '-i', f'PATH={os.environ["PATH"]}', f'TMPDIR={place.temporary}',
                                      f'HOME={place.directory}', *command, 30]}
    for name, words in scenes.items():
        code, output, errors = place.record('-o', 'a.folded', '--', *words)
        counts = NAMED.search(errors)
        tap.check(code == 0 and 'DONE' in output and counts and float(counts[3]) > LEAST_NAMED, name, code, errors)
        tap.equal(place.left(), ([], []), 'nothing is left')


def test_closed(tap, place, command):
    """A program whose runtime may not open a port: the reason for jitted code without names is printed once."""
    code, output, errors = place.record('-o', 'a.folded', '--', *command, 60, DOTNET_EnableDiagnostics='0')
    tap.check(code == 0 and 'DONE' in output and
              len(re.findall(r'^clrsym: the diagnostic port of process \d+ is closed: start it without '
                             r'DOTNET_EnableDiagnostics=0', errors, re.M)) == 1, 'a closed port', code, errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_unwritten(tap, place, command):
    """If the output is not writable at the end, the named samples are kept."""
    for name in ('a.html', 'a.folded'):
        (place.directory / 'there').mkdir()
        code, _, errors = place.record('-o', f'there/{name}', '--', 'sh', '-c', 'rmdir there; exec "$@" </dev/null', '-',
                                       *command, 10)
        kept = re.search(r'^clrsym: the named samples are in (\S+\.clrsym): ', errors, re.M)
        tap.check(code == 1 and kept and f'there/{name}' in errors, f'{name} is not written', code, errors)
        done = subprocess.run([place.programs.clrsym, 'perf', '-i', kept[1], '-o', 'kept.html'], cwd=place.directory,
                              capture_output=True, text=True, check=False, timeout=120)
        tap.check(done.returncode == 0 and 'Live.Program.Main(string[])' in (
            place.directory / 'kept.html').read_text(encoding='utf-8'), 'but from what was kept', done)
        pathlib.Path(kept[1]).unlink()
    tap.equal(place.left(), ([], []), 'nothing else is left')


def test_killed_daemon(tap, place, command):
    """If the recording's daemon is killed, there are samples without names."""
    with place.recording('-o', 'a.folded', '--', *command, 'busy') as process:
        process.stdout.readline()
        time.sleep(0.5)
        daemons = [pid for pid in place.processes()
                   if b'clrsymd' in pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')[0]]
        for pid in daemons:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
        _, errors = process.communicate('', timeout=120)
    kept = re.search(r"^clrsym: the recording's own clrsymd was killed, .* the samples are in (\S+\.data): "
                     r'.* clrsym report -i', errors, re.M)
    tap.check(len(daemons) == 1 and process.returncode == 1 and kept and 'systemctl' not in errors,
              'the daemon is killed: the samples are kept', daemons, process.returncode, errors)
    if kept:
        done = subprocess.run(['perf', 'script', '-F', 'comm', '-i', kept[1]], capture_output=True, text=True,
                              check=False, timeout=120)
        tap.check(done.returncode == 0 and len(done.stdout.splitlines()) > 50, 'perf reads them', done.stderr)
        pathlib.Path(kept[1]).unlink()
    tap.equal(place.left(), ([], []), 'nothing else is left')


def test_killed_holder(tap, place, command):
    """If the recording's holder is killed, earlier methods keep their names."""
    def query():
        return next(iter(place.temporary.glob('clrsym-record-*/own/query')), None)

    def methods():
        return subprocess.run([place.programs.clrsym, 'methods', '--socket', query()], capture_output=True, text=True,
                              env=place.environment, check=False, timeout=60).stdout

    with place.recording('-o', 'a.folded', '--', *command, 'busy') as process:
        process.stdout.readline()
        live.wait_for('the names', lambda: 'Live.Program.Main(string[])' in methods(), process)
        holders = [pid for pid in place.processes()
                   if b'--port' in pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')]
        for pid in holders:
            os.kill(pid, signal.SIGKILL)
        time.sleep(2)
        _, errors = process.communicate('', timeout=120)
    tap.check(holders and process.returncode == 0 and 'clrsym: clrsym-holder has ended: ' in errors and
              'Live.Program.Main(string[])' in (place.directory / 'a.folded').read_text(encoding='utf-8'),
              'the holder is killed: that is reported', holders, process.returncode, errors)


def test_slow_start(tap, place, command):
    """The program starts later than the idle timeout of `clrsym attach`'s holder."""
    perf = place.directory / 'perf'
    perf.write_text(f'#!/bin/sh\nsleep 12\nexec {shutil.which("perf")} "$@"\n', encoding='utf-8')
    perf.chmod(0o755)
    code, _, errors = place.record('-F', 1999, '-o', 'a.folded', '--', *command, 5,
                                   PATH=f'{place.directory}:{os.environ["PATH"]}')
    perf.unlink()
    counts = NAMED.search(errors)
    tap.check(code == 0 and counts and int(counts[1]) > 20 and float(counts[3]) > LEAST_NAMED,
              'perf starts slowly', code, errors)


def test_time_namespace(tap, place, command):
    """perf's clock is the kernel's, the events' clock is the namespace's."""
    prefix = ['unshare', '--time', '--monotonic', '5000', '--boottime', '5000']
    if subprocess.run([*prefix, 'true'], stderr=subprocess.DEVNULL, check=False).returncode:
        tap.skip('a time namespace', 'it is not permitted')
        return
    code, _, errors = place.record('-F', 1999, '-o', 'a.folded', '--', *command, 5, prefix=prefix)
    counts = NAMED.search(errors)
    tap.check(code == 0 and counts and int(counts[1]) > 20 and float(counts[3]) > LEAST_NAMED,
              'in a time namespace', code, errors)


def test_ended(tap, place, command):
    """A process that ends while perf starts."""
    perf = place.directory / 'perf'
    with live.child([*command, 'busy'], env={**place.environment, 'DOTNET_LTTng': '0'},
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        live.wait_for('the program', lambda: has_port(place, program.pid), program)
        perf.write_text(f'#!/bin/sh\nkill -9 {program.pid}\necho The sys_perf_event_open failed >&2; exit 1\n',
                        encoding='utf-8')
        perf.chmod(0o755)
        code, _, errors = place.record('-p', program.pid, PATH=f'{place.directory}:{os.environ["PATH"]}')
    tap.equal((code, errors), (1, f'clrsym: process {program.pid} has ended\n'), 'a process that ends while perf starts')


def test_interrupted(tap, place, command):
    """Ctrl-C reaches the command, too; a killed program cannot clean up."""
    with place.recording('-o', 'a.folded', '--', *command, 'busy') as process:
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        tap.check(process.returncode == 128 + signal.SIGINT and NAMED.search(errors) and
                  (place.directory / 'a.folded').exists(), 'Ctrl-C: what was recorded is named',
                  process.returncode, errors)
    tap.equal(place.left(), ([], []), 'Ctrl-C: nothing is left')
    with place.recording('--', 'touch', place.directory / 'ran') as process:
        live.wait_for('its directory', lambda: any(place.temporary.glob('clrsym-record-*')), process)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    # The command may have started by then.
    ran = (place.directory / 'ran').exists()
    tap.check(ran or (process.returncode, errors) == (1, 'clrsym: interrupted before anything was recorded\n'),
              'Ctrl-C before the command runs', ran, process.returncode, errors)
    tap.equal(place.left(), ([], []), 'nothing is left then')
    with place.recording('--', *command, 'busy') as process:
        process.stdout.readline()
        tap.check(len(place.processes()) >= 3, 'there are helpers', place.processes())
        process.kill()
        process.wait()
    live.wait_for('the end of all of it', lambda: place.left() == ([], []))
    tap.check(True, 'killed: nothing is left')


ERASED = '\r\x1b[K'


def test_progress(tap, place, command):
    """On a terminal, a line shows the progress of the recording."""
    with on_terminal(place, '-d', 3, '-o', 'a.folded', '--', *command, 'busy') as (process, printed):
        *_, text = printed
        process.wait(120)
    lines = [(int(seconds), int(samples)) for seconds, samples in PROGRESS.findall(text)]
    tap.check(len(lines) > 2 and lines == sorted(lines) and lines[0][1] < lines[-1][1],
              'its seconds and samples grow', text)
    # perf may have written more after the last line.
    whole = NAMED.search(text)
    tap.check(whole and lines and lines[-1][1] <= int(whole[1]) < 3 * lines[-1][1],
              'the samples are those that are named at the end', lines, text)
    # A progress bar follows, if reading takes long enough.
    first, *others = text.split(ERASED)
    tap.check(others and '\n' not in first and '\r' not in others[-1].replace('\r\n', '\n'), 'it is erased at the end', text)


def test_without_perf(tap, place, command):
    """Without perf, or without permission for it, the runtimes sample themselves."""
    refusing = place.directory / 'refusing'
    refusing.mkdir()
    (refusing / 'perf').write_text('#!/bin/sh\necho You may not do that >&2; exit 1\n', encoding='utf-8')
    (refusing / 'perf').chmod(0o755)
    code, output, errors = place.record('-o', 'a.folded', '-o', 'a.svg', '--', *command, '20', PATH='/nowhere')
    counts = NAMED.search(errors)
    tap.check(code == 0 and 'DONE' in output and errors.startswith(
        "clrsym: no perf on PATH: apt install linux-perf. This recording uses the runtime's own sampler: "),
              'no perf: why, and what is used', code, errors)
    tap.check(counts and int(counts[1]) > 100 and float(counts[3]) > LEAST_NAMED and
              re.search(r'[1-9]\d* precompiled', errors), 'the frames are named, those of precompiled code, too', errors)
    folded = (place.directory / 'a.folded').read_text(encoding='utf-8')
    # On a busy machine the session begins after the first methods, which are then listed and marked.
    tap.check(re.search(r'^\S+;(System\.Environment\.CallEntryPoint\([^;]*;)?Live\.Program\.Main\(string\[\]\)( ~)?;', folded, re.M) and
              '[native_code,_or_waiting]' in folded.replace(' ', '_'), 'from the first methods on', folded[:500])
    tap.check('managed frames only' in (place.directory / 'a.svg').read_text(encoding='utf-8'),
              'the picture shows what the samples are')
    with live.child([*command, 'busy'], env={**place.environment, 'DOTNET_LTTng': '0'},
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        live.wait_for('the program', lambda: has_port(place, program.pid), program)
        code, _, errors = place.record('-p', program.pid, '-d', 1, PATH=str(refusing))
        counts = NAMED.search(errors)
        tap.check(code == 0 and counts and float(counts[3]) > LEAST_NAMED and
                  'perf record does not start: You may not do that. This recording' in errors and
                  'Live.Program.Main(string[])' in errors, 'perf is not permitted: a running process', code, errors)
        tap.equal((place.left(), program.poll()), (([], []), None), 'which goes on, without a trace')
    done = subprocess.run([sys.executable, '-B', HERE / 'refuse_perf.py', place.programs.clrsym, 'record', '--', 'true'],
                          cwd=place.directory, env=place.environment, check=False, capture_output=True, text=True,
                          timeout=120)
    tap.check(done.returncode == 1 and done.stderr.startswith('clrsym: perf is not permitted') and
              'Error' not in done.stderr and
              (os.geteuid() or '--cap-add=PERFMON' in done.stderr), 'a container refuses perf', done)
    code, _, errors = place.record('--every', 1, '-o', 'parts', '--', *command, PATH='/nowhere')
    tap.equal((code, errors), (1, 'clrsym: no perf on PATH: apt install linux-perf\n'), 'intervals need perf')
    code, _, errors = place.record('--', '/bin/true', PATH='/nowhere')
    tap.check(code == 1 and errors.endswith('\nclrsym: no .NET program ran that could sample itself\n'),
              'nothing to sample', code, errors)


def seconds(text):
    """Parses "354.71 ms", or the output of the shell's `times`, "0m0.350s"."""
    minutes, value, unit = re.fullmatch(r'(?:(\d+)m)?([\d.]+) ?(s|ms)', text).groups()
    return int(minutes or 0) * 60 + float(value) / {'s': 1, 'ms': 1000}[unit]


def test_summary(tap, place, command):
    """The used CPU time and each file are in the summary; the saved samples give the same."""
    code, output, errors = place.record('-o', 'a.clrsym', '-o', 'a.svg', '--', 'sh', '-c', 'sleep 3; i=0; '
                                        'while [ $i -lt 300000 ]; do i=$((i+1)); done; times')
    used = re.search(r'^([\d.]+ m?s) of CPU in ([\d.]+ m?s): it mostly waited', errors, re.M)
    took = sum(seconds(text) for text in output.split()[:2])
    tap.check(code == 0 and used and abs(seconds(used[1]) - took) < 0.05 + took / 3 and 3 < seconds(used[2]) < 60,
              'how much CPU was used in how much time', took, errors)
    tap.check(errors.endswith('clrsym: the named samples are in a.clrsym\nclrsym: the flame graph is in a.svg\n'),
              'each file is named', errors)
    done = subprocess.run([place.programs.clrsym, 'report', 'a.clrsym', '--summary'], cwd=place.directory, check=False,
                          capture_output=True, text=True, env=place.environment)
    lines = done.stdout.splitlines()
    tap.check(done.returncode == 0 and 'FUNCTION, BY ITS OWN TIME' in done.stdout and
              all(line in errors.splitlines() for line in lines), 'report --summary: the same', done, errors)
    code, _, errors = place.record('--sampler', 'runtime', '-o', 'a.folded', '--', *command, 20)
    tap.check(code == 0 and "clrsym: the runtime's own sampler is used: managed frames only" in errors and
              ' of CPU in ' not in errors and
              'Live.Program.Main(string[])' in (place.directory / 'a.folded').read_text(encoding='utf-8'),
              '--sampler runtime', code, errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_refused(tap, place, command):
    code, _, errors = place.record('--', place.directory / 'nothing')
    tap.check(code == 1 and 'cannot start' in errors and errors.count('\n') == 1,
              'a command that is not there', code, errors)
    code, _, errors = place.record('-p', os.getpid(), '-d', 1)
    tap.check(code == 1 and errors.startswith('clrsym: process ') and errors.count('\n') == 1,
              'a process that is not of .NET', code, errors)
    tap.equal(place.record()[0], 2, 'nothing to record')
    code, _, errors = place.record('-o', '/nowhere/a.html', '--', 'touch', place.directory / 'ran')
    tap.equal((code, errors, (place.directory / 'ran').exists()),
              (1, 'clrsym: cannot write /nowhere/a.html: No such file or directory\n', False),
              'an output that cannot be written is known before the command runs')
    code, _, errors = place.record('-o', '', '--', 'touch', place.directory / 'ran')
    tap.equal((code, errors, (place.directory / 'ran').exists()),
              (1, 'clrsym: cannot write "": No such file or directory\n', False), 'so is an output without a name')
    code, _, errors = place.record('--', 'true')
    tap.check(code in (0, 1) and (code == 0 or errors == 'clrsym: nothing was sampled: the recorded programs used no '
                                  'CPU, or ended too early\n'), 'a command that ends at once', code, errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


# Tests for each runtime.
EVERYWHERE = test_command, test_process, test_without_perf


def test(tap, programs, directory, _):
    commands = dict(runtimes.commands(tap, __file__, directory))
    command = commands.pop(runtimes.OWN)
    for runtime, other in commands.items():
        tap.note(f'.NET {runtime}')
        for part in EVERYWHERE:
            part(tap, Place(programs, directory, f'{part.__name__}-{runtime}'), other)
    for part in (test_command, test_explain, test_precompiled, test_process, test_packed, test_single, test_child, test_strangers,
                 test_closed, test_unwritten, test_killed_daemon, test_killed_holder, test_slow_start, test_time_namespace,
                 test_ended, test_interrupted, test_progress, test_without_perf, test_summary, test_refused):
        part(tap, Place(programs, directory, part.__name__), command)


def missing():
    for program in ('dotnet', 'perf'):
        if not shutil.which(program):
            return f'no {program}'
    done = subprocess.run(['perf', 'record', '-k', 'mono', '-o', '/dev/null', 'true'], check=False,
                          capture_output=True)
    return 'perf is not permitted here' if done.returncode else None


if __name__ == '__main__':
    if missing():
        print(f'1..0 # SKIP {missing()}')
    else:
        recorded.main(test)
