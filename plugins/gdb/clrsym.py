# SPDX-License-Identifier: MIT
"""Managed frames for gdb: `source clrsym.py`, then `bt`. See clrsym-gdb(7).

`clrsym stack` walks the stacks: the stacks of a process from gdb's registers of its threads, the
stacks of a core file from the registers in the file. gdb gets the result: the unwinder the callers
of managed frames, the frame filter their names. Native frames are gdb's own. A frame of both walks
is the same if its program counter and stack pointer are equal; otherwise the extension guesses
nothing.
"""

import collections
import ctypes
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import gdb
import gdb.FrameDecorator
import gdb.unwinder

# gdb sets no __file__.
HERE = pathlib.Path((lambda: None).__code__.co_filename).resolve().parent
MACHINES = 'i386:x86-64', 'i386:x86-64:intel'
REGISTERS = ('rax', 'rbx', 'rcx', 'rdx', 'rsi', 'rdi', 'rbp', 'rsp', 'rip', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15')
# Registers that a walk needs. After a walk from fewer than all registers, gdb gets only these of
# the caller.
NEEDED = 'rip', 'rsp', 'rbp'
# The order of struct user_regs_struct in sys/user.h; None: unused.
KERNEL_REGISTERS = ('r15', 'r14', 'r13', 'r12', 'rbp', 'rbx', 'r11', 'r10', 'r9', 'r8', 'rax', 'rcx', 'rdx', 'rsi', 'rdi', None,
                    'rip', None, None, 'rsp', None, None, None, None, None, None, None)
PTRACE_GETREGS = 12
# At one stop: maximum number of stacks to ask for, and of timeouts.
MAX_QUESTIONS, MAX_TIMEOUTS = 256, 2
# Mapped files: of a process with a runtime; with only native code; with managed code.
RUNTIME = re.compile(r'/libcoreclr\.so$|/memfd:doublemapper', re.MULTILINE)
NATIVE = re.compile(r'\[|.*\.so(\.[^/]*)?( \(deleted\))?$')
MANAGED = re.compile(r'/memfd:doublemapper|.*\.(dll|exe)( \(deleted\))?$', re.IGNORECASE)
# A line of /proc/PID/maps about executable memory; and a line of `info proc mappings`, which lacks
# memory without a file.
MAPPING = re.compile(r'([0-9a-f]+)-([0-9a-f]+) ..x. \S+ \S+ \d+ *(.*)')
CORE_MAPPING = re.compile(r'\s*0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+0x\S+\s+0x\S+\s+(?:[-rwxps]{4}\s+)?(/.*)')
# A line of a stack that is not a frame.
MARK = re.compile(r'\[.*\]$')
CORE = re.compile(r"core dump file:\s+[`'](.+)', file type ")
# The line of the current inferior in `info connections`.
CONNECTION = re.compile(r'^\* +\d+ +(\S+)', re.MULTILINE)
NOT_MANAGED = 'native', 'kernel'

# A frame of a stack. CALLER: registers by name; None: no caller, or unknown. NOTE: text about the
# callers, or None. IS_LAST: the walk ended at this frame. IS_PARTIAL: the walk began without some
# of the registers.
Frame = collections.namedtuple('Frame', 'name kind start file line is_certain caller note is_last is_partial')
UNKNOWN = Frame(None, 'unknown', 0, None, None, True, None, None, False, False)
FrameId = collections.namedtuple('FrameId', 'sp pc')


class Trouble(Exception):
    """The reason for missing names."""


class Setting(gdb.Parameter):
    """A setting of `set clrsym`."""

    def __init__(self, name, kind, value, text):
        self.set_doc, self.show_doc, self.name = f'Set {text}.', f'Show {text}.', name
        super().__init__(f'clrsym {name}', gdb.COMMAND_STACK, kind)
        self.value = value

    def get_set_string(self):
        WALKS.forget()
        return ''

    def get_show_string(self, value):
        return f'clrsym {self.name} is {value}.'


def program():
    """Returns the path of clrsym: from the setting, from the same installation, or from PATH."""
    beside = HERE.parents[2] / 'bin/clrsym'
    found = PROGRAM.value or (str(beside) if os.access(beside, os.X_OK) else shutil.which('clrsym'))
    if not found:
        raise Trouble('the program clrsym is not found: set clrsym program PATH')
    return found


def core_path():
    """Returns the path of the core file that gdb reads."""
    found = CORE.search(gdb.execute('info target', to_string=True))
    if not found:
        raise Trouble('gdb does not say where the core file is')
    return found[1]


def kernel_registers(tid):
    """Returns the registers of a thread that this gdb has stopped; None: the kernel refuses."""
    words = (ctypes.c_ulong * len(KERNEL_REGISTERS))()
    ptrace = ctypes.CDLL(None).ptrace
    ptrace.argtypes, ptrace.restype = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p), ctypes.c_long
    if ptrace(PTRACE_GETREGS, tid, None, ctypes.byref(words)) != 0:
        return None
    return {name: word for name, word in zip(KERNEL_REGISTERS, words) if name}


