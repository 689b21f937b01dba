# SPDX-License-Identifier: MIT
"""The systemd units, users and groups: systemd's own tools accept them, and they fit together.
The test needs no running systemd."""

import json
import os
import pathlib
import re

from tests.daemon.installed import Installed
from tests.traces import recorded

MANUAL = pathlib.Path(__file__).resolve().parents[2] / 'man' / 'clrsymd.8'
# Maximum exposure of a service in `systemd-analyze security`, in tenths.
EXPOSURE = {'clrsymd.service': 10, 'clrsym-feed@.service': 16, 'clrsym-relayd.service': 16,
            'clrsym-holder.service': 16, 'clrsym-attach.service': 14,
            'clrsym-coredump@.service': 13,
            # perf reads all processes.
            'clrsym-record@.service': 49}
# These services open files of other processes with openat2(2), which RestrictSUIDSGID=yes forbids.
OPENERS = 'clrsym-coredump@.service', 'clrsym-holder.service', 'clrsym-record@.service'
# Each socket: its path, mode, group and name. Programs rely on them.
SOCKETS = {
    'clrsymd.socket': ('/run/clrsym/query', '0666', None, 'query'),
    'clrsymd-ingest.socket': ('/run/clrsym/ingest', '0660', 'clrsym-ingest', 'ingest'),
    'clrsym-holder-port.socket': ('/run/clrsym/holder/port', '0666', None, 'port'),
    'clrsym-holder.socket': ('/run/clrsym/holder/control', '0666', None, 'control'),
}
# The user of each service. The manual describes the groups of the same names.
USERS = {'clrsymd.service': 'clrsym', 'clrsym-feed@.service': 'clrsym-ingest',
         'clrsym-relayd.service': 'clrsym-ingest'}


class Unit:
    """A unit file: its comments, and its assignments as lists of values."""

    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding='utf-8')
        self.comments = '\n'.join(line for line in text.splitlines() if line.startswith('#'))
        self.values = {}
        for line in re.sub(r'\\\n', '', text).splitlines():
            if match := re.match(r'(\w+)=(.*)', line):
                self.values.setdefault(match.group(1), []).append(match.group(2))

    def one(self, key):
        values = self.values.get(key)
        return values[-1] if values else None


def check_security(tap, installed, units):
    for name, limit in EXPOSURE.items():
        unit = units[name]
        command = ['systemd-analyze', 'security', '--offline=true', '--no-pager']
        done = installed.tool(*command, f'--threshold={limit}', unit.path)
        overall = done.stdout.strip().splitlines()[-1:]
        tap.check(done.returncode == 0 and 'exposure level' in ''.join(overall),
                  f'{name}: exposure at most {limit / 10}', done.stdout, done.stderr)
        tap.note(''.join(overall).strip('→ '))
        findings = json.loads(installed.tool(*command, '--json=short', unit.path).stdout)
        unsafe = [row['json_field'] for row in findings
                  if not row['set'] and row['exposure'] is not None]
        tap.check(len(findings) > 50 and unsafe, f'{name}: its findings are reported', findings)
        words = {re.split('_|Or[A-Z]', field)[0] for field in unsafe}
        tap.equal(sorted(word for word in words if f'{word}=' not in unit.comments
                         and word.replace('Deny', 'Allow') + '=' not in unit.comments), [],
                  f'{name}: what it leaves open has its reason in the unit')


def check_openers(tap, units):
    tap.equal([name for name in OPENERS if units[name].one('RestrictSUIDSGID') in ('yes', 'true', '1', 'on')], [],
              'services that open files of other processes may use openat2')


def check_memory(tap, units):
    """MemoryMax= of the unit is above the need of a daemon with MemoryMax=1G in its
    configuration."""
    unit = units['clrsymd.service']
    limit = unit.one('MemoryMax') or '0G'
    tap.check(limit.endswith('G') and int(limit[:-1]) << 10 >= 2 * (1280 + 48),
              'the daemon has a memory limit with room for twice its resident set', limit)
    tap.equal([unit.one('MemorySwapMax'), unit.one('OOMPolicy')], ['0', 'continue'],
              'it does not swap, and outlives a child that is killed')
    holder = units['clrsym-holder.service']
    tap.equal([holder.one(key) for key in ('MemoryMax', 'MemorySwapMax', 'OOMPolicy')],
              ['4G', '0', 'continue'], 'a worker that takes too much costs itself only')


