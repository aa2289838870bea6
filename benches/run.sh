#!/usr/bin/env bash
# What recording costs, beside the least that timing can cost and beside other profilers; and whether the times are true.
#
#   benches/run.sh [OPTION]... [WORKLOAD]...
#
#   --rounds N        rounds in which every contender runs once (default 9; below 7 tells little)
#   --runs N          recorded runs of the truth bench (default 20)
#   --contender NAME  only this one; may be given several times. Ratios need `floor` and `uftrace` among them
#   --bench NAME      only this one of: speed threads child load truth paths; may be given several times
#   --quick           small programs only: nothing is fetched
#   --out FOLDER      where the results go (default: benches/results/DATE-PROCESSOR)
#   --list            the workloads and contenders there are
#
# README.md tells what they are. Tables go to stdout, everything else to stderr.
# shellcheck disable=SC2034,SC2154 # the parts share variables
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
for part in options machine tools contenders packages workloads speed postgres redis truth single paths; do
    # shellcheck source=/dev/null
    . "$benches/lib/$part.sh"
done

rounds=9 runs=20 quick='' results='' contenders=() workloads=() parts=()
all_parts=(speed threads child load truth paths)

read_options() {
    while (($#)); do
        case $1 in
        --rounds) rounds=$(number "$@"); shift ;;
        --runs) runs=$(number "$@"); shift ;;
        --contender) known contender "${2:-}" "${all_contenders[@]}"; contenders+=("$2"); shift ;;
        --bench) known bench "${2:-}" "${all_parts[@]}"; parts+=("$2"); shift ;;
        --quick) quick=1 ;;
        --out) results=${2:-}; [[ -n $results ]] || fail "--out needs a folder"; shift ;;
        --list) printf 'workloads   %s\ncontenders  %s\n' "${small_workloads[*]} ${real_workloads[*]}" "${all_contenders[*]}"; exit ;;
        -h | --help) sed -n '2,/^# shellcheck/{/^# shellcheck/d; s/^# \{0,1\}//; p}' "$0"; exit ;;
        -*) fail "there is no option $1; see --help" ;;
        *) known workload "$1" "${small_workloads[@]}" "${real_workloads[@]}"; workloads+=("$1") ;;
        esac
        shift
    done
    ((${#parts[@]})) || parts=("${all_parts[@]}")
    ((${#workloads[@]} == 0)) || return 0
    workloads=("${small_workloads[@]}")
    [[ -n $quick ]] || workloads+=("${real_workloads[@]}")
}

main() {
    local part tool
    read_options "$@"
    for tool in cc c++ cargo awk; do command -v "$tool" >/dev/null || fail "missing: $tool"; done
    make_work
    choose_results
    choose_cache
    describe_machine "$@" >"$results/machine.txt"
    build_tools
    choose_contenders
    for part in "${all_parts[@]}"; do
        ! is_one_of "$part" "${parts[@]}" || "bench_$part"
    done
    say "raw results and the machine's description are in $results; benches/summary.sh shows them again"
}

main "$@"