def all_threads(inferior):
    """Returns the threads in the format of `clrsym stack --debugger`."""
    threads = []
    for thread in inferior.threads():
        registers = kernel_registers(thread.ptid[1])
        if registers:
            threads.append({'tid': thread.ptid[1], 'name': thread.name or '', 'registers': registers})
    return threads


def pending_registers(pending):
    """Returns the known registers of a frame."""
    found = {}
    for name in REGISTERS:
        try:
            value = pending.read_register(name)
            if not value.is_optimized_out:
                found[name] = int(value) & (1 << 64) - 1
        except gdb.error:
            pass
    return found


class Walks:
    """The stacks at the current stop."""

    def __init__(self):
        self.messages = []
        self.frames, self.failed, self.mappings, self.has_runtime = {}, set(), None, False
        self.n_questions = self.n_timeouts = 0

    def forget(self, *_):
        """Drops all stacks, because the program has run or was changed."""
        self.frames, self.failed, self.mappings = {}, set(), None
        self.n_questions = self.n_timeouts = 0

    def tell(self, text):
        """Prints each message once."""
        if text not in self.messages:
            self.messages.append(text)
            gdb.write(f'clrsym: {text}\n', gdb.STDERR)

    def kind(self):
        """Returns the kind of the inferior: 'native' or 'core'."""
        # Inferior.connection has the same value, but gdb 13 aborts at its exit if a program has
        # used that attribute.
        current = CONNECTION.search(gdb.execute('info connections', to_string=True))
        kind = current[1] if current else 'none'
        if kind not in ('native', 'core'):
            raise Trouble(f'managed frames are those of processes of this machine and of core files, not of the target {kind}')
        return kind

    def read_mappings(self, kind):
        """Reads the (begin, end) of memory that may have managed code."""
        if kind == 'core':
            maps, pattern = gdb.execute('info proc mappings', to_string=True), CORE_MAPPING
        else:
            maps = pathlib.Path(f'/proc/{gdb.selected_inferior().pid}/maps').read_text(encoding='utf-8', errors='replace')
            pattern = MAPPING
        rows = [row for row in map(pattern.match, maps.splitlines()) if row]
        # gdb does not read the list of files in createdump's core files.
        self.has_runtime = RUNTIME.search(maps) or any(RUNTIME.search(objfile.filename or '') for objfile in gdb.objfiles())
        return [(int(row[1], 16), int(row[2], 16)) for row in rows
                if (MANAGED.match(row[3]) if kind == 'core' else not NATIVE.match(row[3]))]

    def may_be_managed(self, kind, pc):
        """Returns whether PC is in such memory, in a process with a runtime."""
        if self.mappings is None:
            self.mappings = self.read_mappings(kind)
        return self.has_runtime and any(begin <= pc < end for begin, end in self.mappings)

    def run(self, target, *options, text=None):
        """Runs `clrsym stack`. Returns the threads in its output."""
        command = [program(), 'stack', str(target), '--json', '--registers', '--lines', *options, *shlex.split(OPTIONS.value or '')]
        if self.n_questions == MAX_QUESTIONS or self.n_timeouts == MAX_TIMEOUTS:
            raise Trouble('clrsym was asked too often, or takes too long: it is not asked again at this stop')
        self.n_questions += 1
        try:
            done = subprocess.run(command, input=text, stdin=subprocess.DEVNULL if text is None else None, capture_output=True,
                                  timeout=TIMEOUT.value or None, text=True, errors='replace', start_new_session=True, check=False)
        except subprocess.TimeoutExpired:
            self.n_timeouts += 1
            raise Trouble(f'clrsym has not answered within {TIMEOUT.value} s (set clrsym timeout SECONDS)') from None
        except OSError as error:
            raise Trouble(f'{command[0]} cannot be run: {error.strerror}') from None
        # The extension reads a stack that is longer than its copy in parts, so this message is not
        # printed.
        for line in (line for line in done.stderr.splitlines() if 'stacks are longer' not in line):
            self.tell(line.removeprefix('clrsym: '))
        if not done.stdout:
            raise Trouble(self.messages[-1] if done.stderr and self.messages else f'{command[0]} has printed nothing')
        try:
            return [json.loads(line) for line in done.stdout.splitlines()]
        except ValueError:
            raise Trouble(f'{command[0]} has printed no JSON: is it of this version of clrsym?') from None

    def take(self, threads, is_partial=False):
        """Stores the frames of THREADS. Known frames stay as they are, because they were nearer
        to the leaf."""
        for thread in threads:
            rows = [(row, {name: int(text, 16) for name, text in (row['registers'] or {}).items()}) for row in thread['frames']]
            for i, (row, registers) in enumerate(rows):
                if not registers:
                    continue
                after = list(itertools.takewhile(lambda pair: not pair[1], rows[i + 1:]))
                marks = [mark['name'] for mark, _ in after if MARK.match(mark['name'] or '')]
                caller = rows[i + 1][1] if len(rows) > i + 1 and not after else None
                self.frames.setdefault((registers['rip'], registers['rsp']), Frame(
                    row['name'], row['kind'], int(row['address'], 16) - row['offset'], row['file'], row['line'], row['is_certain'],
                    caller, marks[0][1:-1] if marks else None, len(after) == len(marks) and not caller, is_partial))

    def ask_all(self, kind):
        """Asks for all threads at once: the threads of a core file, or the threads of a process
        that this gdb itself has stopped."""
        inferior = gdb.selected_inferior()
        if kind == 'core':
            self.take(self.run(core_path()))
        elif threads := all_threads(inferior):
            self.ask(inferior.pid, threads)

    def ask(self, pid, threads, is_partial=False):
        """Asks for the stacks that begin with these registers."""
        for thread in threads:
            thread['registers'] = {name: hex(value) for name, value in thread['registers'].items()}
        self.take(self.run(pid, '--debugger', text=json.dumps(threads)), is_partial)

    def ask_one(self, pending, key):
        """Asks for the stack that begins with the frame."""
        registers = pending_registers(pending)
        if any(name not in registers for name in NEEDED):
            raise Trouble('a register of a managed frame is not known')
        known = self.frames.pop(key, None)
        thread = {'tid': gdb.selected_thread().ptid[1], 'name': '', 'registers': dict(registers)}
        self.ask(gdb.selected_inferior().pid, [thread], is_partial=len(registers) < len(REGISTERS))
        found = self.frames.get(key)
        if known and found:
            self.frames[key] = known._replace(caller=found.caller, note=found.note, is_last=found.is_last, is_partial=found.is_partial)
        # The call was the last instruction of its method, so the return address belongs to another
        # method.
        if pending.level() and not known and found and found.start == key[0]:
            self.frames[key] = found._replace(name=None, caller=None, note='the method that was called never returns')

    def learn(self, kind, pending, key):
        """Asks for all stacks, then for the stack of the frame, because a stack can be longer
        than its copy."""
        if 'all' not in self.failed:
            self.failed.add('all')
            self.ask_all(kind)
        found = self.frames.get(key)
        if kind == 'native' and key not in self.failed and (not found or (found.is_last and found.kind not in NOT_MANAGED)):
            self.failed.add(key)
            self.ask_one(pending, key)

    def find(self, pending, key):
        """Returns the managed frame of a pending frame; None: native code. A managed frame
        without a caller ends the walk."""
        kind = self.kind()
        is_likely = self.may_be_managed(kind, key[0])
        if not is_likely and not (kind == 'core' and self.has_runtime):
            return None
        try:
            self.learn(kind, pending, key)
        except Trouble as trouble:
            self.tell(str(trouble))
        except Exception as error:  # pylint: disable=broad-except
            self.tell(f'clrsym has given no stacks: {error!r}')
        found = self.frames.get(key) or UNKNOWN._replace(start=key[0])
        if found.kind in NOT_MANAGED or (key not in self.frames and not is_likely):
            return None
        if not found.caller:
            self.frames[key] = found = found._replace(note=found.note or 'callers unknown: info clrsym')
        return found


