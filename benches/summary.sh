#!/usr/bin/env bash
# Shows the tables of a run from its raw results.
#
#   benches/summary.sh [speed|threads|child|load|truth|paths] FOLDER [WORKLOAD]
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
tables=(speed threads child load truth paths)

if [[ " ${tables[*]} " == *" ${1:-} "* ]]; then tables=("$1"); shift; fi
if (($# < 1 || $# > 2)) || [[ $1 == -* || ! -d $1 ]]; then
    echo "usage: summary.sh [speed|threads|child|load|truth|paths] FOLDER [WORKLOAD]" >&2
    exit 2
fi
for table in "${tables[@]}"; do
    # A bench that was left out, or failed at once, has no line below its header.
    [[ $(sed -n '2{p;q}' "$1/$table.tsv" 2>/dev/null) ]] || continue
    awk -F'\t' -v only="${2:-}" -f "$benches/tables/statistics.awk" -f "$benches/tables/$table.awk" "$1/$table.tsv"
done
