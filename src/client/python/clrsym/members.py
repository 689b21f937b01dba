# SPDX-License-Identifier: MIT
"""Members of the JSON objects of replies, with their types and ranges checked."""

from __future__ import annotations

import decimal
import re
from typing import Any

from .errors import ProtocolError

NS = 10**9
# Limits of addresses, ids and epochs; of times in ns; and of all other numbers.
MOST_UNSIGNED, MOST_TIME, MOST_NUMBER = 2**64 - 1, 2**64 - 1, 2**63 - 1
HEX = re.compile(r'0x[0-9a-f]{1,16}', re.ASCII)
TIME = re.compile(r'(\d{1,11})\.(\d{9})', re.ASCII)
MOST_SHOWN = 80


def shown(value: object) -> str:
    """Returns the text of a reply's value for an error message."""
    text = ascii(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + '...'


class Members:
    """The members of one object. Methods whose names end in `_or_none` return None for null and
    for a missing member."""

    def __init__(self, value: object, what: str) -> None:
        """WHAT: the name of the object in error messages."""
        if not isinstance(value, dict):
            raise ProtocolError(f'the daemon sent {shown(value)} as {what}: an object is expected')
        self.values: dict[str, Any] = value
        self.what = what

    def wrong(self, name: str, expected: str) -> ProtocolError:
        return ProtocolError(f'the daemon sent {shown(self.values.get(name))} as {name} of {self.what}: '
                             f'{expected} is expected')

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, 'text')
        try:
            value.isascii() or value.encode()
        except UnicodeEncodeError:
            raise self.wrong(name, 'Unicode') from None
        return value

    def text_or_none(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def number(self, name: str, most: int = MOST_NUMBER) -> int:
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise self.wrong(name, f'a number from 0 to {most}')
        return value

    def number_or_none(self, name: str, most: int = MOST_NUMBER) -> int | None:
        return self.number(name, most) if self.has(name) else None

    def hexadecimal(self, name: str) -> int:
        value = self.values.get(name)
        if not isinstance(value, str) or not HEX.fullmatch(value):
            raise self.wrong(name, 'a hexadecimal number of 64 bits')
        return int(value, 16)

    def hexadecimal_or_none(self, name: str) -> int | None:
        return self.hexadecimal(name) if self.has(name) else None

    def time(self, name: str) -> int:
        """Returns ns of CLOCK_MONOTONIC."""
        value = self.values.get(name)
        match = TIME.fullmatch(value) if isinstance(value, str) else None
        time = int(match[1]) * NS + int(match[2]) if match else -1
        if not 0 <= time <= MOST_TIME:
            raise self.wrong(name, 'a time')
        return time

    def time_or_none(self, name: str) -> int | None:
        return self.time(name) if self.has(name) else None

    def scaled_or_none(self, name: str, scale: int) -> int | None:
        """Returns a number with decimals, times SCALE."""
        if not self.has(name):
            return None
        value = self.values[name]
        is_number = isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool)
        most = MOST_NUMBER // scale
        # Compare first: arithmetic could take very long, because the exponent may have any size.
        if not is_number or not -most <= value <= most:
            raise self.wrong(name, 'a number')
        return int(value * scale)

    def truth(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, 'true or false')
        return value

    def rows(self, name: str) -> list[object]:
        value = self.values.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, 'an array')
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns an empty tuple for null."""
        values = self.rows(name) if self.has(name) else []
        return tuple(Members({name: value}, self.what).text(name) for value in values)