class ManagedUnwinder(gdb.unwinder.Unwinder):
    """Gives gdb the callers of managed frames."""

    def __init__(self):
        super().__init__('clrsym')

    def __call__(self, pending):
        try:
            if pending.architecture().name() not in MACHINES:
                if pending.architecture().name().startswith('aarch64'):
                    WALKS.tell('managed frames are read on x86-64 only')
                return None
            return self.unwind(pending)
        except Trouble as trouble:
            WALKS.tell(str(trouble))
        except Exception as error:  # pylint: disable=broad-except
            WALKS.tell(f'managed frames are unknown: {error!r}')
        return None

    def unwind(self, pending):
        """Returns the caller; None: gdb must find the caller."""
        pc, sp = (int(pending.read_register(name)) for name in ('rip', 'rsp'))
        frame = WALKS.find(pending, (pc, sp))
        if not frame:
            return None
        # For gdb, a frame with the program counter 0 ends the stack.
        caller = frame.caller or {'rip': 0, 'rsp': sp}
        if frame.is_partial:
            caller = {name: caller[name] for name in NEEDED if name in caller}
        info = pending.create_unwind_info(FrameId(gdb.Value(caller.get('rsp', sp)), gdb.Value(frame.start)))
        for name, value in caller.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


class NamelessFrame(gdb.FrameDecorator.FrameDecorator):
    """Native code without a name: with a frame filter, gdb prints no replacement for the name."""

    def function(self):
        return '??'


