# SPDX-License-Identifier: MIT
"""`clrsym perf` and stacks that perf copied (--call-graph dwarf). For a native program without frame pointers,
perf's own unwinding of the same samples is the truth. Damaged files give a reason, not a crash."""

import pathlib
import re
import subprocess

from tests.perf import perftool
from tests.traces import recorded

SOURCE = '''
#include <stdlib.h>
#include <string.h>
#define STEP __attribute__((noinline, noclone))
static volatile unsigned long sink;
STEP void leaf(int n) { char room[200]; memset(room, n, sizeof(room)); for (int i = 0; i < 2000; i++) sink += room[i % 200]; }
STEP int deep(int n) { char room[64]; memset(room, n, sizeof(room)); if (n) deep(n - 1); else leaf(n); return sink += room[n]; }
STEP int compare(const void *a, const void *b) { leaf(3); return *(const int *)a - *(const int *)b; }
STEP void sorted(void) { int values[64]; for (int i = 0; i < 64; i++) values[i] = i * 37 % 64; qsort(values, 64, 4, compare); sink++; }
int main(void) { for (int i = 0; i < 2500; i++) { deep(i % 30); sorted(); } return 0; }
'''
# A fault at a function's first byte: another function is before it.
FAULTING = '''
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
void fault(void), ahead(void);
__asm__(".text\\n.type ahead,@function\\n.globl ahead\\nahead: .cfi_startproc\\nnop\\nret\\n.cfi_endproc\\n.size ahead,.-ahead\\n"
        ".type fault,@function\\n.globl fault\\nfault: .cfi_startproc\\nud2\\nret\\n.cfi_endproc\\n.size fault,.-fault\\n");
static volatile unsigned long sink;
__attribute__((noinline)) void on_fault(int signal, siginfo_t *info, void *context)
{
    for (int i = 0; i < 4000000; i++) sink += i;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}
__attribute__((noinline)) void caller(void) { fault(); sink++; }
int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, 0);
    for (int i = 0; i < 60; i++) caller();
    return 0;
}
'''
# A call that does not return is a function's last instruction: its return address is in another function.
THROWING = '''
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline, noreturn)) void die(void) { for (int i = 0; i < 300000000; i++) sink += i; exit(0); }
__attribute__((noinline, noclone)) void thrower(void) { sink++; die(); }
__attribute__((noinline, noclone)) void another(void) { sink++; }
int main(int n, char **words) { if (n > 5) another(); thrower(); sink++; return 0; }
'''
ROOT = re.compile(r' (?:main|__libc_start\w+)(?:@\S+)?\+0x')
FRAME = re.compile(r'^\s+([0-9a-f]+) (\S+)')


def stacks(text):
    """The names of each sample's frames, the leaf first."""
    found = []
    for block in text.split('\n\n'):
        names = [match[2].split('+')[0].split('@')[0].split('.')[0] for line in block.splitlines() if (match := FRAME.match(line))]
        if names:
            found.append(names)
    return found


def build(program, *options, source=SOURCE):
    subprocess.run(['gcc', '-O2', *(options or ['-fomit-frame-pointer']), '-o', program, '-x', 'c', '-'], input=source,
                   text=True, check=True)


def record(directory, *options, source=SOURCE, settings=()):
    program, data = directory / 'deep', directory / 'deep.data'
    build(program, *settings, source=source)
    subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock:u', '-k', 'mono', '-B', '-N', '-F', '997', *options,
                    '-o', data, program], check=True)
    return data


def program_part(names):
    """The frames from the leaf to main; those below belong to the C library."""
    return names[:names.index('main') + 1] if 'main' in names else names


def test_same(tap, name_stacks, directory):
    for options in ((), ('--buildid-mmap',)):
        data = record(directory, '--call-graph', 'dwarf', *options)
        theirs = [program_part(names) for names in stacks(subprocess.run(
            ['perf', 'script', '-i', data, '-F', 'comm,ip,sym', '--no-inline'], check=True, capture_output=True, text=True).stdout)]
        done = name_stacks(data)
        ours = [program_part(names) for names in stacks(done.stdout)]
        tap.check(len(theirs) > 100 and len(ours) == len(theirs), 'each sample has a stack', len(ours), len(theirs), done.stderr)
        tap.check('callers cannot be found' not in done.stderr, 'nothing is said of stacks that have callers', done.stderr)
        same = sum(one == other for one, other in zip(ours, theirs))
        others = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
        tap.check(same >= 0.98 * len(theirs), f'{same} of {len(theirs)} as perf unwinds them', others[:3])
        whole = sum(names[-1] == 'main' for names in ours)
        tap.check(whole >= 0.98 * len(ours), f'{whole} of {len(ours)} lead to main')


