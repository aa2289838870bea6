#!/usr/bin/env bash
# The tour's pictures, anew: PostgreSQL with its executor instrumented, recorded while it answers three
# questions, and every view of that, as terminals and browsers show it.
#
#   docs/tour/make.sh [FOLDER]     (default: ./diytrace-postgres, the folder of examples/postgres.sh, used again if it is there)
#
# Needs what examples/postgres.sh needs, and tmux, chromium, node 20 or later and npm, whose packages come from the registry.
# Terminal pictures are what a program wrote to a real terminal (tmux), drawn by xterm.js in Chromium.
set -euo pipefail

tour=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$tour/../../examples/postgres.sh"
fail() { printf 'make.sh: %s\n' "$*" >&2; exit 1; }

for program in tmux node npm; do
    command -v "$program" >/dev/null || fail "missing: $program; install it with: apt-get install tmux nodejs npm"
done
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    fail "missing: chromium; install it with: apt-get install chromium"
export CHROMIUM

prepare "${1:-diytrace-postgres}"
shots=$folder/tour
rm -rf "${shots:?}"/*.{ansi,svg,html} "$shots/diytrace.data"
mkdir -p "$shots"
export SHOTS=$shots PICTURES=$tour

heading "diytrace, and what makes pictures"
rm -rf "$folder/diytrace" # as it is now
cargo build --release --quiet --manifest-path "$repo/Cargo.toml"
find_diytrace
cp "$tour"/{package.json,pictures.mjs} "$shots"
(cd "$shots" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)

# ---- a recording ---------------------------------------------------------------------------------------------------

trap 'stop_server; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
trap 'exit 130' INT TERM HUP
choose_socket_folder
load_table
heading "Recording three questions"
fresh_folder "$shots/diytrace.data"
start_server "$diytrace" record --out "$shots/diytrace.data" --
questions=(-c "select count(*) over(order by a) from x"
           -c "select a % 1000, count(*), max(a) from x group by 1 order by 2"
           -c "select sum(c) from (select count(*) over(order by a) c from x) s")
sql "${questions[@]}" >/dev/null
stop_server

# ---- terminals -----------------------------------------------------------------------------------------------------

# terminal NAME COLUMNS ROWS COMMAND [SECONDS]: what a terminal of that size shows when the command has ended, or, if it
# does not end by itself, after some seconds.
terminal() {
    local name=$1 columns=$2 rows=$3 command=$4 seconds=${5:-} at="tmux -L tour-$$-$1" _
    # Nothing of this machine: an empty environment, and a prompt without names.
    $at -f /dev/null new-session -d -x "$columns" -y "$rows" \
        "cd '$shots' && exec env -i PATH='$folder/diytrace:/usr/bin:/bin' TERM=tmux-256color LANG=C.UTF-8 HOME=/nonexistent \
         DIYTRACE_CACHE=off PAGER=cat PS1='\$ ' bash --noprofile --norc"
    $at set -g status off
    sleep 0.5
    $at send-keys -l "$command"
    $at send-keys Enter
    if [[ -n $seconds ]]; then
        sleep "$seconds"
    else
        for _ in {1..600}; do # the prompt is back
            sleep 0.1
            if [[ $($at capture-pane -p | sed '/^$/d' | tail -n 1) == '$' ]]; then break; fi
        done
    fi
    # All cells, also empty ones, which may be marked; and the sources without the folder that they were built in.
    $at capture-pane -e -p -N | sed -E 's,(…)?/[^ ]*/source/src/,src/,' >"$shots/$name.$columns.ansi"
    $at kill-server
}

heading "Terminals"
terminal report 108 40 "diytrace report --limit 20"
terminal root 92 40 "diytrace report --root eval_windowaggregates"
terminal histogram 112 40 "diytrace report --columns calls,self,p50,p99 --histogram --limit 14"
terminal tree 100 60 "diytrace tree --root standard_ExecutorRun --min-percent 7"
terminal callers 92 40 "diytrace callers ExecInterpExpr --depth 2 --limit 14"
terminal annotate 112 70 "diytrace annotate eval_windowaggregates --context 1"

# A server with much to do, to look at while it does it.
fresh_folder "$shots/live.data"
start_server "$diytrace" record --out "$shots/live.data" --
(while sql "${questions[@]}" >/dev/null 2>&1; do :; done) &
asking=$!
sleep 2
terminal top 100 26 "diytrace top live.data --sort total" 4
kill "$asking"
stop_server

# ---- browsers ------------------------------------------------------------------------------------------------------

heading "Browsers"
(cd "$shots" && "$diytrace" export flamegraph --root standard_ExecutorRun -o flamegraph.svg && "$diytrace" export html -o page.html)
node "$shots/pictures.mjs"

heading "Pictures"
ls -l "$tour"/*.png
for picture in "$tour"/*.png; do
    (($(stat -c %s "$picture") < 150000)) || fail "$picture is too large for a page"
done
