# SPDX-License-Identifier: MIT
"""Every method in any event of a recorded trace, in each style."""

import collections
import json
import os

from tests.support.method_names import Raw, names_of
from tests.traces import recorded


# <subject>Namespace, <subject>Name, and the signature, which has one of two names.
SUBJECTS = ('Method', 'ManagedInteropMethod', 'MethodBeingCompiled', 'Inliner', 'Inlinee', 'Caller',
            'Callee')


def raws_of(fields):
    for subject in SUBJECTS:
        if name := fields.get(subject + 'Name'):
            yield Raw(fields[subject + 'Namespace'] or '', name,
                      fields.get(subject + 'Signature', fields.get(subject + 'NameSignature')) or '')


def read_names(tap, programs, name, trace, directory):
    """The distinct names in all events of a trace."""
    output = os.path.join(directory, f'{name}.jsonl')
    done = programs.dump(trace, output)
    tap.equal(done.returncode, 0, f'{name}: dump succeeds')
    raws = set()
    with open(output, encoding='utf-8') as lines:
        for line in lines:
            raws.update(raws_of(json.loads(line).get('fields') or {}))
    os.unlink(output)
    return raws


def arguments(signature):
    """The last parentheses of a signature with their contents."""
    depth = 0
    for i in range(len(signature) - 1, -1, -1):
        depth += {')': 1, '(': -1}.get(signature[i], 0)
        if depth == 0:
            return signature[i:] if i < len(signature) - 1 else '()'
    return '()'


def as_runtime(raw):
    """The name in style clr, if it needs no escapes."""
    return f'{raw.name_space}{"." if raw.name_space else ""}{raw.name}{arguments(raw.signature)}'


def several(pairs):
    """The first members that occur with several second members."""
    partners = collections.defaultdict(set)
    for one, other in pairs:
        partners[one].add(other)
    return [f'{one}: {sorted(others)}' for one, others in partners.items() if len(others) > 1]


def test(tap, programs, directory, chosen):
    paths = recorded.unpack(directory, [name for name in chosen if name in recorded.GOOD])
    raws = set()
    for name, path in paths.items():
        found = read_names(tap, programs, name, path, directory)
        tap.check(found, f'{name}: {len(found)} distinct names')
        raws |= found
    raws = sorted(raws)
    names = names_of(programs, raws)

    wrong = [f'{raw}: {name.clr}' for raw, name in zip(raws, names) if name.clr != as_runtime(raw)]
    tap.check(not wrong, f'all {len(raws)}: clr is as the runtime writes it', *wrong[:5])
    equal = several((name.csharp, name.clr) for name in names)
    tap.check(not equal, f'{len({name.clr for name in names})} names in clr, '
              f'{len({name.csharp for name in names})} in csharp: none stands for two', *equal[:5])
    quoted = [f'{raw}: {name.csharp}' for raw, name in zip(raws, names) if '``' in name.csharp]
    tap.check(not quoted, 'all are understood', *quoted[:5])
    longer = [f'{name.csharp}: {name.short}' for name in names if len(name.short) > len(name.csharp)]
    tap.check(not longer, 'short is short', *longer[:5])
    stubs = [name.csharp for raw, name in zip(raws, names)
             if raw.name_space == 'dynamicClass' and not name.csharp.startswith('[')]
    tap.check(not stubs, 'dynamic methods and stubs say that they are', *stubs[:5])


if __name__ == '__main__':
    recorded.main(test)