def test_signal(tap, name_stacks, directory):
    done = name_stacks(record(directory, '--call-graph', 'dwarf', source=FAULTING))
    ours = [program_part(names) for names in stacks(done.stdout)]
    whole = [names for names in ours if names[0] == 'on_fault']
    right = sum(names[-3:] == ['fault', 'caller', 'main'] for names in whole)
    tap.check(len(whole) > 50 and right == len(whole), f'{right} of {len(whole)} stacks lead through a signal to what it '
              'interrupted', ours[:3], done.stderr)


def test_no_return(tap, name_stacks, directory):
    settings = ['-fno-omit-frame-pointer', '-fno-toplevel-reorder', '-falign-functions=1']
    for graph in 'fp', 'dwarf':
        done = name_stacks(record(directory, '--call-graph', graph, source=THROWING, settings=settings))
        ours = [names for names in map(program_part, stacks(done.stdout)) if names[0] == 'die']
        right = sum(names == ['die', 'thrower', 'main'] for names in ours)
        tap.check(len(ours) > 50 and right == len(ours), f'{graph}: {right} of {len(ours)} stacks have the caller that is not '
                  'returned to', ours[:3], done.stderr)


def check_roots(tap, done, what, of):
    """Each stack reaches the program's root, or shows that it does not. Main may be missing: in a function's first
    two instructions and its last one, there is no frame yet, so frame pointers skip its caller."""
    blocks = [block for block in done.stdout.split('\n\n') if of in block]
    cut = [block for block in blocks if block.splitlines()[-1].endswith(' [truncated]+0x0 ([unknown])')]
    bad = [block for block in blocks if block not in cut and not ROOT.search(block)]
    tap.check(len(cut) > 20 and not bad, f'{what}: {len(cut)} of {len(blocks)} stacks have a root that shows it', *bad[:2])


def test_cut(tap, name_stacks, directory):
    done = name_stacks(record(directory, '--call-graph', 'dwarf,1024'))
    tap.check(done.returncode == 0 and 'stacks are longer than their copies' in done.stderr and
              re.search(r'stacks: [\d.]+ % whole, [\d.]+ % longer than what perf copied', done.stderr),
              'stacks that are cut are counted', done.stderr)
    check_roots(tap, done, 'a short copy', ' leaf+0x')
    done = name_stacks(record(directory, '--call-graph', 'fp', source=SOURCE.replace('deep(i % 30); sorted();', 'deep(200);').replace('2500', '60000'),
                              settings=['-fno-omit-frame-pointer']))
    tap.check(done.returncode == 0 and re.search(r' % cut at the limit of frames \(kernel\.perf_event_max_stack\)', done.stderr),
              "stacks that are deeper than perf's limit are counted", done.stderr)
    check_roots(tap, done, 'many frames', ' deep+0x')
    done = name_stacks(record(directory, '--call-graph', 'dwarf', '-z'))
    n_samples = int(re.search(r'^clrsym: (\d+) samples', done.stderr, re.M)[1])
    tap.check(done.returncode == 0 and 100 < 0.95 * n_samples < done.stdout.count(' main+0x') and ' % whole' in done.stderr,
              'a compressed recording has its callers', done.stderr)


def test_missing(tap, name_stacks, directory):
    directory = directory / 'hostile\x1b[31m'
    directory.mkdir()
    data, program = record(directory, '--call-graph', 'dwarf'), directory / 'deep'
    wanted = 'stacks can lack callers: ' + str(program).replace('\x1b', '\\u{1b}') + ' is missing here, or has changed since the recording'
    # A file with the same name, but another inode and build id.
    program.rename(directory / 'before')
    build(program, '-O1', '-fomit-frame-pointer')
    done = name_stacks(data)
    tap.check(done.returncode == 0 and wanted in done.stderr, 'a program that was built again is reported', done.stderr)
    program.unlink()
    done = name_stacks(data)
    tap.check(done.returncode == 0 and wanted in done.stderr, 'a program that is gone is reported', done.stderr)


def test_damaged(tap, name_stacks, directory):
    whole = record(directory, '--call-graph', 'dwarf').read_bytes()
    damaged = directory / 'damaged.data'
    for what, content in (('cut', whole[:len(whole) // 2]), ('header only', whole[:104]),
                          ('an id that lies', whole[:112] + b'\xff' * 16 + whole[128:])):
        damaged.write_bytes(content)
        done = name_stacks(damaged)
        tap.check(done.returncode in (0, 1) and done.stderr, f'a damaged recording: {what}', done.returncode, done.stderr)


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('stacks that perf copied', reason)
        return
    directory = pathlib.Path(directory)
    with recorded.Daemon(programs, directory) as daemon:
        def name_stacks(data):
            return perftool.clrsym_perf(programs, '-i', data, *daemon.source, env=perftool.environment(programs))

        for test in (test_same, test_signal, test_no_return, test_cut, test_missing, test_damaged):
            test(tap, name_stacks, directory)


if __name__ == '__main__':
    recorded.main(run)
