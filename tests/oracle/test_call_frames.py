# SPDX-License-Identifier: MIT
"""The call frame information of x86-64 programs and libraries, and of the runtime for arm64:
clrsym's reader is compared with readelf, at each address where rules change, and just before
the next one."""

import glob
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from tests.oracle import nuget
from tests.traces.recorded import Tap

LIBRARIES = ['libc.so.6', 'ld-linux-x86-64.so.2', 'libm.so.6', 'libcrypto.so.3', 'libglib-2.0.so.0', 'libstdc++.so.6',
             'libgcc_s.so.1']
# Libraries of the runtime and of its JIT, if a runtime is installed.
RUNTIME = '/usr/share/dotnet/shared/Microsoft.NETCore.App/*/lib{coreclr,clrjit}.so'
REGISTERS = {
    'x86_64': ['rax', 'rdx', 'rcx', 'rbx', 'rsi', 'rdi', 'rbp', 'rsp', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14',
               'r15', 'ra'],
    # The last register is not one of DWARF's.
    'aarch64': [*(f'x{i}' for i in range(30)), 'ra', 'sp', '-'],
}
# Registers whose rules are the ABI's if the function does not give a rule.
ABI = {
    'x86_64': {'rbx': 's', 'rbp': 's', 'r12': 's', 'r13': 's', 'r14': 's', 'r15': 's', 'rsp': 'v+0'},
    'aarch64': {**{f'x{i}': 's' for i in range(19, 30)}, 'ra': 's', 'sp': 'v+0'},
}
# Maximum number of tested functions in a file; larger files are sampled.
MOST = 20000
SOURCE = '''
#include <stdlib.h>
#include <string.h>
int many(int n) { char room[n]; memset(room, n, sizeof(room)); return room[n / 2] ? many(n - 1) + 1 : 0; }
void *called(int (*one)(int), int a, int b) { int x = one(a), y = one(b); return malloc(x * y + one(x)); }
int main(int n, char **words) { return called(many, n, n + 1) == 0; }
'''


def rules_of(path):
    """Returns readelf's functions: their ends, and (address, rules by column) for each change."""
    # readelf fails if linked debug files are missing.
    text = subprocess.run(['readelf', '-wF', path], capture_output=True, text=True, check=False).stdout
    common, functions, rows, columns = {}, [], [], []
    for line in text.splitlines():
        if match := re.match(r'([0-9a-f]{8,}) [0-9a-f]+ [0-9a-f]+ CIE "([^"]*)"', line):
            rows = common[match.group(1).lstrip('0')] = []
        elif match := re.match(r'[0-9a-f]{8,} [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)', line):
            rows = []
            functions.append((int(match.group(2), 16), int(match.group(3), 16), common[match.group(1).lstrip('0')], rows))
        elif line.strip().startswith('LOC '):
            columns = line.split()[1:]
        elif match := re.match(r'[0-9a-f]{16} (?! )(.+)', line):
            words = re.sub(r'r\d+ \((\w+)\)', r'\1+0', line).split()
            rows.append((int(words[0], 16), dict(zip(columns, words[1:]))))
    return functions


def expected(rules, machine):
    """Returns the rules in the form of frame-rules. readelf also prints "u" for registers
    without a rule."""
    cfa = rules['CFA']
    found = [['vexp'] if cfa == 'exp' else [cfa if '+' in cfa or '-' in cfa else cfa + '+0']]
    for name in REGISTERS[machine]:
        rule = rules.get(name, 'u')
        found.append(['u', ABI[machine][name]] if rule == 'u' and name in ABI[machine] else [rule])
    return found


def questions(functions, machine):
    """Returns pairs of an address and readelf's rules there."""
    step = len(functions) // MOST + 1
    for begin, end, common, rows in functions[::step]:
        if begin == end or begin == 0:
            continue
        changes = [row for row in rows if row[0] < end] or [(begin, rules) for _, rules in common]
        for i, (address, rules) in enumerate(changes):
            last = (changes[i + 1][0] if i + 1 < len(changes) else end) - 1
            yield from ((place, expected(rules, machine)) for place in {address, max(last, address)})


def compare(tap, command, asked, name):
    answers = subprocess.run(command, input='\n'.join(f'{address:x}' for address, _ in asked),
                             capture_output=True, text=True, check=True).stdout.splitlines()
    wrong = [(f'{address:x}', want, answer) for (address, want), answer in zip(asked, answers)
             if len(answer.split()) != len(want) + 1 or
             not all(word in one for word, one in zip(answer.split()[1:], want))]
    tap.check(len(answers) == len(asked) and len(asked) > 3 and not wrong,
              f'{name}: {len(asked)} addresses', wrong[:5])


def check(tap, program, path, section='eh', machine='x86_64'):
    compare(tap, [program, machine, section, path], list(questions(rules_of(path), machine)),
            f'{pathlib.Path(path).name} {machine} {section}')


def check_arm64(tap, program):
    try:
        pack, = nuget.restore([nuget.ARM64_RUNTIME])
    except RuntimeError as error:
        tap.skip('the runtime for arm64', f'it is not to be had: {str(error).splitlines()[-1]}')
        return
    for name in ('coreclr', 'clrjit', 'hostfxr', 'System.Native'):
        check(tap, program, str(pack / f'runtimes/linux-arm64/native/lib{name}.so'), machine='aarch64')


def main():
    tap = Tap()
    program = sys.argv[1]
    check_arm64(tap, program)
    if platform.machine() != 'x86_64':
        tap.skip('call frames', 'its rules are those of x86-64')
        return tap.finish()
    found = [path for name in LIBRARIES for path in glob.glob(f'/lib/x86_64-linux-gnu/{name}') +
             glob.glob(f'/lib64/{name}')]
    for name in ('coreclr', 'clrjit'):
        found += sorted(glob.glob(re.sub('{.*}', name, RUNTIME)))[-1:]
    for path in dict.fromkeys(str(pathlib.Path(path).resolve()) for path in found):
        check(tap, program, path)
    with tempfile.TemporaryDirectory() as directory:
        source, made = pathlib.Path(directory) / 'a.c', pathlib.Path(directory) / 'a.out'
        source.write_text(SOURCE, encoding='utf-8')
        subprocess.run(['gcc', '-O2', '-g', '-fno-asynchronous-unwind-tables', '-o', made, source], check=True)
        debug = pathlib.Path(directory) / 'a.debug'
        subprocess.run(['objcopy', '--only-keep-debug', '--remove-section=.eh_frame', made, debug], check=True)
        check(tap, program, str(debug), 'debug')
        bare = pathlib.Path(directory) / 'bare'
        subprocess.run(['gcc', '-O2', '-o', bare, source], check=True)
        asked = list(questions(rules_of(bare), 'x86_64'))
        with open(bare, 'r+b') as file:
            for at, n in ((40, 8), (60, 4)):
                file.seek(at)
                file.write(bytes(n))
        compare(tap, [program, 'x86_64', 'eh', bare], asked, 'a file without sections')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