def check_verify(tap, installed, units, is_in_place):
    if not is_in_place:
        tap.skip('systemd-analyze verify', 'the programs can be put in their place by root only')
        return
    names = [str(unit.path.relative_to(installed.root)) for unit in units.values()]
    names = ['/' + name.replace('@.', '@some-session.') for name in names]
    done = installed.tool('systemd-analyze', 'verify', '--man=yes', '--recursive-errors=no', *names)
    said = [line for line in done.stderr.splitlines() if 'clrsym' in line]
    tap.check(done.returncode == 0 and not said and not done.stdout, 'systemd-analyze verify: '
              f'{len(names)} units, their programs and manuals', done.returncode, done.stderr)
    bad = installed.root.parent / 'bad.service'
    bad.write_text(units['clrsymd.service'].path.read_text(encoding='utf-8')
                   .replace('/bin/clrsymd', '/bin/no-clrsymd'), encoding='utf-8')
    done = installed.tool('systemd-analyze', 'verify', '--recursive-errors=no', bad)
    tap.check('no-clrsymd' in done.stderr, 'and it would see a program that is not there',
              done.stderr)


def check_sockets(tap, units):
    for name, want in SOCKETS.items():
        unit = units[name]
        activated = units[unit.one('Service') or name.replace('.socket', '.service')]
        got = tuple(unit.one(key) for key in ('ListenStream', 'SocketMode', 'SocketGroup',
                                              'FileDescriptorName'))
        tap.equal(got, want, f'{name}: place, mode, group, name')
        tap.check(name in activated.one('Requires').split()
                  and (not unit.one('Service') or name in activated.one('Sockets').split()),
                  f'{name} and its service know each other')
        # When a service stops, systemd removes its runtime directory.
        runtime = f'/run/{activated.one("RuntimeDirectory")}/'
        tap.check(not unit.one('ListenStream').startswith(runtime)
                  or activated.one('RuntimeDirectoryPreserve') == 'yes',
                  f'{name}: it does not go with the service')
    tap.check('clrsymd-ingest.socket' in units['clrsymd.socket'].one('Wants'),
              'clrsymd.socket brings the other one')


