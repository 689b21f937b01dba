# SPDX-License-Identifier: MIT
"""Builds and runs the TraceEvent reader of traceevent/ for the tests and benchmarks on it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from tests.traces import recorded

SOURCE = pathlib.Path(__file__).resolve().parent / 'traceevent'
ENVIRONMENT = {**os.environ, 'DOTNET_CLI_TELEMETRY_OPTOUT': '1', 'DOTNET_NOLOGO': '1',
               'DOTNET_SKIP_FIRST_TIME_EXPERIENCE': '1', 'DOTNET_LTTng': '0',
               # The program is too short-lived for tiered PGO.
               'DOTNET_TieredPGO': '0'}


def build(directory, source=SOURCE):
    """Restores and builds; returns the command. Without a .NET SDK the test is skipped, except
    in CI, where no test may be skipped."""
    dotnet = shutil.which('dotnet')
    if not dotnet:
        why = 'no `dotnet`: install a .NET SDK to compare with TraceEvent'
        print(f'Bail out! {why}' if os.environ.get('CI') else f'1..0 # SKIP {why}', flush=True)
        sys.exit(1 if os.environ.get('CI') else 0)
    project = shutil.copytree(source, pathlib.Path(directory) / source.name,
                              ignore=shutil.ignore_patterns('bin', 'obj'))
    output = project / 'out'
    # Without a build server, so that no process is left.
    done = subprocess.run([dotnet, 'build', '--configuration', 'Release', '--output', output,
                           '--disable-build-servers', '-nodeReuse:false',
                           '-p:UseSharedCompilation=false', project],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=ENVIRONMENT, timeout=recorded.TIMEOUT, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError('dotnet build: ' + done.stdout[-2000:])
    return [dotnet, str(output / f'{source.name}.dll')]


def pack(trace, path):
    """Writes the zip that TraceEvent expects: channel files are named channel*; nothing is
    compressed."""
    with zipfile.ZipFile(path, 'w') as archive:
        for ctf in recorded.ctf_directories(trace):
            for file in sorted(ctf.iterdir()):
                if file.is_file():
                    name = file.name if file.name == 'metadata' else f'channel0_{file.name}'
                    archive.write(file, ctf.relative_to(trace) / name)
    return path


def read(command, paths):
    """Returns the events that TraceEvent delivers, as a list of dictionaries for each path. One
    program reads all paths, because compiling its code takes longer than reading most traces."""
    with tempfile.TemporaryFile('w+') as errors, \
         subprocess.Popen([*command, *paths], stdout=subprocess.PIPE, stderr=errors, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, encoding='utf-8') as process:
        for path in paths:
            events, line = [], None
            while (line := process.stdout.readline()) not in ('', '\n'):
                events.append(json.loads(line))
            if not line:
                errors.seek(0)
                raise RuntimeError(f'traceevent {path}: exit {process.wait()}: {errors.read()[-2000:]}')
            yield events
        if process.wait(recorded.TIMEOUT) != 0 or process.stdout.read():
            raise RuntimeError(f'traceevent: exit {process.returncode}, after all traces')
