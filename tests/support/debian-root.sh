# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A root directory of a release of Debian, made by debootstrap from the mirror in this machine's own apt
# sources, and commands in it. For scripts that are run by root and set $tree.
#
# Everything in a root runs in namespaces that end with the command: nothing stays mounted, and no process is
# left. The root is removed at the end, unless it is to be kept.

# The script that includes this one sets the path of the tree.
# shellcheck source=apt.sh disable=SC2154
. "$tree/tests/support/apt.sh"

# The directory; whether it stays; a directory that takes what is written, where the root itself shall stay
# as it is.
root='' kept=false layer=''
child=''

die()
{
        printf 'tests/%s: %s\n' "$(basename "$0")" "$1" >&2
        exit 1
}

heading()
{
        printf '\n=== %s\n' "$*"
}

# STATUS: of the script, unless the last command has it.
clean_up()
{
        local status=${1:-$?}
        trap '' INT TERM HUP
        if [[ -n $child ]]; then
                # The first process of the namespace: when unshare has waited for it, all others are gone.
                # shellcheck disable=SC2046
                kill -KILL $(cat "/proc/$child/task/$child/children" 2>/dev/null) 2>/dev/null || true
                wait "$child" || true
        fi
        if [[ -n $root ]] && ! $kept; then
                rm -rf --one-file-system "$root"
        fi
        exit $status
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command in mount and pid namespaces of its own, and waits. NETWORK: "host", or "own" with nothing
# but a loopback device, whose ports are all free.
apart()
{
        local network=$1 options=(--mount --pid --fork --kill-child --mount-proc)
        shift
        [[ $network == host ]] || options+=(--net)
        unshare "${options[@]}" "$@" </dev/null &
        child=$!
        local status=0
        wait "$child" || status=$?
        child=''
        return $status
}

# Begins a command of bash for in_root own, with the tree's Python: the loopback device is up.
# shellcheck disable=SC2034
readonly loopback_up='/tree/tests/python -c "
from tests.live import alone
alone.loopback_up()"'

# Runs a command in the root, where the tree is /tree, read-only. pivot_root, because a process in a chroot
# may not make user namespaces. Of the processes that lose their parent, bash is the new one, and collects
# them.
in_root()
{
        local network=$1
        shift
        # shellcheck disable=SC2016
        apart "$network" bash -euc '
                root=$1 tree=$2 layer=$3
                shift 3
                if [[ -n $layer ]]; then
                        mount -t overlay -o "lowerdir=$root,upperdir=$layer/upper,workdir=$layer/work" \
                                overlay "$layer/root"
                        root=$layer/root
                else
                        mount --bind "$root" "$root"
                fi
                cd "$root"
                mount -t proc proc proc
                # The settings of the machine are no part of the root. The last pid is of the namespace.
                mount --bind proc/sys proc/sys
                mount --bind proc/sys/kernel/ns_last_pid proc/sys/kernel/ns_last_pid
                mount -o remount,bind,ro proc/sys
                mount -t sysfs -o ro sysfs sys
                mount --rbind /dev dev
                mount -t tmpfs -o mode=1777 tmpfs dev/shm
                mount -t tmpfs -o mode=755 tmpfs run
                mount --bind "$tree" tree
                mount -o remount,bind,ro tree
                pivot_root . mnt
                umount -l mnt
                exec env -i HOME=/root LC_ALL=C.UTF-8 \
                        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
                        bash -c "\"\$@\"; exit \$?" bash "$@"
        ' bash "$root" "$tree" "$layer" "$@"
}

# What this machine has set for its own archives, as proxies, holds for the root too.
own_apt_settings()
{
        apt-config dump --format '%F "%v";%n' Acquire
}

# URI<TAB>KEYRING of the first archive of a whole release.
mirror()
{
        local suite
        suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
        { own_archive "$suite"; own_archive sid; own_archive unstable; } | sed -n 1p
}

make_root()
{
        local release=$1 archive uri keyring proxy='' options=(--variant=minbase)
        if ! command -v debootstrap >/dev/null; then
                DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends debootstrap ||
                        die 'no debootstrap, and apt cannot install it'
        fi
        archive=$(mirror)
        [[ -n $archive ]] || die 'no source in /etc/apt names an archive with main: where is a mirror?'
        uri=${archive%%$'\t'*} keyring=${archive#*$'\t'}
        [[ -z $keyring ]] || options+=(--keyring="$keyring")
        eval "$(apt-config shell proxy Acquire::http::Proxy)"
        [[ -z $proxy ]] || export http_proxy=$proxy
        apart host debootstrap "${options[@]}" "$release" "$root" "$uri" ||
                die "no root of $release could be made from $uri: is there a way to it?"
        { own_apt_settings; echo 'Acquire::Retries "5";'; } >"$root/etc/apt/apt.conf.d/50clrsym"
        # It is thrown away after a crash.
        echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/clrsym"
        # No package starts a service.
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod +x "$root/usr/sbin/policy-rc.d"
        mkdir "$root/tree"
        touch "$root/.clrsym-root"
}

# From now on what is written in the root is below DIR.
use_layer()
{
        layer=$1
        mkdir -p "$layer"/{upper,work,root}
}

# A package that is installed in the root cannot set the machine.
check_settings_kept()
{
        # shellcheck disable=SC2016
        in_root own bash -euc 'for file in fs/suid_dumpable kernel/core_pattern vm/swappiness net/ipv4/ip_forward; do
                        test -e "/proc/sys/$file"
                        test ! -w "/proc/sys/$file"
                done
                test -w /proc/sys/kernel/ns_last_pid' || die 'a process in the root can write /proc/sys'
}

# Makes the root, in DIR if that is given: then it stays, and is used again.
open_root()
{
        local release=$1 directory=$2
        [[ $EUID -eq 0 ]] || die 'must be run by root, which debootstrap needs'
        command -v apt-config >/dev/null || die 'this is no Debian'
        apart host true 2>/dev/null || die 'no namespaces here'
        if [[ -n $directory ]]; then
                root=$(realpath -m "$directory") kept=true
                [[ ! -e $root || -e $root/.clrsym-root || -z $(ls -A "$root") ]] ||
                        die "$root is no root that this script made"
                mkdir -p "$root"
        else
                root=$(mktemp -d "${TMPDIR:-/var/tmp}/clrsym-debian.XXXXXX")
                chmod 755 "$root"
        fi
        if [[ ! -e $root/.clrsym-root ]]; then
                heading "a root of $release"
                make_root "$release"
        fi
        check_settings_kept
}

# Waits until FILE exists; "": not at all. The script that started this one makes it, unless that has ended.
wait_until_wanted()
{
        local file=$1
        [[ -n $file ]] || return 0
        while [[ ! -e $file ]]; do
                kill -0 "$PPID" 2>/dev/null || die 'the process that started this is gone'
                sleep 1
        done
}
