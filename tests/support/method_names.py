# SPDX-License-Identifier: MIT
"""Names of methods in all styles, from the program name-fields beside the plugin."""

import collections
import os
import subprocess

Raw = collections.namedtuple('Raw', 'name_space name signature')
Names = collections.namedtuple('Names', 'clr csharp short')


def names_of(programs, raws):
    """The Names of each Raw, in order."""
    program = os.path.join(os.path.dirname(programs.plugin_dir), 'tests', 'name-fields')
    fields = ''.join(field + '\0' for raw in raws for field in raw)
    done = subprocess.run([program], input=fields.encode('utf-8', 'surrogateescape'),
                          stdout=subprocess.PIPE, check=True)
    names = done.stdout.decode('utf-8').split('\0')[:-1]
    if len(names) != len(Names._fields) * len(raws):
        raise RuntimeError(f'{len(names)} names for {len(raws)} methods')
    return [Names(*names[i:i + 3]) for i in range(0, len(names), 3)]
