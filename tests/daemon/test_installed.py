# SPDX-License-Identifier: MIT
"""The files of `meson install`, and that they work at their places: programs, plugin, library,
manual, completion."""

import os
import pathlib
import re
import subprocess
import time

from tests.daemon.installed import Installed
from tests.traces import recorded

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TRACE = 'dynamic'
# Paths below the prefix; {libdir} is the build's. The manual pages are those of the source tree.
FILES = [
    'bin/clrsym',
    'bin/clrsymd',
    'include/clrsym/clrsym.h',
    'lib/systemd/system/clrsym-attach.service',
    'lib/systemd/system/clrsym-coredump@.service',
    'lib/systemd/system/clrsym-feed@.service',
    'lib/systemd/system/clrsym-holder-port.socket',
    'lib/systemd/system/clrsym-holder.service',
    'lib/systemd/system/clrsym-holder.socket',
    'lib/systemd/system/clrsym-record@.service',
    'lib/systemd/system/clrsym-relayd.service',
    'lib/systemd/system/clrsymd-ingest.socket',
    'lib/systemd/system/clrsymd.service',
    'lib/systemd/system/clrsymd.socket',
    'lib/systemd/system/lttng-sessiond.service.d/clrsym.conf',
    'lib/sysusers.d/clrsym.conf',
    'libexec/clrsym/clrsym-coredump',
    'libexec/clrsym/clrsym-holder',
    'share/bash-completion/completions/clrsym',
    'share/clrsym/gdb/clrsym.py',
    'share/clrsym/kubernetes/clrsym.yaml',
    'share/clrsym/systemd-coredump.conf',
    '{libdir}/babeltrace2/plugins/babeltrace-plugin-clrsym.so',
    '{libdir}/clrsym/libclrsym-tracepoints.so',
    '{libdir}/libclrsym.so',
    '{libdir}/libclrsym.so.1',
    '{libdir}/libclrsym.so.1.0.0',
    '{libdir}/pkgconfig/clrsym.pc',
]
# Python decides where modules are.
MODULE = re.compile(r'lib/python3[.\d]*/(?:site|dist)-packages/(?=clrsym/)')
# perf searches the filter at a fixed place, which is not below every prefix.
DLFILTER = 'dlfilter-clrsym.so'
# Pages of old spellings -> pages that they link to.
OLD_PAGES = {'clrsym-perf.1': 'clrsym-report.1', 'clrsym-save.1': 'clrsym-snapshot.1', 'clrsym-detach.1': 'clrsym-attach.1',
             'clrsym-env.1': 'clrsym-attach.1', 'clrsym-import.1': 'clrsym-feed.1'}
PROGRAM = 0o755
PROGRAMS = re.compile(r'\.so[.\d]*$|/bin/|/libexec/')
SCRIPT = 'libexec/clrsym/clrsym-coredump'


def check_files(tap, installed):
    manual = [path.name for path in (SOURCE / 'man').iterdir() if re.search(r'\.\d$', path.name)]
    want = [name.format(libdir=installed.libdir) for name in FILES]
    want += [f'share/man/man{name[-1]}/{name}' for name in [*manual, *OLD_PAGES]]
    want += [f'lib/python/clrsym/{path.name}' for path in (SOURCE / 'src/client/python/clrsym').iterdir()
             if path.suffix in ('.py', '.typed')]
    # Newer versions of meson also compile the module.
    files = [MODULE.sub('lib/python/', path) for path in installed.files if '/__pycache__/' not in path]
    got = sorted(path for path in files if not path.endswith(f'/dlfilters/{DLFILTER}'))
    tap.equal(got, sorted(str(installed.prefix / name) for name in want),
              f'{len(want)} files, each in its place')
    tap.equal(len(files) - len(got), 1, "and perf's filter")
    modes = {path: installed.staged(path).stat().st_mode & 0o7777 for path in installed.files
             if not installed.staged(path).is_symlink()}
    wrong = {path: oct(mode) for path, mode in modes.items()
             if (mode != PROGRAM if PROGRAMS.search(path) else mode != 0o644)}
    tap.equal(wrong, {}, 'programs can be run, the rest can be read')
    for path in filter(PROGRAMS.search, installed.files):
        if path.endswith(SCRIPT):
            continue
        dynamic = installed.tool('readelf', '-d', installed.staged(path)).stdout
        tap.check('NEEDED' in dynamic and 'RUNPATH' not in dynamic and 'RPATH' not in dynamic,
                  f'{path}: looks for libraries nowhere else', dynamic)
    texts = [path for path in installed.files if not PROGRAMS.search(path) or path.endswith(SCRIPT)]
    tap.equal([path for path in texts if re.search(
        rb'@\w+@|' + re.escape(os.fsencode(installed.build)), installed.staged(path).read_bytes())],
              [], 'no file has a place of the build, or none at all')


