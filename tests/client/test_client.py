# SPDX-License-Identifier: MIT
"""The installed libclrsym: programs are built against it like its users do, and ask about
recorded traces."""

import os
import pathlib
import re
import subprocess
import time

from tests.daemon import ingest
from tests.lines import test_lines
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
NS = 10**9
TRACES = ('hello', 'dynamic', 'collectible', 'rejit-tiered', 'pidns', 'perpid', 'lossy')


class Installed:
    """The build tree, installed below a directory, and programs built only against the installed
    files."""

    def __init__(self, tap, build, directory):
        self.root = pathlib.Path(directory) / 'root'
        done = subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet'],
                              env={**os.environ, 'DESTDIR': str(self.root)}, check=False,
                              capture_output=True)
        tap.equal((done.returncode, done.stderr), (0, b''), 'meson install')
        self.pc, = self.root.rglob('clrsym.pc')
        self.library, = self.root.rglob('libclrsym.so')
        self.directory = pathlib.Path(directory)
        self.environment = {**os.environ, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC',
                            'LD_LIBRARY_PATH': str(self.library.parent)}

    def flags(self, *packages):
        environment = {**os.environ, 'PKG_CONFIG_SYSROOT_DIR': str(self.root),
                       'PKG_CONFIG_PATH': str(self.pc.parent)}
        return subprocess.run(['pkg-config', '--cflags', '--libs', *packages], env=environment,
                              capture_output=True, text=True, check=True).stdout.split()

    def build(self, tap, name, *flags, compiler=('cc', '-std=c11')):
        program = self.directory / (name + '-' + compiler[0])
        done = subprocess.run([*compiler[:1], '-Wall', '-Wextra', '-Werror', *compiler[1:],
                               HERE / f'{name}.c', '-o', program, *flags],
                              capture_output=True, text=True, check=False)
        tap.check(done.returncode == 0, f'{name}.c is built with {" ".join(compiler)}', done.stderr)
        return program


def check_library(tap, installed):
    """Checks the symbols of the library, and the libraries that it needs."""
    library = str(installed.library)
    symbols = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True,
                             text=True, check=True).stdout.split('\n')
    names = {line.split()[-1] for line in symbols if line and line.split()[-2] != 'A'}
    header, = installed.root.rglob('clrsym.h')
    declared = {name + '@@CLRSYM_1.0' for name in
                re.findall(r'\b(clrsym_\w+)\(', re.sub(r'/\*.*?\*/', '', header.read_text(
                    encoding='ascii'), flags=re.S))}
    tap.equal(names, declared, 'it exports what the header declares, and no more')
    needed = subprocess.run(['readelf', '-d', library], capture_output=True, text=True,
                            check=True).stdout
    tap.equal(sorted(re.findall(r'NEEDED.*\[(.*?)\.so', needed)), ['libc', 'libjansson', 'libz'],
              'it needs libc, jansson and zlib')
    tap.equal(re.findall(r'SONAME.*\[(.*)\]', needed), ['libclrsym.so.1'], 'its soname')
    imports = subprocess.run(['nm', '-D', '--undefined-only', library], capture_output=True,
                             text=True, check=True).stdout
    bad = re.findall(r' (abort|__assert_fail|exit|_exit|printf|fprintf|__printf_chk|__fprintf_chk|'
                     r'puts|putchar|stdout|stderr|signal|sigaction|sigprocmask|pthread_sigmask|'
                     r'setenv|chdir|umask)\b', imports)
    tap.equal(bad, [], 'it never aborts, prints, or changes the process')
    sections = subprocess.run(['size', '-A', library], capture_output=True, text=True,
                              check=True).stdout
    sizes = {line.split()[0]: int(line.split()[1]) for line in sections.split('\n')
             if line.startswith('.')}
    tap.check(sizes.get('.data', 0) <= 8 and sizes.get('.bss', 0) <= 8,
              'it has no variables', sizes.get('.data'), sizes.get('.bss'))


def check_cli(tap):
    """The command line asks through clrsym.h; all its other headers belong to parts of its own."""
    own = ('attach/', 'cli/', 'collect/', 'doctor/', 'event/', 'feed/', 'lines/', 'lttng/',
           'metadata/', 'moment/', 'nettrace/', 'perf/', 'perfdata/', 'profile/', 'push/', 'reader/', 'record/', 'symbols/',
           'unwind/', 'util/')
    odd = [f'{path.name}: {name}' for path in (HERE.parents[1] / 'src' / 'cli').glob('*.[ch]')
           for name in re.findall(r'#include "(.*)"', path.read_text(encoding='utf-8'))
           if not name.startswith(own) and name != 'clrsym/clrsym.h']
    tap.equal(odd, [], 'clrsym includes its own headers and clrsym.h')


