# SPDX-License-Identifier: MIT
"""The directory of the initial inputs of the fuzz targets."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def write(target, name, data):
    directory = HERE / 'corpus' / target
    directory.mkdir(parents=True, exist_ok=True)
    assert len(data) <= 65536, (target, name)
    (directory / name).write_bytes(data)
