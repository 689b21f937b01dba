# SPDX-License-Identifier: MIT
"""The build as it is installed: below a directory, and, for root, in its real place as far as the
test and its children can see. Shared by tests."""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess

CLONE_NEWNS = 0x20000


def private_mounts():
    """What is mounted from now on is seen by us and our children only."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), 'unshare')
    subprocess.run(['mount', '--make-rprivate', '/'], check=True)


class Installed:
    """`meson install` of the build that has the programs."""

    def __init__(self, programs, directory):
        self.root = pathlib.Path(directory) / 'root'
        self.build = pathlib.Path(programs.plugin_dir).parent
        options = json.loads(
            (self.build / 'meson-info' / 'intro-buildoptions.json').read_text(encoding='utf-8'))
        values = {option['name']: option['value'] for option in options}
        self.prefix = pathlib.Path(values['prefix'])
        self.libdir = values['libdir']
        # No build tree to be found in it, and no sanitizer for other people's programs.
        self.environment = {name: value for name, value in programs.environment.items()
                            if name not in ('BABELTRACE_PLUGIN_PATH', 'LD_LIBRARY_PATH')}
        self.tools = {name: value for name, value in self.environment.items()
                      if name != 'LD_PRELOAD'}
        done = self.run(['meson', 'install', '-C', self.build, '--no-rebuild', '--quiet',
                         '--destdir', self.root], env=self.tools)
        if done.returncode != 0:
            raise RuntimeError(f'meson install: {done.stdout}{done.stderr}')
        # What was installed, as paths of the real place.
        self.files = sorted('/' + str(path.relative_to(self.root))
                            for path in self.root.rglob('*') if not path.is_dir())

    def run(self, command, **options):
        options = {'env': self.environment, 'stdin': subprocess.DEVNULL, 'check': False,
                   'capture_output': True, 'text': True, 'timeout': 300, **options}
        return subprocess.run([str(word) for word in command], **options)  # pylint: disable=subprocess-run-check

    def tool(self, *command, **options):
        return self.run(command, env={**self.tools, **options.pop('env', {})}, **options)

    def staged(self, path):
        """Where a file of the real place is below the directory."""
        return self.root / str(path).lstrip('/')

    def lay_over(self):
        """Makes it look as if it was in its real place. False: that cannot be done here."""
        if os.getuid() != 0 or not self.prefix.is_dir():
            return False
        private_mounts()
        tops = {'/' + path.split('/')[1] for path in self.files
                if not path.startswith(f'{self.prefix}/')}
        for place in sorted({*tops, str(self.prefix)}):
            done = self.tool('mount', '-t', 'overlay', 'overlay', '-o',
                             f'lowerdir={self.staged(place)}:{place}', place)
            if done.returncode != 0:
                return False
        return True

    def program(self, name):
        """A program in its real place, found by PATH."""
        return shutil.which(name, path=str(self.prefix / 'bin'))
