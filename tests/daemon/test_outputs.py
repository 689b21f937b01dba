# SPDX-License-Identifier: MIT
"""Root writes to a path that another user has prepared: in a directory where everybody may create
files, clrsym follows no foreign link and replaces no foreign file.

test_outputs.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import lzma
import os
import pathlib
import stat

from tests.daemon.test_daemon import wait_for
from tests.traces import recorded

NOBODY = 65534
SECRET = 'root:x:0:0\n'
# Samples for perf -i.
SAMPLES = pathlib.Path(__file__).resolve().parents[1] / 'nettrace/data/sampled/trace.nettrace.xz'


class Place:
    """A directory with the mode of /tmp, and a file of root elsewhere."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory) / 'shared'
        self.directory.mkdir()
        self.directory.chmod(0o1777)
        self.secret = pathlib.Path(directory) / 'secret'
        self.secret.write_text(SECRET, encoding='ascii')
        self.n = 0

    def path(self, ending=''):
        self.n += 1
        return self.directory / f'out-{self.n}{ending}'

    def link(self, ending, uid):
        path = self.path(ending)
        path.symlink_to(self.secret)
        os.lchown(path, uid, uid)
        return path

    def is_whole(self):
        """Returns whether root's file is unchanged, and no file was left beside the links."""
        return (self.secret.read_text(encoding='utf-8', errors='replace') == SECRET
                and stat.S_IMODE(self.secret.stat().st_mode) == 0o644
                and not [path for path in self.directory.iterdir() if path.name.startswith('.')])


def writers(programs, trace, samples):
    """Returns name -> (command that writes to a path, suffix of the path)."""
    clrsym = programs.clrsym
    return {
        'save': (lambda path: [clrsym, 'save', '--trace', trace, '-o', path], '.snapshot'),
        'perfmap': (lambda path: [clrsym, 'perfmap', '--trace', trace, '-o', path], '.map'),
        'perf, folded': (lambda path: [clrsym, 'perf', '-i', samples, '-o', path], '.folded'),
        'perf, svg': (lambda path: [clrsym, 'perf', '-i', samples, '-o', path], '.svg'),
        'perf, pprof': (lambda path: [clrsym, 'perf', '-i', samples, '-o', path], '.pb.gz'),
        'sink.clrsym.dump': (lambda path: [
            'babeltrace2', f'--plugin-path={programs.plugin_dir}', trace, '-c', 'sink.clrsym.dump',
            '-p', f'output="{path}"'], '.json'),
        'record': (lambda path: [clrsym, 'record', '-o', path, '--', 'true'], '.html'),
    }


def test_links(tap, programs, place, commands):
    for name, (command, ending) in commands.items():
        path = place.link(ending, NOBODY)
        done = programs.run(command(path))
        tap.check(done.returncode != 0 and place.is_whole() and path.is_symlink(),
                  f"{name}: another user's link is not followed", done.returncode, done.stderr)
        tap.check(f'{path} is a symbolic link of user {NOBODY}' in done.stderr,
                  f'{name}: its owner, and what to do', done.stderr)
        path.unlink()

        beyond = place.path()
        beyond.symlink_to(place.secret.parent)
        os.lchown(beyond, NOBODY, NOBODY)
        done = programs.run(command(beyond / f'new{ending}'))
        tap.check(done.returncode != 0 and not (place.secret.parent / f'new{ending}').exists(),
                  f'{name}: nor is one on the way', done.stderr)
        beyond.unlink()


def test_files(tap, programs, place, commands):
    for name, (command, ending) in commands.items():
        path = place.path(ending)
        path.write_text('theirs', encoding='ascii')
        os.chown(path, NOBODY, NOBODY)
        done = programs.run(command(path))
        tap.check(done.returncode != 0 and path.read_text(encoding='ascii') == 'theirs'
                  and f'{path} is a file of user {NOBODY}' in done.stderr,
                  f"{name}: another user's file is not replaced", done.stderr)
        path.unlink()
        os.mkfifo(path)
        os.chown(path, NOBODY, NOBODY)
        done = programs.run(command(path), timeout=60)
        tap.check(done.returncode != 0 and stat.S_ISFIFO(path.lstat().st_mode),
                  f'{name}: nor is a FIFO opened', done.stderr)
        path.unlink()


def test_own(tap, programs, place, commands):
    for name, (command, ending) in commands.items():
        if name == 'record':
            continue
        target = place.path(ending)
        path = place.path(ending)
        path.symlink_to(target)
        done = programs.run(command(path))
        tap.check(done.returncode == 0 and path.is_symlink() and target.stat().st_size > 0,
                  f"{name}: one's own link is followed", done.stderr)
        path.unlink()
        target.unlink()


def test_metrics(tap, programs, place):
    path = place.link('.prom', NOBODY)
    with recorded.Daemon(programs, place.directory.parent, '--metrics-file', path) as daemon:
        tap.check(wait_for(lambda: f'{path} is a symbolic link of user {NOBODY}' in daemon.log()),
                  'the metrics: the log says whose link it is', daemon.log())
    tap.check(place.is_whole(), 'and it is not followed')
    path.unlink(missing_ok=True)


def test(tap, programs, directory, _):
    place = Place(directory)
    trace = recorded.unpack(directory, ['hello'])['hello']
    samples = pathlib.Path(directory) / 'samples.nettrace'
    samples.write_bytes(lzma.open(SAMPLES).read())
    commands = writers(programs, trace, samples)
    test_links(tap, programs, place, commands)
    test_files(tap, programs, place, commands)
    test_own(tap, programs, place, commands)
    test_metrics(tap, programs, place)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
