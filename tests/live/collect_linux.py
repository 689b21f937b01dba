# SPDX-License-Identifier: MIT
"""The recorder of `dotnet-trace collect-linux`: the published tool's library, called as the tool does.

collect_linux.py LIBRARY OPTION...: records until end of file on standard input, and prints the recorder's messages."""

import contextlib
import ctypes
import os
import pathlib
import platform
import subprocess
import sys
import threading

from tests.oracle import nuget

PACKAGE = 'dotnet-trace', '10.0.750501'
PLACE = 'tools/net8.0/any/runtimes/linux-x64/native/librecordtrace.so'
STARTED = 'Recording started'
TIMEOUT = 300
Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t)


def events_environment(path):
    """An environment in which a program writes its code events to PATH, by which clrsym names code at a time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith('DOTNET_')}
    return {**kept, 'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeOutputPath': str(path),
            'DOTNET_EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x60000A20B8:5',
            'DOTNET_EventPipeCircularMB': '512', 'DOTNET_LTTng': '0'}


def missing():
    """Why it cannot record here, or None."""
    if platform.machine() != 'x86_64':
        return 'the recorder is used on x86-64 only'
    if os.geteuid() != 0:
        return 'the recorder needs root'
    return None


def library():
    """RuntimeError: not available."""
    directory, = nuget.restore([PACKAGE])
    return directory / PLACE


@contextlib.contextmanager
def recording(output, *options):
    """Records during the `with`; afterwards the file OUTPUT is complete."""
    command = [sys.executable, '-B', __file__, library(), *options, '--out', output]
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if STARTED in line:
                break
        yield
        rest, _ = process.communicate(timeout=TIMEOUT)
    if process.returncode != 0 or not pathlib.Path(output).exists():
        raise RuntimeError(f'{" ".join(map(str, command))}: exit {process.returncode}: {"".join(said)}{rest}')


def main(path, *options):
    is_over = threading.Event()

    def wait():
        sys.stdin.read()
        is_over.set()

    def take(_kind, text, n):
        if text and n:
            print(ctypes.string_at(text, n).decode(errors='replace'), flush=True)
        return int(is_over.is_set())

    callback = Callback(take)
    threading.Thread(target=wait, daemon=True).start()
    command = ' '.join(options).encode()
    return ctypes.CDLL(path).RecordTrace(command, ctypes.c_size_t(len(command)), callback)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
