# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What apt's own entries say of the archives that this machine uses. For scripts that need another suite of
# them: no script names a host.

# "URI<TAB>KEYRING" of the machine's own entries for a suite's main archive, in either of apt's forms, one
# a line; the keyring is empty where the entry names no file. EXCEPT is a file that is not read.
own_archive()
{
        local suite=$1 except=${2:-} file
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
                [[ -r $file ]] && awk -v suite="$suite" '
                        $1 == "deb" {
                                keyring = ""
                                if (match($0, /\[[^]]*\]/)) {
                                        options = substr($0, RSTART + 1, RLENGTH - 2)
                                        $0 = substr($0, 1, RSTART - 1) " " \
                                                substr($0, RSTART + RLENGTH)
                                        if (match(options, /signed-by=[^ ,]*/))
                                                keyring = substr(options, RSTART + 10,
                                                                 RLENGTH - 10)
                                }
                                if ($3 == suite && / main( |$)/)
                                        print $2 "\t" keyring
                        }' "$file"
        done
        for file in /etc/apt/sources.list.d/*.sources; do
                [[ -r $file && $file != "$except" ]] && awk -v suite="$suite" '
                        function flush() {
                                if (value["enabled"] !~ /^ *(no|false|0) *$/ &&
                                    value["types"] " " ~ / deb / &&
                                    value["suites"] " " ~ " " suite " " &&
                                    value["components"] " " ~ / main /) {
                                        split(value["uris"], uri, " ")
                                        keyring = value["signed-by"]
                                        gsub(/^ +| +$/, "", keyring)
                                        if (keyring !~ /^\/[^ ]*$/)
                                                keyring = ""
                                        print uri[1] "\t" keyring
                                }
                                split("", value)
                                field = ""
                        }
                        /^#/ { next }
                        /^[ \t]*$/ { flush(); next }
                        /^[ \t]/ { value[field] = value[field] " " $0; next }
                        {
                                field = tolower(substr($0, 1, index($0, ":") - 1))
                                value[field] = " " substr($0, index($0, ":") + 1)
                                gsub(/\t/, " ", value[field])
                        }
                        END { flush() }' "$file"
        done
        return 0
}
