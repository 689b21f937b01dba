# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Packages, tried in a root of debian-root.sh. For scripts that set $tree, and that begin with open_work.

# shellcheck source=debian-root.sh disable=SC2154
. "$tree/tests/support/debian-root.sh"

# A directory for layers and logs; removed at the end.
work=''

open_work()
{
        work=$root.layers
        rm -rf --one-file-system "$work"
        mkdir "$work"
}

remove_work()
{
        local status=$?
        [[ -z $work ]] || rm -rf --one-file-system "$work"
        clean_up "$status"
}
trap remove_work EXIT

apt_get()
{
        in_root host sh -euc 'export DEBIAN_FRONTEND=noninteractive
                exec apt-get -y -q --no-install-recommends "$@"' sh "$@" >"$work/apt.log" 2>&1 ||
                { tail -n 40 "$work/apt.log"; die "apt-get $1 fails"; }
}

# The files of the source as `git` has it, with those that are not committed, without deleted ones; each ends with 0.
source_files()
{
        git -C "$tree" ls-files -z --cached --others --exclude-standard |
                (cd "$tree" && xargs -0 ls -d --zero 2>/dev/null || true)
}

# The tests of debian/tests, with the installed packages. COMMAND is put before each.
try_packages()
{
        local name
        for name in "$tree"/debian/tests/*; do
                if [[ -x $name ]]; then
                        heading "debian/tests/$(basename "$name")"
                        in_root own "$@" sh -euc 'cd /tree && exec "$1"' sh "debian/tests/$(basename "$name")"
                fi
        done
}

# A .NET program, recorded to a picture by the installed packages, as a new user does. No release of Debian has .NET, so
# runtime and program are copies of this machine's.
record_dotnet()
{
        local from to=$layer/upper/opt/dotnet
        heading 'a .NET program, recorded to a picture'
        if ! command -v dotnet >/dev/null; then
                echo 'no dotnet here: left out'
                [[ -z ${CI:-} ]] || die 'no dotnet here'
                return
        fi
        from=$(dirname "$(realpath "$(command -v dotnet)")")
        mkdir -p "$to/shared"
        cp -a "$from/dotnet" "$from/host" "$to"
        cp -a "$from/shared/Microsoft.NETCore.App" "$to/shared"
        "$tree/tests/live/build-app" "$work/program" plain
        cp -a "$work/program/bin" "$to/program"
        # Each stack of its main thread has the method Burst.
        # shellcheck disable=SC2016
        in_root own bash -euc '
                cd "$(mktemp -d)"
                export PATH=$PATH:/opt/dotnet DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
                clrsym record -o picture.svg -o picture.folded -- dotnet /opt/dotnet/program/clrsym-plain.dll \
                        < <(yes | head -n 300) >program.log || { tail program.log; exit 1; }
                awk "{ all += \$NF } /Plain\.Program\.Burst/ { named += \$NF } END {
                        print named + 0 \" of \" all + 0 \" samples are in Burst\"; exit !named }" picture.folded
                grep -q "Plain\.Program\.Burst" picture.svg
                ls -l picture.svg' || die 'no picture of a .NET program'
}