def check_page(tap, installed):
    """The manual shows the example unchanged."""
    page, = installed.root.rglob('libclrsym.3')
    text = page.read_text(encoding='utf-8').replace('\\&', '').replace('\\-', '-').replace('\\e', '\\')
    tap.check((HERE / 'example.c').read_text(encoding='utf-8') in text, 'libclrsym(3) has the example')


def arguments(signature):
    """Returns the arguments in the last "(...)" of a signature."""
    depth = 0
    for at in range(len(signature) - 1, -1, -1):
        depth += {')': 1, '(': -1}.get(signature[at], 0)
        if depth == 0:
            return signature[at:] if signature[at] == '(' else '()'
    return '()'


def expected(row):
    name = '.'.join(part for part in (row['namespace'], row['name']) if part)
    offset = int(row['addr'], 16) - int(row['start'], 16)
    return f'{row["addr"]} {name}{arguments(row["signature"])}+{offset:#x}'


def check_example(tap, installed, example, source, rows, name):
    """The example answers the probes of each process as the truth does."""
    wrong, n_right = [], 0
    for pid in sorted({row['pid'] for row in rows}):
        mine = [row for row in rows if row['pid'] == pid]
        done = subprocess.run(
            [example, pid, *source], capture_output=True, check=False, text=True,
            input=''.join(f'{row["addr"]} {row["time_ns"]}\n' for row in mine),
            env=installed.environment)
        lines = done.stdout.split('\n')[:-1]
        if done.returncode != 0 or len(lines) != len(mine):
            wrong.append(f'exit {done.returncode}, {len(lines)} lines: {done.stderr}')
        for row, line in zip(mine, lines):
            if row['method_id'] == '-':
                continue  # the body may be known only from its unload: tests/traces
            if line.startswith(expected(row) + ' ['):
                n_right += 1
            else:
                wrong.append(f'{line}, not {expected(row)}')
    tap.check(not wrong and n_right > 100, f'{name}: {n_right} probes named by the example',
              len(wrong), *wrong[:5])


def check_agree(tap, installed, agree, source, rows, name):
    done = subprocess.run(
        [agree, *source], capture_output=True, check=False, text=True, env=installed.environment,
        input=''.join(f'{row["pid_ns"]} {row["pid"]} {row["addr"]} {row["time_ns"]}\n'
                      for row in rows))
    lines = done.stdout.split('\n')
    counts = [int(count) for count in re.findall(r': (\d+) rows', done.stdout)]
    tap.check(done.returncode == 0 and len(counts) == 6 and counts[0] > 0 and counts[1] > 100,
              f'{name}: batches and lists are what the JSON is: {"; ".join(lines[-8:-1])}',
              done.stdout[-2000:], done.stderr)


def check_stubs(tap, programs, installed, agree, directory):
    """The targets of IL stubs."""
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), ingest.runtime_start(9 * NS),
                    ingest.stub_generated(10 * NS, 1), ingest.stub(11 * NS, 0x1000, 1),
                    ingest.load(12 * NS, 0x2000, 'A'), ingest.stub_generated(13 * NS, 3, 'Other'),
                    ingest.stub(14 * NS, 0x3000, 3), ingest.progress(20 * NS), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        feeder.close()
        done = subprocess.run([agree, '--socket', str(daemon.query)], capture_output=True,
                              check=False, text=True, env=installed.environment,
                              input=''.join(f'0 100 {place:#x} {15 * NS}\n'
                                            for place in (0x1000, 0x2000, 0x3000, 0x1008)))
        tap.check(done.returncode == 0 and '\n4 answers, ' in done.stdout,
                  'batches and lists have what IL stubs are made for', done.stdout, done.stderr)


def check_watch(tap, programs, installed, agree, directory):
    """Events, also after a restart of the daemon."""
    def read_line():
        return watcher.stdout.readline().decode().rstrip('\n')

    def feed(*frames):
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), *frames, ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        feeder.close()

    with recorded.Daemon(programs, directory) as daemon:
        feed(ingest.runtime_start(9 * NS), ingest.load(10 * NS, 0x1000, 'A'))
        watcher = subprocess.Popen([agree, '--watch', daemon.query], stdout=subprocess.PIPE,
                                   env=installed.environment)
        tap.equal([read_line() for _ in range(2)], ['watching', 'epoch 100 -'], 'how it begins')
        feed(ingest.load(20 * NS, 0x2000, 'B'))
        got = read_line()
        tap.equal(got, 'load 100 N.T.B()', 'a load')
        feed(ingest.load(21 * NS, 0x2008, 'C'))
        got = sorted(read_line() for _ in range(3))
        tap.equal(got, ['epoch 100 -', 'load 100 N.T.C()', 'unload 100 N.T.B()'], 'one over another')
        daemon.process.kill()
        daemon.process.wait()
        daemon.ingest.unlink(missing_ok=True)
        daemon.query.unlink(missing_ok=True)
        time.sleep(0.3)
        with daemon:
            tap.equal(read_line(), 'resync 0 -', 'a restart')
            feed(ingest.runtime_start(9 * NS), ingest.load(10 * NS, 0x1000, 'D'))
            got = []
            while not got or not got[-1].startswith('load'):
                got.append(read_line())
            tap.equal(got[-1], 'load 100 N.T.D()', 'and on')
        watcher.kill()
        watcher.communicate()


