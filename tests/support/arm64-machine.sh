# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A machine for arm64: qemu with a kernel of Debian and, in its memory, the programs that tests need. For
# tests/on-arm64, whose root has qemu and the tree's build; all of it is in /machine of that root.
#
# perf does not run under qemu-user. Nothing of the packages is configured: their files are enough.

# shellcheck disable=SC2034
readonly machine_tools=(qemu-system-arm cpio)
# The kernel with pages of 4 KiB, and that with pages of 16 KiB.
readonly machine_kernels=(linux-image-arm64 linux-image-arm64-16k)
readonly machine_packages=(
        linux-perf busybox-static base-files libglib2.0-0t64 libjansson4 zlib1g libzstd1 libcurl4t64 libsystemd0
        liblttng-ctl0t64 libstdc++6
)
# Seconds: ten times of what the tests take on an idle computer.
readonly machine_limit=6000

# Gets the packages with all that they depend on, as if nothing were installed.
machine_fetch()
{
        # shellcheck disable=SC2016
        in_root host bash -euc '
                mkdir -p /machine/packages/partial
                : >/machine/status
                apt-get -o Dir::State::status=/machine/status -o Dir::Cache::archives=/machine/packages \
                        -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
                        install -y -q --no-install-recommends --download-only "$@"
        ' bash "${machine_kernels[@]}" "${machine_packages[@]}"
}

# The files of the machine. The script that includes this one has a root. APP, a directory, becomes /app there.
machine_make()
{
        local app=$1
        # shellcheck disable=SC2154
        rm -rf "$root/machine/image" "$root/machine/kernels"
        mkdir -p "$root/machine/image/app"
        cp -r "$app/." "$root/machine/image/app"
        # shellcheck disable=SC2016
        in_root own bash -euc '
                cd /machine
                mkdir -p kernels image/{proc,sys,dev,tmp,run}
                for package in packages/*.deb; do
                        case ${package##*/} in
                        linux-image-[0-9]*) dpkg-deb --fsys-tarfile "$package" |
                                tar --extract --directory=kernels --strip-components=2 --wildcards "./boot/vmlinuz-*" ;;
                        # The systems that would start programs are not started themselves.
                        systemd_* | udev_* | initramfs-*) ;;
                        *) dpkg-deb --fsys-tarfile "$package" | tar --extract --directory=image \
                                --keep-directory-symlink --exclude="./usr/share/*" ;;
                        esac
                done
                for program in cli/clrsym daemon/clrsymd attach/clrsym-holder; do
                        mkdir -p "image/build/src/${program%/*}"
                        aarch64-linux-gnu-strip -o "image/build/src/$program" "/build/src/$program"
                done
                cp /tree/tests/support/arm64-init image/init
                cd image
                find . | cpio --create --format=newc --quiet >../memory
        '
}

# Runs the machine with the kernel VMLINUZ of /machine/kernels. What its /tmp/out has at its end is in OUT then.
machine_run()
{
        local vmlinuz=$1 out=$2
        # shellcheck disable=SC2016
        in_root own bash -euc '
                : >/machine/out.tar
                timeout "$2" qemu-system-aarch64 -M virt,gic-version=3 -cpu neoverse-n1 -smp 2 -accel tcg,thread=multi \
                        -m 3G -nodefaults -nographic -no-reboot -kernel "/machine/kernels/$1" -initrd /machine/memory \
                        -append "console=ttyAMA0 quiet panic=-1 rdinit=/init" -serial file:/machine/console \
                        -device virtio-serial-pci -chardev file,id=out,path=/machine/out.tar \
                        -device virtserialport,chardev=out
        ' bash "$vmlinuz" "$machine_limit" || true
        mkdir -p "$out"
        tar --extract --directory="$out" --file="$root/machine/out.tar" || {
                tail -n 40 "$root/machine/console" >&2
                return 1
        }
}
