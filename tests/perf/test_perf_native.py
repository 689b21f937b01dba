# SPDX-License-Identifier: MIT
"""`clrsym perf` and native code without symbols of its own: debug files in directories, in the caches of debuggers
and debuginfod; and how to get the runtime's debug files. perf's names of the unstripped program are the truth."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

from tests.perf import perftool
from tests.traces import recorded

LIBRARY = '''
static volatile unsigned long sink;
__attribute__((noinline)) static void spin_inner(void) { for (int i = 0; i < 1000; i++) sink += i; }
__attribute__((noinline)) static void spin_outer(void) { for (int i = 0; i < 100; i++) spin_inner(); }
void spin(int n) { while (n--) spin_outer(); }
'''
# A symbol without a size, followed by code without a symbol.
EMPTY = r'''
void spin_empty(void);
__asm__(".text\n.globl spin_empty\n.type spin_empty, @function\nspin_empty:\nnop\nmov $200000, %ecx\n"
        "1: dec %ecx\njnz 1b\nret\n");
'''
PROGRAM = '''
void spin(int n);
void spin_empty(void);
__attribute__((noinline)) static void spin_own(int n) { for (volatile int i = 0; i < n; i++) ; }
int main(void) { for (int i = 0; i < 1000; i++) { spin_own(100000); spin(1); spin_empty(); } return 0; }
'''


def build_id(path):
    text = subprocess.run(['readelf', '-n', path], check=True, capture_output=True, text=True).stdout
    return text.split('Build ID: ')[1].split()[0]


class Program:
    """A program with a library whose name is a runtime library's; their debug files; a recording."""

    def __init__(self, directory):
        self.library, self.program = directory / 'libcoreclr.so', directory / 'native'
        compiler = ['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-Wl,--build-id', '-x', 'c', '-']
        for source, output, *options in ((EMPTY, directory / 'libempty.so', '-shared', '-fPIC'),
                                         (LIBRARY, self.library, '-shared', '-fPIC'),
                                         (PROGRAM, self.program, f'-L{directory}', '-l:libcoreclr.so', '-l:libempty.so',
                                          f'-Wl,-rpath,{directory}')):
            subprocess.run([*compiler, '-o', output, *options], input=source, text=True, check=True)
        self.data = directory / 'native.data'
        # perf 7 records build ids by default.
        subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-k', 'mono', '-B', '-N', '--buildid-mmap', '-g',
                        '-F', '499', '-o', self.data, self.program], check=True)
        text = subprocess.run(['perf', 'script', '-i', self.data, '-F', 'ip,sym'], check=True,
                              capture_output=True, text=True).stdout
        self.names = {line.split()[1] for line in text.splitlines() if line.strip()}
        self.debug = {}
        for path in (self.library, self.program):
            self.debug[path] = directory / f'{path.name}-symbols'
            subprocess.run(['objcopy', '--only-keep-debug', path, self.debug[path]], check=True)
            # Strip as .NET's libraries are shipped: exported symbols stay.
            subprocess.run(['strip', '--strip-all', path], check=True)

    def put(self, path, *parts):
        """Copies the debug file of PATH."""
        target = pathlib.Path(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.debug[path], target)


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('native code', reason)
        return
    directory = pathlib.Path(directory)
    native = Program(directory)
    tap.check({'spin_inner', 'spin_own', 'main'} <= native.names, 'perf knew the names',
              native.names)
    home = directory / 'home'
    home.mkdir()
    environment = {**perftool.environment(programs), 'HOME': str(home), 'XDG_CACHE_HOME': str(home / 'cache')}
    with recorded.Daemon(programs, directory) as daemon:
        def stacks(*options, **variables):
            output = directory / 'native.folded'
            done = perftool.clrsym_perf(programs, '-i', native.data, *daemon.source, *options, '-o', output,
                                        env={**environment, **variables})
            return done, output.read_text(encoding='utf-8') if done.returncode == 0 else ''

        def named(name, *options, **variables):
            done, text = stacks(*options, **variables)
            tap.check('spin_own' in text and 'spin_inner' in text and '[libcoreclr.so]' not in text and
                      '[native]' not in text and 'dotnet-symbol' not in done.stderr, name,
                      done.stderr, text[:500])

        done, text = stacks()
        tap.check('spin_inner' not in text and '[libcoreclr.so]' in text and '[native]' in text,
                  'without symbols, frames have the name of their file', text[:500])
        tap.check('spin_empty' in native.names and 'spin_empty' not in text and '[libempty.so]' in text,
                  'a symbol without a size names nothing but its first address', native.names, text[:500])
        tap.check(f'dotnet-symbol --symbols -o DIR {native.library} gets them; then add --symbols DIR'
                  in done.stderr, 'which is reported of the runtime, with what helps', done.stderr)
        first, second = directory / 'first', directory / 'second'
        native.put(native.library, first, 'libcoreclr.so.dbg')
        native.put(native.program, second, 'native.dbg')
        named('beside each other in directories', '--symbols', first, '--symbols', second)
        named('in directories of the environment', CLRSYM_SYMBOLS=f'{first}:{second}')
        ids = {path: build_id(path) for path in native.debug}
        native.put(native.library, second, '.build-id', ids[native.library][:2],
                   ids[native.library][2:] + '.debug')
        named('by build id', '--symbols', second)
        # perf's own cache has one debug file, a symbol server's cache the other.
        by_id = ids[native.program]
        native.put(native.program, home, '.debug', '.build-id', by_id[:2], by_id[2:], 'debug')
        native.put(native.library, home, '.dotnet', 'symbolcache', '_.debug',
                   f'elf-buildid-sym-{ids[native.library]}', '_.debug')
        named("in a debugger's cache, and in perf's")
        shutil.rmtree(home)
        for path, name in ids.items():
            native.put(path, home, 'cache', 'debuginfod_client', name, 'debuginfo')
        named("in debuginfod's cache")
        for path, name in ids.items():
            native.put(path, directory, 'named', name, 'debuginfo')
        shutil.rmtree(home)
        named("in debuginfod's cache elsewhere", DEBUGINFOD_CACHE_PATH=str(directory / 'named'))
        other = directory / 'other'
        native.put(native.program, other, 'libcoreclr.so.dbg')
        (other / 'native.dbg').write_bytes(native.debug[native.program].read_bytes()[:5000])
        _, text = stacks('--symbols', other)
        tap.check('spin_inner' not in text and 'spin_own' not in text and '[libcoreclr.so]' in text,
                  'another build, and a truncated file: none', text[:500])
    test_debug_frame(tap, programs, directory)
    test_twins(tap, programs, directory)
    test_replaced(tap, programs, directory)


