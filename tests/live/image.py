# SPDX-License-Identifier: MIT
"""The container image's root directory, run as the DaemonSet runs it, beside a .NET program in its own namespaces: the
names are those of the runtime's perf map, the manifest's capabilities suffice, and each of them is needed.

    image.py ROOT MANIFEST

Must be run by root. Everything runs in a pid namespace that ends with this program: no process of the machine is
attached."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


import yaml

from tests.live import live, test_plain
from tests.traces import recorded

INSIDE = 'CLRSYM_TEST_INSIDE'
MANUAL = pathlib.Path(__file__).parents[2] / 'man/clrsym-container.7'
USER = 1654
# s; the attacher reports after 8 s what it cannot attach. Used if no name is expected.
ENOUGH = 12
# Minimum of bodies in the program's perf map.
LEAST = 10
# In the directory $1: the file systems of a container with hostPID, the root read-only.
ENTER = '''
root=$1 shared=$2 user=$3 capabilities=$4 runtime=$5
shift 5
mount --bind "$root" "$root"
cd "$root"
mount --rbind /proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs tmp
mount --bind "$shared" run
mount -o remount,bind,ro "$root"
pivot_root . mnt
umount -l mnt
exec env -i LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin XDG_RUNTIME_DIR="$runtime" \
        setpriv --reuid "$user" --regid "$user" --clear-groups \
        --bounding-set="$capabilities" --inh-caps=-all --no-new-privs "$@"
'''


class Image:
    """The image, and a directory that its containers share as /run: a new one, without an earlier holder. RUNTIME: their
    XDG_RUNTIME_DIR."""

    def __init__(self, root, directory, user=0, runtime='/run'):
        self.root, self.shared, self.user, self.runtime = root, pathlib.Path(tempfile.mkdtemp(dir=directory)), user, runtime
        # As a volume of Kubernetes: it belongs to root.
        self.shared.chmod(0o777)
        self.query = self.shared / pathlib.Path(runtime).relative_to('/run') / 'clrsym/query'
        # Mount points.
        for name in ('mnt', 'tmp', 'run', 'proc', 'dev'):
            (root / name).mkdir(exist_ok=True)

    def command(self, capabilities, *words):
        bounding = ','.join(['-all', *(f'+{name.lower()}' for name in sorted(capabilities))])
        return ['unshare', '--mount', 'bash', '-euc', ENTER, 'bash', self.root, self.shared, self.user, bounding,
                self.runtime, *words]

    def run(self, capabilities, *words, text=None):
        return subprocess.run([str(word) for word in self.command(capabilities, *words)], input=text, check=False,
                              capture_output=True, text=True, timeout=live.TIMEOUT)


class Elsewhere(test_plain.Plain):
    """The program as process 1 of another container: another user, pids and /tmp."""

    def __init__(self, assembly):
        self.process, self.outside = None, 0
        self.command = ['unshare', '--pid', '--fork', '--mount', '--mount-proc', '--kill-child', 'bash', '-euc',
                        'mount -t tmpfs -o mode=1777 tmpfs /tmp; exec setpriv --reuid "$1" --regid "$1" --clear-groups '
                        'env HOME=/tmp dotnet "$2"', 'bash', USER, assembly]

    @contextlib.contextmanager
    def running(self):  # pylint: disable=arguments-differ
        environment = {name: value for name, value in os.environ.items() if not name.startswith('DOTNET_')}
        environment |= {'DOTNET_PerfMapEnabled': '3', 'DOTNET_SYSTEM_GLOBALIZATION_INVARIANT': '1', 'DOTNET_LTTng': '0'}
        environment.pop('TMPDIR', None)
        with live.child(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as self.process:
            self.line('READY')
            children = pathlib.Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children').read_text(encoding='ascii')
            self.outside = int(children.split()[0])
            yield self
            self.process.stdin.close()
            self.process.wait(live.TIMEOUT)

    @property
    def pid(self):
        return self.outside

    def bodies(self):
        return self.bodies_of(pathlib.Path(f'/proc/{self.outside}/root/tmp/perf-1.map'))


def capabilities_of(manifest):
    """Name of the container -> (command, capabilities)."""
    pod = yaml.safe_load(manifest.read_text(encoding='utf-8'))['spec']['template']['spec']
    return pod, {row['name']: (row['command'], set(row['securityContext']['capabilities']['add'])) for row in pod['containers']}


def check_manifest(tap, pod):
    """The manifest gives the pod no more rights of the node than necessary."""
    tap.equal([name for name in ('hostNetwork', 'hostIPC') if pod.get(name)], [], 'no other namespace of the node than')
    tap.check(pod['hostPID'] is True and pod['automountServiceAccountToken'] is False, 'that of its processes')
    for row in pod['containers']:
        context = row['securityContext']
        tap.equal((context['privileged'], context['allowPrivilegeEscalation'], context['readOnlyRootFilesystem'],
                   context['capabilities']['drop']), (False, False, True, ['ALL']), f'{row["name"]} has what it lists only')
        tap.equal({mount['name'] for mount in row['volumeMounts']} - {volume['name'] for volume in pod['volumes']}, set(),
                  f'{row["name"]}: its volumes exist')


def try_out(image, program, commands, patience=live.TIMEOUT):
    """(wrong or missing names, all names, the attacher's output) by the program's pid on the node. PATIENCE: s."""
    (daemon, of_daemon), (attach, of_attach) = commands['daemon'], commands['attach']
    with open(image.shared / 'log', 'w', encoding='utf-8') as log, \
            live.child(image.command(of_daemon, *daemon), stderr=log) as serving:
        live.wait_for('the daemon', image.query.exists, serving)
        with live.child(image.command(of_attach, *attach), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as attaching:
            deadline = time.monotonic() + patience
            while not (listed := image.run(of_daemon, 'clrsym', 'ps', '--json').stdout) and time.monotonic() < deadline:
                time.sleep(0.2)
            if listed:
                # The process is listed at its first event: wait for the end of its rundown.
                image.run(of_attach, 'clrsym', 'attach', f'--wait={patience}', program.pid)
            program.burst()
            bodies = program.bodies()
            done = image.run(of_daemon, 'clrsym', 'resolve', '--json', f'--wait={patience}', '--pid', program.pid,
                             text=''.join(f'{start:#x}\n' for start in bodies))
            answers = list(map(json.loads, done.stdout.splitlines()))
            image.run(of_attach, 'clrsym', 'detach', '--all')
            attaching.terminate()
            text = attaching.communicate()[0]
    bad = [(names, answer) for names, answer in zip(bodies.values(), answers) if not test_plain.is_right(names, answer)]
    return bad + [None] * (len(bodies) - len(answers)), len(bodies), text + done.stderr + (image.shared / 'log').read_text(encoding='utf-8')


def check_capabilities(tap, root, directory, commands):
    assembly = live.build(directory, 'plain', 'clrsym-plain.dll')
    with Elsewhere(assembly).running() as program:
        bad, n, text = try_out(Image(root, directory), program, commands)
        tap.check(n > LEAST and not bad, f'with the capabilities of the manifest, {n} names are those of the perf map',
                  len(bad), *bad[:3], text)
    for name, (command, capabilities) in commands.items():
        for dropped in sorted(capabilities):
            with Elsewhere(assembly).running() as program:
                bad, n, text = try_out(Image(root, directory), program, {**commands, name: (command, capabilities - {dropped})}, ENOUGH)
            tap.check(len(bad) == n > LEAST, f'{name} needs {dropped}', f'{n - len(bad)} of {n} names')
            tap.note(f'without {dropped}, {name}: {text.strip() or "no message"}; {bad[0] and bad[0][1]["status"] if bad else ""}')


def sidecar_of_manual():
    """The containers of the example in clrsym-container(7), by name."""
    text = MANUAL.read_text(encoding='utf-8').partition('.SH SIDECAR\n')[2].partition('.nf\n')[2].partition('.fi\n')[0]
    return {row['name']: row for row in yaml.safe_load(text.replace('\\-', '-'))['spec']['containers']}


def check_sidecar(tap, root, directory):
    """A sidecar of one program, as its user."""
    containers = sidecar_of_manual()
    commands = {name: (containers[name]['command'], set()) for name in ('daemon', 'attach')}
    runtime, = {containers[name]['env'][0]['value'] for name in commands}
    tap.equal({(row['volumeMounts'][0]['mountPath'], *row['securityContext']['capabilities']['drop'])
               for row in map(containers.get, commands)}, {('/run', 'ALL')}, 'the sidecar of the manual shares /run')
    user, = {row['securityContext']['runAsUser'] for row in containers.values()}
    tap.equal(user, USER, 'and has the user of the program')
    with Elsewhere(live.build(directory, 'plain', 'clrsym-plain.dll')).running() as program:
        bad, n, text = try_out(Image(root, directory, user, runtime), program, commands)
    tap.check(n > LEAST and not bad, f'the user of the program needs no capability: {n} names', len(bad), *bad[:3], text)


def main():
    root, manifest = map(pathlib.Path, sys.argv[1:])
    tap = recorded.Tap()
    pod, commands = capabilities_of(manifest)
    check_manifest(tap, pod)
    if reason := live.no_dotnet():
        tap.skip('the capabilities', reason)
        tap.finish()
    # Not in /tmp, because the program has its own.
    with tempfile.TemporaryDirectory(prefix='clrsym-', dir='/var/tmp') as directory:
        directory = pathlib.Path(directory)
        directory.chmod(0o755)
        for name in 'capabilities', 'sidecar':
            (directory / name).mkdir()
        check_capabilities(tap, root, directory / 'capabilities', commands)
        check_sidecar(tap, root, directory / 'sidecar')
    tap.finish()


if __name__ == '__main__':
    if INSIDE not in os.environ:
        os.environ[INSIDE] = '1'
        os.execvp('unshare', ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '/usr/bin/python3', '-B',
                              *sys.argv])
    main()
