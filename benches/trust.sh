#!/usr/bin/env bash
# Can a verdict be trusted? Comparisons where the truth is known: how often `diytrace bench` calls something changed that
# is not, and how often it finds what is.
#
#   benches/trust.sh [OPTION]... [PROGRAM]...
#
#   --comparisons N     of each program with itself (default 200)
#   --planted N         comparisons of each planted change (default 20)
#   --change NAME       only this planted change; may be given several times
#   --runs N            runs of each side (default: what `diytrace bench` makes of its own accord, 10 to 20)
#   --layouts N         comparisons of one source in two layouts (default 20)
#   --refactored N      comparisons of refactorings, each another (default 50)
#   --bench NAME        only this one of: aa layout planted others refactored series looks steps; may be given several times
#   --out FOLDER        where the results go (default: benches/results/DATE-PROCESSOR)
#   --add               add to the comparisons that are there, as after an interruption
#   --launcher COMMAND  begins each measured command: 'chrt -f 1' keeps others off a busy machine's processor
#   --list              the programs and planted changes there are
#
# README.md tells what they are. Each comparison is written when it is done. Tables go to stdout, everything else to
# stderr; trust.sh --tables FOLDER shows those of an earlier run again.
# shellcheck disable=SC2034,SC2154 # the parts share variables
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
for part in options machine tools contenders packages workloads postgres comparison aa planted others layout refactored series looks steps; do
    # shellcheck source=/dev/null
    . "$benches/lib/$part.sh"
done

comparisons=200 planted=20 layouts=20 refactored=50 runs='' results='' add='' prefix='' programs=() changes=() parts=()
all_parts=(aa layout planted others refactored series looks steps)

read_options() {
    while (($#)); do
        case $1 in
        --comparisons) comparisons=$(number "$@"); shift ;;
        --planted) planted=$(number "$@"); shift ;;
        --layouts) layouts=$(number "$@"); shift ;;
        --refactored) refactored=$(number "$@"); shift ;;
        --runs) runs=$(number "$@"); shift ;;
        --bench) known bench "${2:-}" "${all_parts[@]}"; parts+=("$2"); shift ;;
        --change) known change "${2:-}" "${all_planted[@]}"; changes+=("$2"); shift ;;
        --out) results=${2:-}; [[ -n $results ]] || fail "--out needs a folder"; shift ;;
        --add) add=1 ;;
        --launcher) prefix=${2:-}; shift ;;
        --list) printf 'programs  %s\nplanted   %s\n' "${all_programs[*]}" "${all_planted[*]}"; exit ;;
        --tables) results=${2:-}; [[ -d $results ]] || fail "--tables needs a folder of results"; show_tables; exit ;;
        -h | --help) sed -n '2,/^# shellcheck/{/^# shellcheck/d; s/^# \{0,1\}//; p}' "$0"; exit ;;
        -*) fail "there is no option $1; see --help" ;;
        *) known program "$1" "${all_programs[@]}"; programs+=("$1") ;;
        esac
        shift
    done
    ((${#parts[@]})) || parts=("${all_parts[@]}")
    ((${#changes[@]})) || changes=("${all_planted[@]}")
    ((${#programs[@]})) || programs=("${all_programs[@]}")
}

show_tables() {
    local part
    for part in "${all_parts[@]}"; do
        [[ ! -e $results/trust-$part.tsv ]] || "show_$part"
    done
}

main() {
    local part tool
    read_options "$@"
    for tool in cc make cargo awk; do command -v "$tool" >/dev/null || fail "missing: $tool"; done
    make_work
    choose_results
    choose_cache
    describe_machine "$@" >>"$results/trust-machine.txt"
    build_tools
    contenders=(recorded)
    for part in "${all_parts[@]}"; do
        ! is_one_of "$part" "${parts[@]}" || "bench_$part"
    done
    say "raw results and the machine's description are in $results"
}

main "$@"
