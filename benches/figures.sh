#!/usr/bin/env bash
# The figures that the documents show, from the raw results that are kept. tests/docs holds the documents against it.
#
#   benches/figures.sh machine speed|again|trust|moved|busy|driven|scale|week|agents  what was measured, on what and when, in one sentence
#   benches/figures.sh speed WORKLOAD…                 tables
#   benches/figures.sh cost-again                      of another processor; x-floor-again WORKLOAD CONTENDER: a number of it
#   benches/figures.sh truth [CONTENDER]
#   benches/figures.sh cost|aa|aa-again|layout|layout-claims|planted|planted-small|refactored|spread|looks|compared-postgres|series|threads
#   benches/figures.sh calls WORKLOAD                  numbers, to stand in a sentence
#   benches/figures.sh ns|written|x-floor|x-empty|x-uftrace WORKLOAD CONTENDER
#   benches/figures.sh truth-runs|error|range|covered|stated-percent WORKLOAD CONTENDER
#   benches/figures.sh all-covered|all-disturbed
#   benches/figures.sh load|first-call CONTENDER
#   benches/figures.sh least|most TEST SHIFT           alarms of simulated series without drift
#   benches/figures.sh tested PROGRAM
#   benches/figures.sh busy runs|least|most|error     totals of one root on a busy machine
#   benches/figures.sh store|store-beside|store-coarser  both kinds of stores; warm, cold and by hand; of slices of an hour
#   benches/figures.sh scale                           a service under a thousand agents, and what that makes of ten thousand hosts
#   benches/figures.sh agents                          what an agent takes that follows many processes
#   benches/figures.sh week frames|hour|1|…|10        a service's memory in a simulated week of a hundred hosts, after its first hour and each tenth
#   benches/figures.sh driven max|http2|late|stall|workers|faults  what `load` does; max ratio: beside wrk, for a second of its processor
set -euo pipefail
export LC_ALL=C # the same figures everywhere: no decimal commas
benches=$(cd "$(dirname "$0")" && pwd)
kept=$benches/results/2026-11-23-amd-epyc # what the documents are about
trust=$benches/results/2026-11-20-amd-epyc # but for verdicts
moved=$benches/results/2026-11-24-intel-xeon # but for what was refactored, or is small,
stores=$benches/results/2026-11-25-amd-epyc # and stores
busy=$benches/results/2026-11-22-intel-xeon # and for these
again=$benches/results/2026-11-25-intel-xeon # what recording costs on another processor
driven=$benches/results/2026-11-24-amd-epyc # and for load
scaled=$benches/results/2026-11-26-amd-epyc # and for a service under many agents

