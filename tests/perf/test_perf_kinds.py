# SPDX-License-Identifier: MIT
"""Recordings of all kinds: `clrsym report` against perf's own mappings, symbols, names of threads and order of
samples, which clrsym's filter prints."""

import difflib
import pathlib
import re
import shutil
import subprocess

from tests.perf import perftool
from tests.traces import recorded


# Name -> options of perf record, and the recorded command.
KINDS = {
    'frame pointers': (['-g'], None),
    'no stacks': ([], None),
    'compressed': (['-g', '-z'], None),
    'two events': (['-g', '-e', 'cpu-clock,page-faults'], None),
    'a tracepoint': (['-g', '-e', 'sched:sched_switch'], None),
    'build ids in mappings': (['-g', '--buildid-mmap'], None),
    'no build ids': (['-g', '-B'], None),
    # perf script 6.1 stops with "Bad address" where another program has loaded a BPF program at an address again.
    'the whole machine': (['-g', '-a', '--namespaces', '--no-bpf-event'], None),
    'switches': (['-g', '--switch-events'], None),
    'registers': (['-g', '-I'], None),
    'to a pipe': (['-g'], 'pipe'),
}
# Threads and programs begin, end and execute others; no other program has such names.
OWN = 'kinds-'
PROGRAMS = 'sh', 'ls', 'sort', 'md5sum'
COMMAND = [f'{OWN}sh', '-c', 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; kinds-ls -lR /usr/share/doc >/dev/null; '
           '(exec kinds-sh -c "kinds-ls -lR /usr/lib >/dev/null") & kinds-ls -lR /usr/include | kinds-sort | kinds-md5sum; '
           'wait']


def record(path, options, how):
    """False: perf cannot make that recording here."""
    frequency = [] if 'sched:sched_switch' in options else ['-F', '4999']
    command = ['perf', 'record', '-q', '-k', 'mono', *frequency, *options, '-o', '-' if how == 'pipe' else path, '--', *COMMAND]
    with open(path, 'wb') as file:
        return subprocess.run(command, stdout=file if how == 'pipe' else subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env={'PATH': f'{path.parent}:/usr/bin:/bin', 'LC_ALL': 'C'}).returncode == 0


def paths_of_several(programs, path):
    """Paths at which containers had different files. perf has one build id for a path, so its names can be wrong."""
    events = perftool.script(programs, path, '--show-mmap-events').stdout
    files = set(re.findall(r'PERF_RECORD_MMAP2 .* @ \S+ (\S+ \d+) \d+\]: \S+ (/.*)', events))
    paths = [path for _, path in files]
    return {path for path in paths if paths.count(path) > 1}


def comparable(text, several):
    """The samples of COMMAND only: between the two commands, files of other programs can disappear, and their roots
    differ. Without the names of code in the paths SEVERAL."""
    own = '\n\n'.join(sample for sample in perftool.without_linkage(text).split('\n\n') if sample.startswith(OWN))
    for path in several:
        own = re.sub(rf'( [0-9a-f]+ )\S.*( \({re.escape(path)}\))', r'\1[unknown]\2', own)
    return own


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('perf', reason)
        return
    environment = {**perftool.environment(programs), 'CLRSYM_SOCKET': str(pathlib.Path(directory) / 'none')}
    for name in PROGRAMS:
        (pathlib.Path(directory) / f'{OWN}{name}').symlink_to(shutil.which(name))
    for name, (options, how) in KINDS.items():
        path = pathlib.Path(directory) / 'kind.data'
        if not record(path, options, how):
            tap.note(f'{name}: perf cannot record that here')
            continue
        ours = perftool.clrsym_perf(programs, '-i', path, env=environment)
        perfs = perftool.script(programs, path, settings=['no-events', 'mapped-only'])
        several = paths_of_several(programs, path) if '-a' in options else ()
        lines = [(comparable(done.stdout, several) if '-a' in options else perftool.without_linkage(done.stdout)).split('\n')
                 for done in (perfs, ours)]
        differing = [line for line in difflib.unified_diff(*lines, n=0, lineterm='')] if lines[0] != lines[1] else []
        tap.check(ours.returncode == 0 and perfs.returncode == 0 and len(lines[1]) > 20 and not differing,
                  f'{name}: {len(lines[1])} lines as perf has them', ours.stderr, perfs.stderr, *differing[:12])


if __name__ == '__main__':
    recorded.main(run)
