#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Copies a log, and names the addresses of a .NET process in it:

    name_addresses.py PID < LOG
"""

from __future__ import annotations

import re
import sys

import clrsym

ADDRESS = re.compile(r'0x[0-9a-fA-F]{4,16}\b')


def main() -> int:
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        print('usage: name_addresses.py PID < LOG', file=sys.stderr)
        return 2
    pid = int(sys.argv[1])
    try:
        with clrsym.connect() as client:
            for line in sys.stdin:
                # One call for all addresses of a line is cheaper than one for each.
                texts = ADDRESS.findall(line)
                answers = client.resolve(pid, [int(text, 16) for text in texts])
                for text, answer in zip(texts, answers):
                    if answer.body:
                        line = line.replace(text, f'{text} {answer.symbol}+{answer.body.offset:#x}', 1)
                print(line, end='')
    except clrsym.ClrsymError as error:
        print(f'name_addresses: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