def check_directives(tap, installed, units):
    service = units['clrsymd.service']
    tap.check(service.one('Type') == 'notify' and service.one('WatchdogSec')
              and 'HUP' in service.one('ExecReload') and service.one('StateDirectory') == 'clrsym',
              'clrsymd.service: ready, watched, reloaded, with a state')
    feed = units['clrsym-feed@.service']
    tap.check(feed.one('ExecStart').split()[1:4] == ['feed', '--session', '%i']
              and feed.one('KillSignal') == 'SIGINT', 'clrsym-feed@: the session by its name')
    # The feeder keeps running when the daemon exits or is stopped.
    tap.check(not {'Requires', 'BindsTo', 'PartOf', 'Requisite'} & set(feed.values),
              'clrsym-feed@ outlives a restart of the daemon')
    relay = units['clrsym-relayd.service'].one('ExecStart')
    ports = re.findall(r'--\w+-port=(\S+)', relay)
    tap.check(len(ports) == 3 and all(port.startswith('tcp://127.0.0.1:') for port in ports),
              'clrsym-relayd listens on 127.0.0.1 only', ports)
    tap.equal(re.findall(r'--relay-output (\S+)', feed.one('ExecStart')),
              re.findall(r'--output=(\S+)', relay), 'feeders catch up from where it writes to')
    tap.check(f'--output=%S/{units["clrsym-relayd.service"].one("StateDirectory")}' in relay.split(),
              'which is its state directory, of its own', relay)
    # LTTng's live protocol has no users, so its network must have no others.
    tap.check(units['clrsym-relayd.service'].one('PrivateNetwork') == 'yes'
              and feed.one('PrivateNetwork') == 'yes'
              and feed.one('JoinsNamespaceOf') == 'clrsym-relayd.service',
              'the relay daemon is alone with its feeders')
    dropin, = [path for path in installed.files if path.endswith('/clrsym.conf')
               and 'lttng-sessiond.service.d' in path]
    sessiond = Unit(installed.staged(dropin))
    tap.check(sessiond.one('PrivateNetwork') == 'yes'
              and sessiond.one('JoinsNamespaceOf') == 'clrsym-relayd.service',
              "and with root's session daemon")
    # The feeder reads data that traced programs have written.
    tap.equal([feed.one(key) for key in ('MemoryMax', 'MemorySwapMax', 'OOMPolicy',
                                         'OOMScoreAdjust')], ['1G', '0', 'continue', '500'],
              'a forged length costs a reader, not the machine')
    # Feeders and the daemon read the machine's boot id.
    tap.equal([units[name].one('ProcSubset') for name in (
        'clrsymd.service', 'clrsym-holder.service', 'clrsym-feed@.service',
        'clrsym-record@.service')], [None] * 4, 'they see the id of the boot')
    # clrsym status searches there.
    tap.equal((feed.one('RuntimeDirectory'), feed.one('Environment')),
              ('clrsym/feed-%i', 'CLRSYM_SESSIONS=%t/clrsym/feed-%i'),
              'clrsym-feed@ says how it is where root finds it')
    for name, unit in units.items():
        if program := unit.one('ExecStart'):
            path = program.split()[0]
            tap.check(installed.staged(path).exists() or os.access(path, os.X_OK),
                      f'{name}: its program is there', path)


def check_users(tap, installed, units):
    """Creates the users with systemd-sysusers, in a root directory of its own."""
    config, = [path for path in installed.files if path.endswith('/sysusers.d/clrsym.conf')]
    root = installed.root.parent / 'sysusers'
    (root / 'etc').mkdir(parents=True)
    done = installed.tool('systemd-sysusers', f'--root={root}', installed.staged(config))
    made = {}
    if tap.check(done.returncode == 0, 'systemd-sysusers makes them', done.stderr):
        passwd = (root / 'etc' / 'passwd').read_text(encoding='utf-8')
        made = {line.split(':')[0]: line.split(':') for line in passwd.splitlines()}
    groups = {line.split(':')[2]: line.split(':')[0]
              for line in (root / 'etc' / 'group').read_text(encoding='utf-8').splitlines()}
    tap.check(made and all(0 < int(user[2]) < 1000 and user[6].endswith('nologin')
                           and groups[user[3]] == name for name, user in made.items()),
              'system users that cannot log in, each with a group of its name', made)
    tap.equal({name: (units[name].one('User'), units[name].one('Group')) for name in USERS},
              {name: (user, user) for name, user in USERS.items()}, 'who runs as whom')
    used = {*USERS.values(), *(group for _, _, group, _ in SOCKETS.values() if group)}
    tap.equal(set(made), used, 'just those that the units need')


def check_manual(tap, units):
    text = re.sub(r'\\f.|\\', '', MANUAL.read_text(encoding='utf-8'))
    text = re.sub(r'clrsym-feed@ \w+ \.service', 'clrsym-feed@.service', text)
    missing = [name for name in (*units, *set(USERS.values())) if name not in text]
    tap.equal(missing, [], 'the manual has every unit, user and group')


def run(tap, programs, directory, names):
    installed = Installed(programs, directory)
    units = {pathlib.Path(path).name: Unit(installed.staged(path)) for path in installed.files
             if re.search(r'/systemd/system/[^/]+$', path)}
    if not units:
        tap.skip('the units', 'built without')
        return
    check_security(tap, installed, units)
    check_openers(tap, units)
    check_memory(tap, units)
    check_sockets(tap, units)
    check_directives(tap, installed, units)
    check_users(tap, installed, units)
    check_manual(tap, units)
    check_verify(tap, installed, units, installed.lay_over())


if __name__ == '__main__':
    recorded.main(run)
