# SPDX-License-Identifier: MIT
"""clrsymd's configuration: the files, the priority of their settings, and their description in
the manual."""

import json
import os
import pathlib
import re

from tests.traces import recorded

MANUAL = pathlib.Path(__file__).resolve().parents[2] / 'man' / 'clrsymd.conf.5'
MIB = 1 << 20
LIMITED = re.compile(r'takes (.*?), from (\S+) to ([^\s,]+)')


def memory_max(programs, daemon):
    status, = programs.ask(daemon.source, 'status')
    return json.loads(status)['memory_max']


def check_precedence(tap, programs, directory):
    config = pathlib.Path(directory) / 'some.conf'
    drop_ins = pathlib.Path(directory) / 'some.conf.d'
    config.write_text('[Daemon]\nMemoryMax=100M\nNew=1\n', encoding='utf-8')
    for name, options, want in (
            ('the file', ['--config', config], 100 * MIB),
            ('a drop-in goes before it', ['--config', config], 50 * MIB),
            ('an option goes before both', ['--config', config, '--memory-max', '20M'], 20 * MIB)):
        with recorded.Daemon(programs, directory, *options) as daemon:
            tap.equal(memory_max(programs, daemon), want, name)
            tap.check(daemon.log().startswith(f'clrsymd: warning: {config}: unknown key New '),
                      'with a warning for an unknown key', daemon.log())
        drop_ins.mkdir(exist_ok=True)
        (drop_ins / 'a.conf').write_text('[Daemon]\nMemoryMax=50M\n', encoding='utf-8')


def check_refused(tap, programs, directory):
    bad = pathlib.Path(directory) / 'bad.conf'
    bad.write_text('[Daemon]\nMaxClients=many\n', encoding='utf-8')
    missing = pathlib.Path(directory) / 'missing.conf'
    for options, said in (
            (['--config', bad], f"{bad}: MaxClients= takes a number, from 1 to 65536, not 'many'"),
            (['--config', bad, '--memory-max', '1G'], 'MaxClients='),
            (['--config', missing], str(missing)),
            (['--config', directory], directory),
            (['--memory-max', '7M'], '--memory-max takes a size'),
            (['--memory-max', ''], '--memory-max takes a size'),
            (['--memory-max'], '--memory-max')):
        done = programs.run([programs.clrsymd, '--ingest', f'{directory}/i', '--query',
                             f'{directory}/q', *options], timeout=20)
        tap.check(done.returncode == 2 and said in done.stderr and done.stderr.count('\n') == 1
                  and done.stderr.startswith('clrsymd: ') and not done.stdout,
                  f'exit 2: {" ".join(map(str, options))}', done.returncode, done.stderr)


def check_default(tap, programs, directory):
    """The file in /etc, in a mount namespace of the daemon's own."""
    if os.getuid() != 0:
        tap.skip('the default file', 'needs root')
        return
    wrapped = recorded.Programs.__new__(recorded.Programs)
    wrapped.__dict__.update(programs.__dict__)
    wrapped.clrsymd = str(pathlib.Path(directory) / 'wrapped-clrsymd')
    setting = "printf '[Daemon]\\nMemoryMax=%s\\n' "
    for name, prepare, want in (
            ('absent', '', 1024),
            ('only a drop-in', f'mkdir clrsymd.conf.d; {setting} 30M > clrsymd.conf.d/x.conf', 30),
            ('itself', f'{setting} 40M > clrsymd.conf', 40)):
        script = (f'mount -t tmpfs tmpfs /etc; mkdir /etc/clrsym; cd /etc/clrsym; {prepare}\n'
                  f'exec "{programs.clrsymd}" "$@"\n')
        pathlib.Path(wrapped.clrsymd).write_text(
            '#!/bin/sh\nif [ -z "$inside" ]; then inside=1 exec unshare -m "$0" "$@"; fi\nset -e\n'
            + script, encoding='utf-8')
        os.chmod(wrapped.clrsymd, 0o755)
        with recorded.Daemon(wrapped, directory) as daemon:
            tap.equal(memory_max(programs, daemon), want * MIB, f'the default file: {name}')


def check_manual(tap, programs, directory):
    """The defaults and limits in the manual are those of the program."""
    text = MANUAL.read_text(encoding='utf-8')
    entries = re.findall(r'^\\fB(\w+)=\\fI(\w+)\\fR\n(.*?)(?=^\.(?:TP|SH))', text, re.M | re.S)
    tap.check(len(entries) >= 7, 'the manual has the keys', entries)
    config = pathlib.Path(directory) / 'manual.conf'

    def load(key, value):
        config.write_text(f'[Daemon]\n{key}={value}\n', encoding='utf-8')
        # With an impossible socket path, clrsymd ends with status 1 after it has read the
        # configuration.
        return programs.run([programs.clrsymd, '--config', config, '--ingest', '/proc/x/ingest',
                             '--query', '/proc/x/query'], timeout=20)
    for key, kind, body in entries:
        bad = load(key, '?')
        tap.check(bad.returncode == 2 and 'unknown' not in bad.stderr, f'{key} is a key',
                  bad.stderr)
        default = re.search(r'[,;]\s+default\s+(\w+|\\f[BI]\S+)', body)
        tap.check(default is not None, f'{key} has a default', body)
        if kind == 'PATH':
            continue
        limits = LIMITED.search(bad.stderr)
        said = re.search(r'From\s+(\S+)\s+to\s+([^\s,]+),\s+default', body)
        tap.check(limits and said and limits.groups()[1:] == said.groups(),
                  f'{key} has the limits of the manual', bad.stderr, body)
        for value in (default.group(1), *said.groups(), *(['0'] if 'or 0 ' in bad.stderr else [])):
            done = load(key, value)
            tap.check(done.returncode == 1 and config.name not in done.stderr,
                      f'{key}={value} is accepted', done.returncode, done.stderr)
        tap.equal('; 0 is' in body, 'or 0 for' in bad.stderr, f'{key}: the manual has what 0 is')


def run(tap, programs, directory, names):
    check_precedence(tap, programs, directory)
    check_refused(tap, programs, directory)
    check_default(tap, programs, directory)
    check_manual(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
