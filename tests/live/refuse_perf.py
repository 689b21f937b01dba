# SPDX-License-Identifier: MIT
"""refuse_perf.py COMMAND [ARG...]: runs the command with perf_event_open(2) refused, as in containers."""

import ctypes
import errno
import os
import platform
import struct
import sys

NUMBER = {'x86_64': 298, 'aarch64': 241}[platform.machine()]
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x50000 | errno.EPERM, 0x7fff0000


class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, NUMBER), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or
        libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