def check_manual(tap, installed):
    pages = [path for path in installed.files if '/man/' in path]
    for old, new in OLD_PAGES.items():
        link, = [installed.staged(page) for page in pages if page.endswith(old)]
        tap.check(link.is_symlink() and os.readlink(link) == new, f'{old} leads to {new}')
    for page in [page for page in pages if not page.endswith(tuple(OLD_PAGES))]:
        path = installed.staged(page)
        name = path.stem
        done = installed.tool('lexgrog', path)
        tap.check(done.returncode == 0 and re.search(rf'"{re.escape(name)}\b.* - \S', done.stdout),
                  f'{path.name}: has its name, and says what it is', done.stdout, done.stderr)
        done = installed.tool('man', '-l', '--warnings', path,
                              env={'MANWIDTH': '80', 'LC_ALL': 'C.UTF-8'})
        tap.check(done.returncode == 0 and not done.stderr and len(done.stdout) > 500,
                  f'{path.name}: is formatted without a warning', done.stderr)


def check_pkg_config(tap, installed):
    directory = installed.staged(installed.prefix / installed.libdir / 'pkgconfig')
    root = {'PKG_CONFIG_PATH': str(directory), 'PKG_CONFIG_SYSROOT_DIR': str(installed.root)}
    version = installed.tool('pkg-config', '--modversion', 'clrsym', env=root).stdout.strip()
    done = installed.run([installed.staged(installed.prefix / 'bin' / 'clrsym'), '--version'])
    tap.check(version and done.stdout.splitlines()[:1] == [f'clrsym {version}'],
              'pkg-config has the version of the programs', version, done.stdout, done.stderr)


def check_completion(tap, installed):
    path, = [path for path in installed.files if '/completions/' in path]
    done = installed.tool('bash', '-c', 'source "$1" && complete -p clrsym', 'bash',
                          installed.staged(path))
    tap.check(done.returncode == 0 and 'clrsym' in done.stdout, 'bash takes the completion',
              done.stdout, done.stderr)


def example():
    """Returns a pid, an address, and the middles of its three lives, from the recorded trace."""
    lives = {}
    for row in recorded.Truth(TRACE).rows('bodies.tsv'):
        if row['loaded_ns'] and row['unloaded_ns']:
            lives.setdefault((row['pid'], row['start']), []).append(row)
    (pid, address), rows = next(item for item in lives.items() if len(item[1]) >= 3)
    at = [(int(row['loaded_ns']) + int(row['unloaded_ns'])) // 2 for row in rows[:3]]
    return pid, address, [(f'{time_ns // 10**9}.{time_ns % 10**9:09}', row['name'])
                          for time_ns, row in zip(at, rows)]


def check_at_work(tap, installed, directory):
    """Runs the demo of tests/demo without access to the build tree."""
    work = pathlib.Path(directory) / 'work'
    work.mkdir()
    trace = recorded.unpack(work, [TRACE])[TRACE]
    clrsym, clrsymd = installed.program('clrsym'), installed.program('clrsymd')
    tap.check(clrsym and clrsymd, 'the programs are on the PATH', installed.prefix)
    pid, address, lives = example()

    def names(*source):
        return [installed.run([clrsym, 'resolve', *source, '--pid', pid, '--at', at, address])
                .stdout for at, _ in lives]
    daemon = subprocess.Popen([clrsymd, '--ingest', work / 'ingest', '--query', work / 'query'],
                              env=installed.environment, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not (work / 'query').exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        # babeltrace2 searches the plugin directory of its own prefix.
        plugins = {} if str(installed.prefix) == '/usr' else {
            'BABELTRACE_PLUGIN_PATH': str(installed.prefix / installed.libdir / 'babeltrace2'
                                          / 'plugins')}
        done = installed.run(['babeltrace2', trace, '-c', 'sink.clrsym.feed', '-p',
                              f'socket="{work}/ingest"'],
                             env={**installed.environment, **plugins})
        tap.equal(done.returncode, 0, 'the installed plugin feeds the installed daemon')
        got = names('--socket', work / 'query')
        tap.check(len(got) == 3 and all(name in line for (_, name), line in zip(lives, got)),
                  'the installed clrsym names one address at three times', lives, got)
    finally:
        daemon.terminate()
        tap.equal(daemon.wait(20), 0, 'and the daemon ends')
    tap.equal(names('--trace', trace), got, 'the same from the trace itself: daemon and plugin are '
              'found without a variable')
    for name, section in (('clrsym', '1'), ('clrsymd', '8'), ('libclrsym', '3')):
        done = installed.tool('man', '-w', section, name)
        tap.check(done.stdout.startswith(str(installed.prefix)), f'man finds {name}({section})',
                  done.stdout, done.stderr)


def run(tap, programs, directory, names):
    installed = Installed(programs, directory)
    check_files(tap, installed)
    check_manual(tap, installed)
    check_pkg_config(tap, installed)
    check_completion(tap, installed)
    if installed.lay_over():
        check_at_work(tap, installed, directory)
    else:
        tap.skip('from its real place', 'only root can see it there without installing')


if __name__ == '__main__':
    recorded.main(run)
