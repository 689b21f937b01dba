# SPDX-License-Identifier: MIT
"""A package of npm's registry, for a test."""

import pathlib
import shutil
import subprocess

TIMEOUT = 300


class NotInstalled(RuntimeError):
    """The package is not available."""


def missing():
    """Why npm cannot be used here, or None."""
    return next((f'no {program} on PATH' for program in ('node', 'npm') if not shutil.which(program)), None)


def install(name, version, directory):
    """Installs one package without its scripts. Returns its directory."""
    done = subprocess.run(['npm', 'install', '--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save',
                           '--prefer-offline', f'{name}@{version}'], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode != 0:
        raise NotInstalled(f'npm install {name}: {done.stdout[-2000:]}{done.stderr[-2000:]}')
    return pathlib.Path(directory) / 'node_modules' / name
