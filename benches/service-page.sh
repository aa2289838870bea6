#!/usr/bin/env bash
# How quick the service's page is in Chromium: what its scripts weigh, when each view is there, a step of zooming its flame graph, frames a
# second while 20,000 functions are scrolled, what the browser takes while an agent sends four times a second, and how soon it shows a program
# that starts, and moves.
#
#   benches/service-page.sh [--out FOLDER] [--live SECONDS]
#
# The store has `functions`, 20,000 of them, each called by one other; `cold-tree` with 87,000 paths through 406 functions; six recordings of each
# of two commits; and sampled profiles of both. The table of tests/browser/service_speed.mjs, which says what its columns are, with that of moves.mjs, goes to stdout, and
# with --out to service-page.tsv and service-page-machine.txt there. It needs what benches/page.sh needs.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
repo=$(dirname "$benches")
results='' live=30
while (($#)); do
    case $1 in
        --out) results=$2; shift 2 ;;
        --live) live=$2; shift 2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
done
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM
diytrace=$repo/target/release/diytrace
work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-service-page.XXXXXX")
started=()
trap '((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
from=$PWD
. "$benches/lib/programs.sh"
cp "$repo"/tests/browser/{package.json,common.mjs,moves.mjs,service_speed.mjs,timing.mjs} "$work"
cd "$work"
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts

cold_tree >cold-tree.c
functions 20000 >functions.c
cp "$repo"/c-fixtures/{changes,endless}.c .
cc -g -O1 -fno-inline -finstrument-functions cold-tree.c -o cold-tree
cc -g -O1 -fno-inline -finstrument-functions functions.c -o functions
cc -g -finstrument-functions changes.c -o changes
cc -g -finstrument-functions -pthread endless.c -o endless
record() { # folder, words
    "$diytrace" record --out "$1" "${@:2}" >record.log 2>&1 || { cat record.log >&2; exit 1; }
}
push() { "$diytrace" push --store store.db "$@" 2>>push.log || { cat push.log >&2; exit 1; }; }
record cold-tree.data ./cold-tree 20000
record functions.data ./functions 20000
push cold-tree.data
push functions.data
"$diytrace" export pprof functions.data -o functions.pb.gz
for commit in a b; do
    for run in 1 2 3 4 5 6; do
        record "changes-$commit$run.data" ./changes 1000
        push --label "commit=$commit" "changes-$commit$run.data"
        "$diytrace" export pprof "changes-$commit$run.data" -o "changes-$commit$run.pb.gz"
        push --label "commit=$commit" "changes-$commit$run.pb.gz"
    done
done

"$diytrace" serve --store store.db --listen 127.0.0.1:0 2>serve.log &
started+=($!)
until SERVICE=$(sed -n "s/.*listening on //p" serve.log 2>/dev/null | head -n 1) && [[ -n $SERVICE ]]; do sleep 0.1; done
export SERVICE
"$diytrace" agent --to "$SERVICE" --every 250ms --dir live.data --spool spool 2>agent.log &
started+=($!)
# It runs as long as it is watched.
"$diytrace" record --out live.data ./changes 2000000000 >record.log 2>&1 &
started+=($!)
until curl -sf "$SERVICE/v1/series?select=service=changes" | grep -q '"sampled"'; do sleep 0.2; done
node service_speed.mjs "$live" services=/ explore='/explore?select=service%3Dchanges,commit%3Da' many='/explore?select=service%3Dfunctions' \
    functions='/explore?select=service%3Dfunctions&all=1' \
    flame='/explore?select=service%3Dcold-tree&view=flame' function='/explore?select=service%3Dchanges,commit%3Da&function=lookup' \
    compare='/compare?left=commit%3Da&right=commit%3Db' history='/history?select=service%3Dchanges&over=commit&function=lookup' regressions='/history?select=commit%3D*&over=commit' \
    verdicts=/verdicts samples='/samples?type=time' sampled-compare='/compare?left=commit%3Da&right=commit%3Db&type=time' \
    live='/explore?select=service%3Dchanges&since=5m' | tee service-page.tsv

# A store and a service of its own, in which nothing has run.
mkdir moves
"$diytrace" serve --store moves/store.db --listen 127.0.0.1:0 2>moves.log &
started+=($!)
until SERVICE=$(sed -n "s/.*listening on //p" moves.log 2>/dev/null | head -n 1) && [[ -n $SERVICE ]]; do sleep 0.1; done
"$diytrace" agent --to "$SERVICE" --every 250ms --dir moves/out --spool moves/spool 2>moves-agent.log &
started+=($!)
node moves.mjs "$repo/target/release/libdiytrace.so" "$work/endless" "$work/moves" 20 | tee -a service-page.tsv
if [[ -n $results ]]; then
    cd "$from"
    mkdir -p "$results"
    cp "$work/service-page.tsv" "$results/service-page.tsv"
    browser_machine >"$results/service-page-machine.txt"
fi