def check_failures(tap, installed, example, programs, directory):
    trace = os.path.join(directory, 'nothing')
    environment = {**installed.environment, 'CLRSYM_DAEMON': programs.clrsymd,
                   'CLRSYM_SOCKET': trace}
    done = subprocess.run([example, '1'], capture_output=True, check=False, text=True,
                          env=environment)
    tap.equal((done.returncode, done.stderr),
              (1, f'example: no daemon at {trace}: systemctl start clrsymd.socket, or use '
               '--trace PATH\n'), 'no daemon')
    done = subprocess.run([example, '1', trace], capture_output=True, check=False, text=True,
                          env=environment)
    tap.check(done.returncode == 1 and trace in done.stderr and 'No such file' in done.stderr,
              'no trace', done.stderr)
    environment['CLRSYM_DAEMON'] = trace
    done = subprocess.run([example, '1', trace], capture_output=True, check=False, text=True,
                          env=environment)
    tap.equal((done.returncode, done.stderr),
              (1, f'example: no {trace}, which reads traces: install clrsymd, or set '
               'CLRSYM_DAEMON\n'), 'nobody to read it')


def check_lines(tap, installed, lines, directory, name):
    """The source lines are those that the runtime of the recorded program reported."""
    where, rows = test_lines.unpack(directory, name), test_lines.read_rows(name)
    text = ''.join(f'{row["pid"]} {row["addr"]} {row["time_ns"]}\n' for row in rows)

    def ask(*arguments):
        done = subprocess.run([lines, where / 'trace', *arguments], capture_output=True, check=False,
                              text=True, input=text, env=installed.environment)
        return done.stdout.splitlines() or [done.stderr]

    *got, first = ask(where / 'app')
    wrong, n_lines = [], 0
    for row, line in zip(rows, got):
        il, _, found = line.split(' ', 2)
        place = test_lines.place(row)
        n_lines += place is not None
        if il not in ('-1', row['il_offset']) or (
                found != '{}:{}:{}'.format(*place) if place else ':' in found or ' ' in found):
            wrong.append(f'{line}, not {row}')
    tap.check(len(got) == len(rows) and not wrong and n_lines > 500,
              f'{name}: {n_lines} lines of {len(rows)} addresses are those of the runtime',
              len(got), *wrong[:5])
    tap.check(first.startswith('/mnt/src/'), f"{name}: and a method's first line", first)
    mapped = ask(where / 'app', '/mnt/src', '/home/me')
    tap.equal(mapped[-1], first.replace('/mnt/src', '/home/me'), f'{name}: sources are mapped')


def run(tap, programs, directory, names):
    build = pathlib.Path(programs.clrsymd).parents[2]
    installed = Installed(tap, build, directory)
    installed.environment |= {'CLRSYM_DAEMON': programs.clrsymd,
                              'BABELTRACE_PLUGIN_PATH': programs.plugin_dir}
    example = installed.build(tap, 'example', *installed.flags('clrsym'))
    agree = installed.build(tap, 'agree', *installed.flags('clrsym', 'jansson'))
    lines = installed.build(tap, 'lines', *installed.flags('clrsym'))
    installed.build(tap, 'example', *installed.flags('clrsym'), compiler=('c++', '-xc++',
                                                                      '-Wno-missing-field-initializers'))
    check_library(tap, installed)
    check_page(tap, installed)
    check_cli(tap)
    check_failures(tap, installed, example, programs, directory)
    names = [name for name in names if name in TRACES]
    for name, trace in recorded.unpack(directory, names).items():
        rows = recorded.Truth(name).rows('probes.tsv')
        with recorded.Daemon(programs, directory) as daemon:
            done = programs.feed(trace, daemon.ingest)
            tap.equal(done.returncode, 0, f'{name}: it is fed')
            installed.environment['CLRSYM_SOCKET'] = str(daemon.query)
            if len({row['pid'] for row in rows}) == len({(row['pid_ns'], row['pid']) for row in rows}):
                check_example(tap, installed, example, [], rows, f'{name}, daemon')
            check_agree(tap, installed, agree, ['--socket', str(daemon.query)], rows,
                        f'{name}, daemon')
        check_agree(tap, installed, agree, ['--trace', str(trace)], rows, f'{name}, trace')
    for name in ('mismatched', 'r2r'):
        check_lines(tap, installed, lines, directory, name)
    check_stubs(tap, programs, installed, agree, directory)
    check_watch(tap, programs, installed, agree, directory)


if __name__ == '__main__':
    recorded.main(run)
