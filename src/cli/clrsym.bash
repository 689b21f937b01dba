# SPDX-License-Identifier: MIT
# bash completion of clrsym: verbs and options are those that it shows itself.

# The verbs of clrsym, or of a verb that has its own.
_clrsym_verbs()
{
        "$@" --help 2>/dev/null | sed -nE 's/^  (-*[a-z]+)  .*/\1/p'
}

_clrsym_options()
{
        "$@" --help 2>/dev/null | sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p'
}

# The PIDs that `clrsym ps` knows.
_clrsym_pids()
{
        "$@" ps --json 2>/dev/null | sed -nE 's/^\{"pid":([0-9]+),.*/\1/p' | sort -u
}

# What can follow an option, one a line; false if anything can, or nothing is known.
_clrsym_values()
{
        local program=$1 option=$2 i
        local -a command=("$program")

        case $option in
        --tier)
                printf '%s\n' Unknown MinOptJitted Optimized QuickJitted OptimizedTier1 \
                        OptimizedTier1OSR InstrumentedTier InstrumentedTierOptimized ReadyToRun
                ;;
        --sort)
                printf '%s\n' jit size versions reuse loaded il-size
                ;;
        --flag)
                printf '%s\n' dynamic generic shared jitted helper profiler-rejected \
                        ready-to-run-rejected edited
                ;;
        --style)
                printf '%s\n' csharp clr short
                ;;
        --names)
                printf '%s\n' full short clr
                ;;
        --format)
                case ${COMP_WORDS[1]} in
                env) printf '%s\n' sh env systemd docker ;;
                *) printf '%s\n' text folded speedscope pprof otlp firefox svg html clrsym ;;
                esac
                ;;
        --stacks)
                printf '%s\n' logical physical
                ;;
        --walk)
                printf '%s\n' ptrace runtime
                ;;
        --sampler)
                printf '%s\n' perf runtime alloc contention exception
                ;;
        --rundown)
                printf '%s\n' always never auto
                ;;
        -g | --call-graph)
                printf '%s\n' both fp dwarf
                ;;
        --via)
                printf '%s\n' auto lttng eventpipe
                ;;
        --trace-format)
                printf '%s\n' ctf-1.8 ctf-2
                ;;
        --exclude)
                printf '%s\n' user: cgroup: command:
                ;;
        --user)
                compgen -u
                ;;
        -p | --pid)
                for ((i = 2; i < COMP_CWORD - 1; i++)); do
                        case ${COMP_WORDS[i]} in
                        # A trace would have to be read first.
                        --trace) return 1 ;;
                        --socket) command=(env CLRSYM_SOCKET="${COMP_WORDS[i + 1]}" "$program") ;;
                        esac
                done
                _clrsym_pids "${command[@]}"
                ;;
        *)
                return 1
                ;;
        esac
}

_clrsym()
{
        local program=$1 word=$2 previous=$3 words
        local -a verb=("${COMP_WORDS[1]}")

        COMPREPLY=()
        if [[ ${verb[0]} == session ]] && ((COMP_CWORD > 2)); then
                verb+=("${COMP_WORDS[2]}")
        fi
        if ((COMP_CWORD == 1)); then
                words="$(_clrsym_verbs "$program") --help"
        elif words=$(_clrsym_values "$program" "$previous"); then
                :
        elif [[ $previous == @(--trace|--socket|--ingest-socket|-i|--input|-o|--output|--relay-output) ||
                ($word != -* && ${COMP_WORDS[1]} == @(dump|feed|import|perf|report)) ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
        elif [[ $word == -* ]]; then
                words=$(_clrsym_options "$program" "${verb[@]}")
        elif [[ ${verb[*]} == stack ]]; then
                words="$(_clrsym_pids "$program") $(compgen -f -- "$word")"
        elif [[ ${verb[*]} == session ]]; then
                words=$(_clrsym_verbs "$program" session)
        elif [[ ${verb[*]} == help ]]; then
                words=$(_clrsym_verbs "$program")
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _clrsym clrsym
