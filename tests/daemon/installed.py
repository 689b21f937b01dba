# SPDX-License-Identifier: MIT
"""The installed build: below a directory, and, for root, at its real place in a mount namespace.
Shared by tests."""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess

CLONE_NEWNS = 0x20000


def private_mounts():
    """Enters a mount namespace: only this process and its children see later mounts."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), 'unshare')
    subprocess.run(['mount', '--make-rprivate', '/'], check=True)


class Installed:
    """Runs `meson install` for the build of the programs."""

    def __init__(self, programs, directory):
        self.root = pathlib.Path(directory) / 'root'
        self.build = pathlib.Path(programs.plugin_dir).parent
        options = json.loads(
            (self.build / 'meson-info' / 'intro-buildoptions.json').read_text(encoding='utf-8'))
        values = {option['name']: option['value'] for option in options}
        self.prefix = pathlib.Path(values['prefix'])
        self.libdir = values['libdir']
        # The environment must not lead to the build tree, and must not preload a sanitizer into
        # other programs.
        self.environment = {name: value for name, value in programs.environment.items()
                            if name not in ('BABELTRACE_PLUGIN_PATH', 'LD_LIBRARY_PATH')}
        self.tools = {name: value for name, value in self.environment.items()
                      if name != 'LD_PRELOAD'}
        done = self.run(['meson', 'install', '-C', self.build, '--no-rebuild', '--quiet',
                         '--destdir', self.root], env=self.tools)
        if done.returncode != 0:
            raise RuntimeError(f'meson install: {done.stdout}{done.stderr}')
        # The installed files, as paths of their real places.
        self.files = sorted('/' + str(path.relative_to(self.root))
                            for path in self.root.rglob('*') if not path.is_dir())

    def run(self, command, **options):
        options = {'env': self.environment, 'stdin': subprocess.DEVNULL, 'check': False,
                   'capture_output': True, 'text': True, 'timeout': 300, **options}
        return subprocess.run([str(word) for word in command], **options)  # pylint: disable=subprocess-run-check

    def tool(self, *command, **options):
        return self.run(command, env={**self.tools, **options.pop('env', {})}, **options)

    def staged(self, path):
        """Returns the path of an installed file below the directory."""
        return self.root / str(path).lstrip('/')

    def lay_over(self):
        """Mounts the installed files at their real places. Returns False if this is not possible
        here."""
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
        """Returns the path of a program at its real place, found by PATH."""
        return shutil.which(name, path=str(self.prefix / 'bin'))