# Code without frame pointers, called by the other file.
BARE = '''
static volatile unsigned long sink;
__attribute__((noinline)) static void bare_inner(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static int bare_middle(int n) { bare_inner(n); return (int)sink; }
int bare(int n) { return bare_middle(n) + 1; }
'''
CALLER = '''
int bare(int n);
__attribute__((noinline)) static int calls_bare(int n) { return bare(n) + 2; }
int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += calls_bare(500000); return s == 1; }
'''


def test_debug_frame(tap, programs, directory):
    """A library without call frame information, like musl's, has it in its debug file."""
    place = directory / 'bare'
    place.mkdir()
    library, program, debug = place / 'libbare.so', place / 'caller', place / 'libbare.debug'
    compiler = ['gcc', '-O1', '-g', '-Wl,--build-id', '-x', 'c', '-']
    bare = ['-shared', '-fPIC', '-fomit-frame-pointer', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables']
    for source, output, *options in ((BARE, library, *bare), (CALLER, program, f'-L{place}', '-l:libbare.so', f'-Wl,-rpath,{place}')):
        subprocess.run([*compiler, '-o', output, *options], input=source, text=True, check=True)
    subprocess.run(['objcopy', '--only-keep-debug', library, debug], check=True)
    subprocess.run(['strip', '--strip-all', library], check=True)
    subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-k', 'mono', '--call-graph', 'dwarf', '-F', '499', '-o', place / 'data',
                    program], check=True)
    symbols = place / 'symbols'
    name = build_id(library)
    (symbols / '.build-id' / name[:2]).mkdir(parents=True)
    shutil.copy(debug, symbols / '.build-id' / name[:2] / f'{name[2:]}.debug')

    def share(*options):
        output = place / 'bare.folded'
        done = perftool.clrsym_perf(programs, '-i', place / 'data', *options, '-o', output, env=perftool.environment(programs))
        stacks = perftool.folded(output.read_text(encoding='utf-8'))
        whole = sum(n for stack, n in stacks.items() if 'calls_bare' in stack and 'main' in stack)
        return done, whole / sum(stacks.values())

    done, found = share('--symbols', symbols)
    tap.check(found > 0.95, 'the callers of a library with a .debug_frame in its debug file', found, done.stderr)
    _, lacking = share()
    tap.check(lacking < 0.5, 'which are not known without that file', lacking)


