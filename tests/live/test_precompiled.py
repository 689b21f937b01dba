# SPDX-License-Identifier: MIT
"""Every precompiled method of the shared framework that is not generic, as the runtime lists it at its end, against
the names that we read from the images: address, size, token and texts.

test_precompiled.py CLRSYM CLRSYMD PLUGIN_DIR R2R_NAMES
"""

import collections
import os
import pathlib
import subprocess
import sys

from tests.live import live, runtimes
from tests.oracle.test_r2r_names import Images, PAGE, texts
from tests.traces import recorded


# Loader, JIT and NGEN; the rundown at the end lists all code.
CONFIG = 'Microsoft-Windows-DotNETRuntime:0x38:5'


def prepare(command, directory):
    """The .nettrace file of a program that prepares all methods."""
    path = directory / 'prepared.nettrace'
    environment = {key: value for key, value in os.environ.items() if not key.startswith('DOTNET_')}
    subprocess.run([*map(str, command), 'prepare'], check=True, timeout=live.TIMEOUT, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, cwd=directory,
                   env={**environment, 'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': CONFIG,
                        'DOTNET_EventPipeOutputPath': str(path), 'DOTNET_EventPipeCircularMB': '512',
                        'DOTNET_LTTng': '0', 'DOTNET_TieredCompilation': '0'})
    return path


def listed(bodies):
    """assembly -> the precompiled bodies of it that the runtime lists."""
    by_path = collections.defaultdict(list)
    for body in bodies:
        if body['version']['tier'] == 'ReadyToRun' and body['method']['token'] and body['module']:
            by_path[pathlib.Path(body['module']['path'])].append(body)
    return by_path


def unlike(images, path, bodies):
    """Those that no method of the image equals."""
    by_token = collections.defaultdict(list)
    for name in images.names(path):
        by_token[name.token].append(name)
    for body in bodies:
        start = int(body['start'], 16)
        found = [name for name in by_token[int(body['method']['token'], 16)]
                 if (start - name.rva) % PAGE == 0 and name.size == body['size']]
        if texts(body) not in [name.texts for name in found]:
            yield texts(body), body['start'], body['size'], found


def test_runtime(tap, programs, images, path, what):
    rows = listed(programs.bodies(['--trace', str(path)]))
    wrong = [row for assembly, bodies in rows.items() for row in unlike(images, assembly, bodies)]
    n = sum(map(len, rows.values()))
    tap.check(len(rows) > 80 and n > 50000 and not wrong,
              f'{what}: {n} methods of {len(rows)} assemblies are in the images as the runtime lists them',
              len(rows), n, len(wrong), *wrong[:3])


def main():
    # The root of all paths.
    images = Images(sys.argv.pop(), pathlib.Path('/'))

    def run(tap, programs, directory, _):
        for runtime, command, place in runtimes.runs(tap, __file__, directory):
            test_runtime(tap, programs, images, prepare(command, place), f'.NET {runtime}')

    recorded.main(run)


if __name__ == '__main__':
    live.run_or_skip(live.no_dotnet(), main)