class ManagedFrame(gdb.FrameDecorator.FrameDecorator):
    """A frame with the name of its method, and its line."""

    def __init__(self, base, found):
        super().__init__(base)
        self.found = found

    def function(self):
        words = [self.found.name or '??', '' if self.found.is_certain else '~', self.found.note and f'[{self.found.note}]']
        return ' '.join(word for word in words if word)

    def filename(self):
        return self.found.file

    def line(self):
        return self.found.line

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class ManagedFilter:
    """Prints managed frames in gdb's format."""

    def __init__(self):
        self.name, self.priority, self.enabled = 'clrsym', 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        """Implements a frame filter: yields the frames without the marker with which the
        unwinder ends a stack."""
        is_end = False
        for base in frames:
            if not is_end or base.inferior_frame().pc():
                base = self.decorate(base)
                is_end = isinstance(base, ManagedFrame) and not base.found.caller
                yield base

    def decorate(self, base):
        """Returns the frame with gdb's own format if it is not managed."""
        frame = base.inferior_frame()
        if frame.type() != gdb.NORMAL_FRAME or frame.name():
            return base
        try:
            found = WALKS.frames.get((frame.pc(), int(frame.read_register('rsp'))))
        except gdb.error:
            found = None
        return ManagedFrame(base, found) if found and found.kind not in NOT_MANAGED else NamelessFrame(base)


class Info(gdb.Command):
    """Number of known managed frames, and clrsym's messages about the others."""

    def __init__(self):
        super().__init__('info clrsym', gdb.COMMAND_STACK)

    def invoke(self, _argument, _from_tty):
        named = sum(frame.kind == 'managed' for frame in WALKS.frames.values())
        gdb.write(f'{named} managed frames are known at this stop.\n')
        gdb.write(''.join(f'It was said: {text}\n' for text in WALKS.messages))
        try:
            gdb.write(f'Stacks are read by {program()} stack.\n')
        except Trouble as trouble:
            gdb.write(f'{trouble}\n')


for prefix in 'set clrsym', 'show clrsym':
    gdb.Command(prefix, gdb.COMMAND_STACK, prefix=True)
WALKS = Walks()
PROGRAM = Setting('program', gdb.PARAM_OPTIONAL_FILENAME, None, 'the program clrsym that reads managed stacks')
OPTIONS = Setting('options', gdb.PARAM_STRING, '', 'further options of clrsym stack, such as --symbols DIR')
TIMEOUT = Setting('timeout', gdb.PARAM_ZUINTEGER, 10, 'how many seconds clrsym may take')
for event in 'cont', 'stop', 'exited', 'inferior_call', 'memory_changed', 'register_changed', 'new_objfile', 'clear_objfiles':
    getattr(gdb.events, event).connect(WALKS.forget)
gdb.unwinder.register_unwinder(None, ManagedUnwinder(), replace=True)
ManagedFilter()
Info()