# Two libraries with a function each, at different offsets.
TWIN = '''
%s
__attribute__((noinline)) void spin_in_%s(int n) { for (volatile int i = 0; i < n; i++) ; }
void spin(int n) { spin_in_%s(n); }
'''
PADDING = '__attribute__((noinline)) int padding(int n) { for (volatile int i = 0; i < n; i++) ; return n; }'
SPINNER = 'void spin(int n); int main(void) { for (;;) spin(1000000); }'
# Both programs map the path libtwin.so. In the mount namespace of the second, another file is there.
TWINS = '''
./first >/dev/null & echo $!
unshare -m sh -c 'mount --bind other.so libtwin.so && exec ./second' >/dev/null & echo $!
sleep 1
'''


def build_twins(place):
    """PLACE/libtwin.so and other.so; the programs `first` and `second`."""
    place.mkdir()
    compiler = ['gcc', '-O1', '-fno-omit-frame-pointer', '-Wl,--build-id', '-x', 'c', '-']
    for name, function, padding in ('libtwin', 'first', ''), ('other', 'second', PADDING):
        subprocess.run([*compiler, '-shared', '-fPIC', '-o', place / f'{name}.so'], input=TWIN % (padding, function, function),
                       text=True, check=True)
        subprocess.run([*compiler, '-o', place / function, f'-L{place}', '-l:libtwin.so', f'-Wl,-rpath,{place}'], input=SPINNER,
                       text=True, check=True)


@contextlib.contextmanager
def recording_of(programs, place, script, *options):
    """Records SCRIPT, which prints the pids of programs that run on. Yields a function with the functions of the libraries,
    each with its program; and what clrsym said."""
    environment = {**perftool.environment(programs), 'HOME': str(place)}
    done = subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-k', 'mono', '-g', '-F', '499', *options, '-o', 'data', 'sh', '-c',
                           script], cwd=place, env=environment, stdout=subprocess.PIPE, text=True, check=True)

    def named():
        report = perftool.clrsym_perf(programs, '-i', place / 'data', '-o', place / 'twins.folded', env=environment)
        stacks = perftool.folded((place / 'twins.folded').read_text(encoding='utf-8'))
        return {(stack[0], name) for stack in stacks for name in stack if name.startswith(('spin_in', 'padding'))}, report.stderr

    try:
        yield named
    finally:
        for pid in done.stdout.split():
            os.kill(int(pid), signal.SIGKILL)


def test_twins(tap, programs, directory):
    """Two files at one path, like the libc of two containers; perf records one build id for the path."""
    if os.geteuid():
        tap.skip('two files at one path', 'not root')
        return
    place = directory / 'twins'
    build_twins(place)
    note = f'native code of {place}/libtwin.so has no names: several files'
    with recording_of(programs, place, TWINS) as named:
        names, text = named()
        tap.check(names == {('first', 'spin_in_first'), ('second', 'spin_in_second')} and note not in text,
                  'two files at one path: each program has the names of its file', names, text)
    names, text = named()
    tap.check(names == {('first', 'spin_in_first')} and note in text,
              'after the end of the second program, its file is not found, and it gets no names of the other', names, text)


# Name -> how the library is replaced while the first program runs, and the reason for having no names.
REPLACED = {
    'by another file': ('mv other.so libtwin.so', 'the recorded file is gone'),
    'in place': ('kill -STOP $!; cat other.so >libtwin.so', 'the file was changed'),
}


def test_replaced(tap, programs, directory):
    """A library is replaced while its program runs. perf reads the build id of its path when the recording ends."""
    for name, (command, reason) in REPLACED.items():
        for option in '-q', '-B':
            place = directory / f'replaced{name.replace(" ", "-")}{option}'
            build_twins(place)
            # Without a build id, only the time of its last change shows a change in place.
            if name == 'in place':
                for library in 'libtwin.so', 'other.so':
                    subprocess.run(['objcopy', '--remove-section', '.note.gnu.build-id', place / library], check=True)
            with recording_of(programs, place, f'./first >/dev/null & echo $!; sleep 1; {command}', option) as named:
                names, text = named()
            tap.check(not names and f'native code of {place}/libtwin.so has no names: {reason}' in text,
                      f'a library is replaced {name}, {option}: no names of the new one', names, text)


if __name__ == '__main__':
    recorded.main(run)
