# SPDX-License-Identifier: MIT
"""Writes the files that are given as texts in C: embed.py OUTPUT FILE...

A text is a list of numbers, because a string literal has a limit in the standard."""

import pathlib
import sys

output, *paths = map(pathlib.Path, sys.argv[1:])
rows = []
with open(output, 'w', encoding='ascii') as file:
    for number, path in enumerate(paths):
        content = path.read_bytes()
        numbers = ',\n'.join(','.join(map(str, content[at:at + 24])) for at in range(0, len(content), 24))
        file.write(f'static const unsigned char text_{number}[] = {{\n{numbers}}};\n')
        rows.append(f'        {{"{path.name}", (const char *)text_{number}, sizeof(text_{number})}},\n')
    file.write(f'static const GraphText GRAPH_TEXTS[] = {{\n{"".join(rows)}}};\n')