usage() { sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//; p}' "$0" >&2; exit 2; }

# table NAME FILE [-v NAME=VALUE]…
table() {
    local name=$1 file=$2
    shift 2
    awk -F'\t' "$@" -f "$benches/tables/statistics.awk" -f "$benches/tables/$name.awk" "$kept/$file.tsv"
}
# The same of the comparisons' tables, which bring what they need.
verdicts() {
    local name=$1 file=$2
    shift 2
    awk -F'\t' "$@" -f "$benches/tables/$name.awk" "$trust/$file.tsv"
}
# stored [-v NAME=1] FILE…: of stores.
stored() {
    local files=() options=()
    [[ $1 != -v ]] || { options=("$1" "$2"); shift 2; }
    for file; do files+=("$stores/$file.tsv"); done
    awk -F'\t' "${options[@]}" -f "$benches/tables/store.awk" "${files[@]}"
}
without_first_line() { sed '1{/^$/d}'; }

# machine FILE: from the description that run.sh and trust.sh wrote, and the notes that were added to it.
machine() {
    awk '
        { key = $1; sub(/^[^ ]+ +/, "") }
        key == "date" { if (!dates++) first = $0; last = $0 }
        key == "commit" && !seen[$0]++ { commits = commits (commits ? ", " : "") $0 }
        key == "processor" { processor = $0 }
        key == "processors" { split($0, words, " "); processors = words[1] }
        key == "virtual" { is_virtual = /^yes/ }
        key == "load" { split($0, words, " "); loads = loads (loads ? ", " : "") words[1] }
        key == "kernel" { kernel = $0 }
        key == "cc" { cc = $NF }
        END {
            printf "%s, %d processors%s, %s, gcc %s; %s", processor, processors, is_virtual ? " of a virtual machine" : "", kernel, cc, first
            if (dates > 1) printf " to %s", last
            printf "; commit %s; load average %s\n", commits, loads
        }' "$kept/$1.txt"
}

what=${1:-}
(($# == 0)) || shift
case $what:$# in
machine:1) case $1 in busy) kept=$busy machine busy-machine ;; driven) kept=$driven machine load-machine ;; speed) machine machine ;; again) kept=$again machine machine ;; scale) kept=$scaled machine service-machine ;; week) kept=$scaled machine service-week-machine ;; agents) kept=$scaled machine service-agent-machine ;; trust) kept=$trust machine trust-machine ;; moved) kept=$moved machine trust-machine ;; *) usage ;; esac ;;
speed:[1-9]) for workload; do table speed speed -v brief=1 -v only="$workload"; done | without_first_line ;;
cost:0) table speed speed -v summary=1 ;;
cost-again:0) kept=$again table speed speed -v summary=1 ;;
x-floor-again:2) kept=$again table speed speed -v figure=x-floor -v only="$1" -v of_contender="$2" ;;
truth:0) table truth truth -v brief=1 ;;
truth:1) table truth truth -v brief=1 -v of_contender="$1" ;;
aa:0) verdicts aa trust-aa ;;
layout:0) verdicts aa trust-layout -v title=layout -v key=layout ;;
layout-claims:0) verdicts layout trust-layout-claims ;;
planted:0) verdicts planted trust-planted ;;
aa-again:0) trust=$moved verdicts aa trust-aa ;;
planted-small:0) trust=$moved verdicts planted trust-planted ;;
refactored:0) trust=$moved verdicts refactored trust-refactored ;;
spread:0) trust=$moved verdicts spread trust-spread ;;
looks:0) trust=$moved verdicts looks trust-looks ;;
compared-postgres:0) trust=$moved verdicts postgres trust-postgres ;;
series:0) verdicts series trust-series ;;
threads:0) table threads threads | without_first_line ;;
calls:1) table speed speed -v figure=calls -v only="$1" ;;
ns:2 | written:2 | x-floor:2 | x-empty:2 | x-uftrace:2) table speed speed -v figure="$what" -v only="$1" -v of_contender="$2" ;;
error:2 | range:2 | covered:2 | stated-percent:2) table truth truth -v figure="$what" -v only="$1" -v of_contender="$2" ;;
truth-runs:2) table truth truth -v figure=runs -v only="$1" -v of_contender="$2" ;;
all-covered:0 | all-disturbed:0) table truth truth -v figure="$what" ;;
load:1) printf '%s ms\n' "$(table load load -v of_contender="$1")" ;;
first-call:1) table child child -v of_contender="$1" | sed 's/ us$/ µs/' ;;
least:2 | most:2) verdicts series trust-series -v figure="$what" -v test="$1" -v shift="$2" ;;
driven:1) kept=$driven table driven "load-$1" -v kind="$1" ;;
driven:2) kept=$driven table driven "load-$1" -v kind="$1" -v figure="$2" ;;
store:0) stored store-put store-ask store-clickhouse-put store-clickhouse-ask store-clickhouse-300m-put store-clickhouse-300m-ask ;;
store-beside:0) stored -v beside=1 store{,-clickhouse,-clickhouse-300m}-{ask,cold,by-hand} ;;
store-coarser:0) stored -v coarser=1 store-ask store-coarser ;;
week:1)
    awk -F'\t' -v part="$1" '$1 == "rss_mb" && $2 == part { print $3 " MB" } part == "frames" && $1 == "frames" && $2 == 10 { print $3 }' \
        "$scaled/service-week.tsv" ;;
agents:0) awk -F'\t' -f "$benches/tables/agents.awk" "$scaled"/service-agent{,-200}.tsv ;;
scale:0) awk -F'\t' -f "$benches/tables/scale.awk" "$scaled/service-scale.tsv" "$stores/store-clickhouse-300m-put.tsv" ;;
busy:1) kept=$busy table busy busy -v figure="$1" ;;
tested:1) verdicts tested trust-aa -v program="$1" ;;
*) usage ;;
esac
